"""Lists and limits that Python and the C library share, and the C header made of them.

hatch_build.py runs this file before the package is installed, so it imports only the standard library.
"""

from collections.abc import Iterable
from html.entities import html5, name2codepoint
from typing import NamedTuple

# Limits

MAX_URL_LENGTH = 2083  # characters of the request URL; limit of Internet Explorer
MAX_ANCHOR = 200  # characters of an anchor text
MAX_NOTICE_LENGTH = 4000  # characters of a page that may be an error notice
MAX_SCRIPT_LENGTH = 200_000  # characters hashed of one inline script
MAX_IDENTIFIER_CODE_SIZE = 4_000  # in bytes; of longer code only the punctuation is hashed, not identifiers
NAMESPACE_SEARCH_BYTES = 2048  # the XHTML namespace must be within these bytes

# MinHash sketches (fingerprint/minhash.py)

BINS = 256  # one bit of the sketch each
SHINGLE_WORDS = 5
GOLDEN_RATIO = 0x9E3779B97F4A7C15
MAX_REHASHES = 1 << 16  # after which bins stay empty; filling all bins takes about 256 ln 256 = 1,420 hashes
MAX_DISTINCT_SHINGLES = 4096  # hashed again; a longer text has a shingle in every bin

# Words

XHTML_NAMESPACE = b"http://www.w3.org/1999/xhtml"
DATA_SCRIPT_TYPES = ("application/json", "application/ld+json", "text/json", "importmap", "speculationrules")
IMAGE_ID_PARAMETERS = ("id=", "file=", "src=", "url=", "img=", "image=", "photo=", "picture=", "pic=", "path=")
IGNORED_META_NAMES = ("viewport", "generator")  # skipped; a crawler with such a user agent needs a tree

# Characters

CODE_PUNCTUATION = bytes(
    set(range(33, 127)) - set(b"+/=-_%") - set(range(48, 58)) - set(range(65, 91)) - set(range(97, 123))
)
NUMBER_CHARACTERS = b"0123456789. \t\r\n\f"  # numbers and white space in code
INVISIBLE_CHARS = "\u00a0\u200b"  # each costs a search; the others rarely change

# Tags

HEADING_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")
VOID_TAGS = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "meta", "param", "source"),
        *("track", "wbr"),
    )
)
RAW_TEXT_TAGS = frozenset(("script", "style", "title", "textarea", "iframe", "noframes", "noembed", "xmp"))
"""Elements whose content is not markup in HTML; they end at their end tag."""
BLOCK_TAGS = (
    *("body", "main", "article", "section", "div", "nav", "header", "footer", "aside", "form", "fieldset"),
    *("table", "ul", "ol", "dl", "pre", "blockquote", "figure", "svg", "iframe", "hr", *HEADING_TAGS),
)
PARAGRAPH_END_TAGS = (
    *("address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div", "dl", "fieldset"),
    *("figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "main", "menu", "nav", "ol", "p", "pre"),
    *("search", "section", "summary", "ul"),
)
TABLE_PARTS = ("col", "colgroup", "table", "tbody", "tfoot", "thead", "tr")
TABLE_CELLS = ("caption", "td", "th")
LINE_BREAK_TAGS = frozenset((*PARAGRAPH_END_TAGS, *HEADING_TAGS, *TABLE_PARTS, *TABLE_CELLS, "br", "li", "dd", "dt"))
SVG_TAGS = (
    *("circle", "clippath", "defs", "desc", "ellipse", "feblend", "fecolormatrix", "fecomposite", "feflood", "filter"),
    *("fegaussianblur", "femerge", "femergenode", "feoffset", "g", "line", "lineargradient", "mask", "path", "pattern"),
    *("polygon", "polyline", "radialgradient", "rect", "stop", "symbol", "text", "tspan", "use"),
)
UNSUPPORTED_TAGS = (
    *("applet", "basefont", "bgsound", "command", "frame", "frameset", "image", "isindex", "listing", "marquee"),
    *("math", "noembed", "nobr", "noframes", "plaintext", "template", "xmp"),
)
TAG_KINDS = {  # a bit of each kind in C
    "VOID": VOID_TAGS,
    "BLOCK": BLOCK_TAGS,
    # stays open until its end tag, which also closes the elements in it
    "CONTAINER": (*(set(PARAGRAPH_END_TAGS) - {"p", "hr", "form"}), "object", "button"),
    "ENDS_P": PARAGRAPH_END_TAGS,
    "METADATA": ("area", "base", "iframe", "link", "meta", "title"),  # part of the metadata or a link
    "HEADING": HEADING_TAGS,  # any heading end tag closes it
    # end tags inside do not close elements outside
    "SCOPE_BOUNDARY": ("caption", "html", "object", "svg", "table", "td", "th"),
    "TABLE_PART": TABLE_PARTS,  # without text
    "TABLE_CELL": TABLE_CELLS,  # with text
    "SVG_ELEMENT": SVG_TAGS,
    "NEEDS_PARSER": UNSUPPORTED_TAGS,
    "HEAD_ELEMENT": ("base", "link", "meta", "script", "style", "title"),  # allowed in the head
    "CLOSED_BY_SIBLING": ("optgroup", "option", "rb", "rp", "rt", "rtc"),  # closed by an element of its kind
    "LINE_BREAKING": LINE_BREAK_TAGS,
    "RAW_TEXT": (*RAW_TEXT_TAGS, "plaintext"),
}
OTHER_TAGS = ("a", "dd", "dt", "head", "li", "noscript", "ruby", "select", "textarea")

# Attributes

FINGERPRINTED_ATTRIBUTES = {  # can affect a fingerprint on some tag, besides event handlers; roles in stable_hash.c
    **dict.fromkeys(("class", "style", "role", "hidden"), "STYLING"),
    **dict.fromkeys(("srcset", "alt", "width", "height", "poster", "method", "name", "placeholder"), "VISIBLE"),
    **dict.fromkeys(("checked", "selected", "bgcolor", "background", "color", "face", "size", "border"), "VISIBLE"),
    **dict.fromkeys(("code", "data", "data-src", "data-original", "data-lazy-src", "data-srcset"), "VISIBLE"),
    **dict.fromkeys(("d", "xlink:href"), "VISIBLE"),
    **dict.fromkeys(("aria-controls", "aria-expanded"), "PRESENCE"),
    **{name: name.upper() for name in ("id", "href", "src", "action", "type", "rel", "value")},
    "title": "TOOLTIP",
}
PARSER_ATTRIBUTES = {  # can affect how a page is decoded or parsed
    **dict.fromkeys(("encoding", "xmlns"), "VISIBLE"),
    **dict.fromkeys(("charset", "http-equiv"), "CHARSET"),
    "content": "CONTENT",
}


class ScannedElement(NamedTuple):
    """An element with metadata or a link; missing attributes are empty."""

    tag: str
    is_in_noscript: str  # "1" inside <noscript>, else ""
    text: str
    href: str
    rel: str
    type: str
    hreflang: str
    media: str
    name: str
    content: str
    http_equiv: str
    src: str
    alt: str

    def attr(self, name: str) -> str:
        return self[_FIELD_INDEXES[name]]


_FIELD_INDEXES = {name.replace("_", "-"): place for place, name in enumerate(ScannedElement._fields)}
METADATA_ATTRIBUTES = ScannedElement._fields[3:]


# The C header

NUMBERS = (
    *("MAX_URL_LENGTH", "MAX_ANCHOR", "MAX_NOTICE_LENGTH", "MAX_SCRIPT_LENGTH", "MAX_IDENTIFIER_CODE_SIZE"),
    *("NAMESPACE_SEARCH_BYTES", "BINS", "SHINGLE_WORDS", "MAX_REHASHES", "MAX_DISTINCT_SHINGLES"),
)
BYTE_STRINGS = ("XHTML_NAMESPACE", "CODE_PUNCTUATION", "NUMBER_CHARACTERS")
STRING_LISTS = ("DATA_SCRIPT_TYPES", "IMAGE_ID_PARAMETERS", "IGNORED_META_NAMES")


def render_header() -> str:
    """Return `tables.h`: each list is a macro, so that it can initialize an array or be expanded by another macro."""
    values = globals()
    lines = ["/* Generated by html/native_tables.py. */", "#ifndef SANDERLING_TABLES_H", "#define SANDERLING_TABLES_H"]
    lines += [f"#define {name} {values[name]}" for name in NUMBERS]
    lines += [f"#define {name} {_quote(values[name])}" for name in BYTE_STRINGS]
    lines += [f"#define {name} {_join(_quote(one.encode()) for one in values[name])}" for name in STRING_LISTS]
    lines += [
        f"#define GOLDEN_RATIO UINT64_C({GOLDEN_RATIO})",
        f"#define INVISIBLE_SEQUENCES {_join(_quote(char.encode()) for char in INVISIBLE_CHARS)}",
        f"enum {{ {_join(f'{kind} = {1 << bit}' for bit, kind in enumerate(TAG_KINDS))} }};",
        f"#define TAGS(X) {' '.join(_render_tags())}",
        f"#define ATTRIBUTES(X) {' '.join(_render_scanned_attributes())}",
        f"#define METADATA_ATTRIBUTES {len(METADATA_ATTRIBUTES)}",
        f"#define ATTRIBUTE_ROLES {_join(_render_attribute_roles())}",
        f"#define CHARACTER_REFERENCES {_join(_render_character_references())}",
        f"#define WINDOWS_1252 {_join(map(str, _list_windows_1252()))}",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _join(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _quote(data: bytes) -> str:
    """Return a C string; bytes other than letters and digits are octal, which ends after three digits."""
    return '"' + "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\{byte:03o}" for byte in data) + '"'


def _render_tags() -> Iterable[str]:
    for tag in sorted({*OTHER_TAGS, *(tag for tags in TAG_KINDS.values() for tag in tags)}):
        yield f"X({tag}, {' | '.join(kind for kind, tags in TAG_KINDS.items() if tag in tags) or '0'})"


def _render_scanned_attributes() -> Iterable[str]:
    return (f'X({name}, "{name.replace("_", "-")}")' for name in (*METADATA_ATTRIBUTES, "class", "lang"))


def _render_attribute_roles() -> Iterable[str]:
    return (f'{{"{name}", {role}}}' for name, role in (FINGERPRINTED_ATTRIBUTES | PARSER_ATTRIBUTES).items())


def _render_character_references() -> Iterable[str]:
    """List the names of HTML 4, and those that need no semicolon: the 2,000 others are rare and need the parser."""
    legacy = {name for name in html5 if not name.endswith(";")}
    for name in sorted(legacy | name2codepoint.keys() | {"apos", "lsqb", "rsqb"}):
        yield f'{{"{name}", {ord(html5[f"{name};"])}, {int(name in legacy)}}}'


def _list_windows_1252() -> list[int]:
    """List the characters of the numbers 128 to 159 (WHATWG)."""
    return [ord(bytes([number]).decode("cp1252", "ignore") or chr(number)) for number in range(128, 160)]

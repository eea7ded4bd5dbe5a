"""The skeleton of a page: its opening tags in order with their depth, and the fingerprints of IPC section 4.1.2."""

import zlib
from collections import Counter
from itertools import compress, islice
from operator import attrgetter, not_

from msgspec import Struct
from turbohtml import Node
from xxhash import xxh3_64_intdigest

from sanderling.html.parser import Document, Element

MAX_TAGS = 50_000  # of one page; the rest is not looked at
MAX_DEPTH = 255
KNOWN_TAGS = (
    *(
        "html",
        "head",
        "body",
        "div",
        "p",
        "a",
        "span",
        "ul",
        "ol",
        "li",
        "table",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "td",
    ),
    *("th", "caption", "colgroup", "col", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "aside", "nav"),
    *(
        "header",
        "footer",
        "main",
        "hgroup",
        "search",
        "address",
        "blockquote",
        "dd",
        "dl",
        "dt",
        "figure",
        "figcaption",
    ),
    *(
        "hr",
        "menu",
        "pre",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "br",
        "cite",
        "code",
        "data",
        "dfn",
        "em",
        "i",
        "kbd",
        "mark",
        "q",
    ),
    *("rp", "rt", "ruby", "s", "samp", "small", "strong", "sub", "sup", "time", "u", "var", "wbr", "area", "audio"),
    *("img", "map", "track", "video", "embed", "iframe", "object", "picture", "source", "svg", "math", "canvas"),
    *("noscript", "script", "style", "link", "meta", "base", "title", "template", "slot", "del", "ins", "button"),
    *("datalist", "fieldset", "form", "input", "label", "legend", "meter", "optgroup", "option", "output", "progress"),
    *("select", "textarea", "details", "dialog", "summary", "center", "font", "big", "tt", "strike", "acronym"),
    *("frame", "frameset", "nobr", "basefont", "blink", "path", "g", "use", "rect", "circle", "line", "polygon"),
)  # their order is part of what is stored
COSMETIC_TAGS = frozenset(
    (
        *("abbr", "acronym", "b", "basefont", "big", "blink", "br", "center", "cite", "code", "dfn", "em", "font"),
        *("hr", "i", "kbd", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup"),
        *("tt", "u", "var", "wbr"),
    )
)  # tags that only change looks
INVISIBLE_TAGS = frozenset(("link", "meta", "noscript", "script", "style", "template", "title", "base"))
SKIPPED_TAGS = COSMETIC_TAGS | INVISIBLE_TAGS
SORTED_COSMETIC_TAGS = sorted(COSMETIC_TAGS)
OUTLINE_TAGS = tuple(tag for tag in KNOWN_TAGS if tag not in SKIPPED_TAGS)
UNINDEXED_TAGS = frozenset(("acronym", "blink"))  # for which the parser goes through the whole page
UNKNOWN_TAG_CODE = 255  # the code of a tag that HTML does not know
MAX_UNCOMPRESSED_SIZE = 4_096  # bytes of a skeleton that is not worth compressing
GET_TAG, GET_PARENT = attrgetter("tag"), attrgetter("parent")
UNCOMPRESSED, COMPRESSED = b"\0", b"\1"


class TagOutline(Struct, frozen=True, array_like=True):
    """The document tree without its text: opening tags in document order, and how deep each stands (the root at 1)."""

    tags: list[str]
    depths: bytes


class TagFingerprint(Struct, frozen=True, array_like=True):
    """First letters, last letters and, since title and table share both, a hash of all opening tags."""

    first_letters: str
    last_letters: str
    tags_hash: int


def build_outline(tree: Document, elements: list[Element], skipped_tags: frozenset[str] = frozenset()) -> TagOutline:
    """Take the skeleton of a page from its elements in document order; tags left out hand what is inside them up."""
    above: list[object] = [
        tree,
        *[None] * (len(elements) + 1),
    ]  # what the last element stands in, with itself, by depth
    depths, depth, last = [], 0, None
    for element, parent in zip(elements, map(GET_PARENT, elements), strict=True):
        if parent is above[depth]:
            depth += 1
        elif parent is not last:  # most of all others follow one beside them
            depth = (
                _find_depth(above, depth, parent) + 1 or _find_ancestor_depth(above, depth, parent, skipped_tags) + 1
            )
        above[depth] = element
        last = parent
        depths.append(depth)
    if len(depths) and max(depths) > MAX_DEPTH:
        depths = [min(depth, MAX_DEPTH) for depth in depths]
    return TagOutline(list(map(GET_TAG, elements)), bytes(depths))


def _find_depth(open_elements: list[object], depth: int, parent: object) -> int:
    """Say how deep something stands, going up; -1 if it is not there."""
    while depth >= 0 and open_elements[depth] is not parent:
        depth -= 1
    return depth


def _find_ancestor_depth(
    open_elements: list[object], depth: int, parent: Node | None, skipped_tags: frozenset[str]
) -> int:
    """Say how deep that stands which an element hangs on, tags left out being passed by."""
    while isinstance(parent, Element) and parent.tag in skipped_tags:
        parent = parent.parent
    found = _find_depth(open_elements, depth, parent)
    if found < 0:  # inside a template: its content hangs on nothing that was seen
        open_elements[1] = parent
        return 1
    return found


def build_pruned_outline(tree: Document) -> tuple[TagOutline, list[int]]:
    """Take the skeleton without tags that only change looks or are never seen; and count those that change looks."""
    left = {tag: len(tree.find_all(tag)) for tag in SKIPPED_TAGS - UNINDEXED_TAGS}  # the parser finds most tags at once
    left |= dict.fromkeys(UNINDEXED_TAGS, 0) | Counter(
        map(GET_TAG, tree.iter_elements(UNINDEXED_TAGS))
    )  # and the others together
    elements = list(islice(tree.iter_elements(OUTLINE_TAGS), MAX_TAGS))
    if len(elements) + sum(left.values()) != tree.xpath("count(//*)"):  # there are tags that HTML does not know
        every = list(islice(tree.iter_elements(), MAX_TAGS))
        elements = list(compress(every, map(not_, map(SKIPPED_TAGS.__contains__, map(GET_TAG, every)))))
    return build_outline(tree, elements, SKIPPED_TAGS), [left[tag] for tag in SORTED_COSMETIC_TAGS]


def fingerprint_tags(tags: list[str]) -> TagFingerprint:
    """Reduce a sequence of tags to its letters (SPEC 7.2)."""
    return TagFingerprint(
        "".join(tag[0] for tag in tags),
        "".join(tag[-1] for tag in tags),
        xxh3_64_intdigest(" ".join(tags).encode("utf-8", "replace")),
    )


class _TagCodes(dict[str, int]):
    """One byte for each tag of HTML, and one for all others."""

    def __missing__(self, tag: str) -> int:
        return UNKNOWN_TAG_CODE


_tag_codes = _TagCodes({tag: code for code, tag in enumerate(KNOWN_TAGS)})


def pack_outline(outline: TagOutline) -> bytes:
    """Write a skeleton in two bytes a tag; that of a large page is compressed, for pages repeat themselves."""
    codes = bytes(map(_tag_codes.__getitem__, outline.tags))
    others = [tag for tag in outline.tags if tag not in _tag_codes] if UNKNOWN_TAG_CODE in codes else []
    body = codes + outline.depths + b"\0" + " ".join(others).encode("utf-8", "replace")
    head = len(codes).to_bytes(4, "little")
    return (
        head + UNCOMPRESSED + body if len(body) <= MAX_UNCOMPRESSED_SIZE else head + COMPRESSED + zlib.compress(body, 1)
    )


class CodedOutline(Struct, frozen=True, array_like=True):
    """A skeleton as it is stored: one byte for each tag and one for its depth; `others` names unknown tags in order."""

    tag_codes: bytes
    depths: bytes
    unknown_tags: tuple[str, ...] = ()


def decode_outline(data: bytes) -> CodedOutline:
    """Read what `pack` wrote, without naming the tags yet."""
    count, body = int.from_bytes(data[:4], "little"), data[5:]
    if data[4:5] == COMPRESSED:
        body = zlib.decompress(body)
    names = body[2 * count + 1 :]
    return CodedOutline(body[:count], body[count : 2 * count], tuple(names.decode().split(" ")) if names else ())


def resolve_tag_names(coded: CodedOutline) -> TagOutline:
    """Name the tags of a skeleton."""
    others = iter(coded.unknown_tags)
    return TagOutline(
        [KNOWN_TAGS[code] if code != UNKNOWN_TAG_CODE else next(others) for code in coded.tag_codes], coded.depths
    )


def unpack_outline(data: bytes) -> TagOutline:
    """Read a skeleton that `pack` wrote."""
    return resolve_tag_names(decode_outline(data))

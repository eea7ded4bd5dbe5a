"""What a person reads on a page: its visible words, one block (paragraph, cell, item, heading) to a line."""

import re
from secrets import token_hex
from unicodedata import is_normalized, normalize

from turbohtml import Node, PlainText, Text
from xxhash import xxh3_64_digest

from sanderling.html.parser import Document, Element, Namespace

LABEL_ATTRIBUTE = (
    f"sanderling-{token_hex(8)}"  # attribute set on elements while the text is rendered; no page can know it
)
COMMON_TAGS = frozenset(("a", "div"))  # tags that nearly all pages have
TEXT_LAYOUT = PlainText(layout="strict", bullet="")
FLATTENED_TAGS = (
    *("table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption"),
    *("ul", "ol", "menu", "dir", "fieldset", "legend"),
    *("form", "select", "optgroup", "option", "center", "dialog", "hgroup", "search"),  # no blocks to the renderer
)
# Tags of parts of a line, and of blocks that may be inside; those met often first, for they are looked for in turn.
INLINE_SELECTOR = "span,a,b,strong,em,label,button,i,font,u,small,ins,del,big"
BLOCK_SELECTOR = (
    "div,p,li,ul,h2,h3,h4,h1,table,section,article,ol,h5,h6,pre,header,footer,nav,form,aside,figure,dl,blockquote,center,"
    "address,details,main,fieldset"
)
INLINE_WITH_BLOCKS = f":is({INLINE_SELECTOR}):has(> :is({BLOCK_SELECTOR}))"
INLINE_TAGS = frozenset(INLINE_SELECTOR.split(","))
LINE_BREAK_TAGS = frozenset(  # tags of elements at which a line begins and ends, as `is_breaking` of c/page.h says
    (
        *(
            "br",
            "hr",
            "p",
            "div",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "ul",
            "ol",
            "li",
            "dl",
            "dt",
            "dd",
            "pre",
            "form",
        ),
        *("table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td", "figure", "figcaption"),
        *("address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "fieldset", "footer"),
        *("header", "hgroup", "main", "menu", "nav", "search", "section", "summary"),
    )
)
LINE_SEPARATOR = " "
WHITESPACE = " \n\t\r\f"
CELL_TAGS = ("td", "th")  # may hold all of a page
HIDDEN_TAGS = ("script", "style", "template", "noscript")
UNRENDERED_TAGS = ("script", "style", "title")  # which no renderer shows
BLANK_BYTES = b" \t\r\x0b\x0c"
INVISIBLE_CHARS = "\u00a0\u200b"  # each costs a search; what else is not seen hardly ever comes and goes
RARE_INVISIBLE_CHARS = (
    "\u202f\u2009\u3000\u00ad\u200c\u200d\u200e\u200f\u2060\ufeff\u00b6"  # a pilcrow marks a link to a heading
)
RARE_INVISIBLE_CHARS += (
    "\u061c\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufe0e\ufe0f"  # which way to read, and how to draw
)
EQUIVALENT_CHARS = {  # what platforms and editors set for one another
    **dict.fromkeys("\u2018\u2019\u201b\u02bc", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
    **dict.fromkeys("\u2010\u2011\u2013\u2014\u2212", "-"),
    "\u2026": "...",
}
CHAR_REPLACEMENTS = {letter: plain.encode() for letter, plain in EQUIVALENT_CHARS.items()} | dict.fromkeys(
    INVISIBLE_CHARS + RARE_INVISIBLE_CHARS, b""
)
ICON_FONT_CHARS = (
    re.compile(  # letters of private use, which a font of icons draws: each site has its own, and there are very many
        rb"\xee[\x80-\xbf]{2}|\xef[\x80-\xa3][\x80-\xbf]|\xf3[\xb0-\xbf][\x80-\xbf]{2}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
    )
)
PRIVATE_USE_LEAD_BYTES = (b"\xee", b"\xef", b"\xf3", b"\xf4")  # with which they begin
ASCII_BYTES = bytes(range(128))
COMBINING_LEAD_BYTE = b"\xcc"  # with which all marks begin that go with the letter before, if that is ASCII
TRAILING_HASH = re.compile(rb"#\n(?<![^A-Z][A-Z]#\n)")  # but of C# and F#; it begins with what is found at once
MAX_TEXT = 4_000_000  # characters of one page that are looked at


def render_text(tree: Document) -> str:
    """Read the visible text; scripts, styles and templates are left out, blank lines may remain."""
    changed = flatten_layout(tree)
    try:
        return tree.to_text(TEXT_LAYOUT)[:MAX_TEXT]
    finally:
        restore_layout(changed)


def render_annotated_text(
    tree: Document, tag_labels: dict[str, list[str]], labeled_elements: list[tuple[str, list[Element]]]
) -> tuple[str, list[tuple[int, int, str]]]:
    """Render the text, and say which of it each of the tags and each named element covers."""
    changed = flatten_layout(tree)
    labeled_elements = [
        *labeled_elements,
        *((label, [element]) for element, tag in changed for label in tag_labels.get(tag, ())),
    ]
    rules = {
        tag: labels for tag, labels in tag_labels.items() if tag in COMMON_TAGS or tree.find_all(tag)
    }  # each costs a little
    try:
        for label, elements in labeled_elements:
            rules[f"#{LABEL_ATTRIBUTE}={label}"] = [label]
            for element in elements:
                element.attrs[LABEL_ATTRIBUTE] = f"{element.attr(LABEL_ATTRIBUTE) or ''} {label}"
        text, spans = tree.to_annotated_text(rules, TEXT_LAYOUT)
    finally:
        restore_layout(changed)
        for _, elements in labeled_elements:
            for element in elements:
                element.attrs.pop(LABEL_ATTRIBUTE, None)
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT]
        spans = [(start, min(end, MAX_TEXT), label) for start, end, label in spans if start < MAX_TEXT]
    return text, spans


def flatten_layout(tree: Document) -> list[tuple[Element, str]]:
    """Turn tables, lists, forms, and what has blocks inside, into plain blocks for a moment.

    The renderer would lay all blocks of a cell out on one line, number items, so that one new item changes all, and
    leave out what stands in a list and is no item. What follows a block inside a link it would write to its last word.
    """
    changed = [(element, tag) for tag in FLATTENED_TAGS for element in tree.find_all(tag)]
    changed += [(element, element.tag) for element in _find_inline_with_blocks(tree)]
    for element, tag in changed:
        element.tag = "div" if tag in CELL_TAGS else "address"  # which is laid out alike, and no part of a page
    return changed


def _find_inline_with_blocks(tree: Document) -> dict[Element, None]:
    """Find the links and the like that have blocks inside."""
    found = dict[Element, None]()
    for element in tree.select(INLINE_WITH_BLOCKS):
        above: Node | None = element
        while isinstance(above, Element) and above.tag in INLINE_TAGS and above not in found:
            found[above] = None
            above = above.parent
    return found


def restore_layout(changed: list[tuple[Element, str]]) -> None:
    """Give the elements of `loosen` their names back."""
    for element, tag in changed:
        element.tag = tag


def get_element_text(element: Element) -> str:
    """Read the words of one element; scripts and styles are left out, wherever they are."""
    if element.select_one(",".join(UNRENDERED_TAGS)) is None:
        return " ".join(element.text.split())
    pieces = (node.data for node in element.descendants if isinstance(node, Text) and not _is_unrendered(node.parent))
    return " ".join("".join(pieces).split())


def get_single_line_text(element: Element) -> str:
    """Read an element as one line, with a blank where a line of it ends; blanks around it may remain."""
    if element.find(LINE_BREAK_TAGS.__contains__) is None:
        return element.text
    pieces: list[str] = []
    rest: list[Node | str] = [element]  # nodes that are yet to be read, and ends of lines
    while rest:
        node = rest.pop()
        if isinstance(node, Element):
            ends = [LINE_SEPARATOR] if node.tag in LINE_BREAK_TAGS else []
            rest += [*ends, *reversed(list(node.children)), *ends]
        elif isinstance(node, Text) and node.data:
            pieces.append(node.data)
        elif node == LINE_SEPARATOR and pieces and pieces[-1][-1] not in WHITESPACE:
            pieces.append(LINE_SEPARATOR)
    return "".join(pieces)


def has_text(element: Element) -> bool:
    """Say whether an element has words; those of scripts and styles are none."""
    texts = (node for node in element.descendants if isinstance(node, Text))
    return any(not _is_unrendered(node.parent) for node in texts if node.data.strip())


def _is_unrendered(node: Node | None) -> bool:
    if not isinstance(node, Element) or node.tag not in UNRENDERED_TAGS:
        return False
    return node.tag != "title" or node.namespace is Namespace.HTML  # that of a drawing is shown


def extract_raw_text(tree: Document) -> str:
    """Take the readable characters with nothing between blocks, in half the time; it costs the tree its scripts."""
    hidden = [element for tag in HIDDEN_TAGS for element in tree.find_all(tag)]  # once one is gone, a search costs more
    for element in hidden:
        element.decompose()
    return _separate_titles(tree)[:MAX_TEXT]


def _separate_titles(tree: Document) -> str:
    """Return the text of a document with a blank behind each title in its head: else it runs into the first word."""
    head, words = tree.find("head"), tree.text
    if not isinstance(head, Element) or not words.startswith(head.text):
        return words
    return "".join(f"{title.text} " for title in head.find_all("title")) + words[len(head.text) :]


def compact_text(text: str, blanks: bytes = BLANK_BYTES + b"\n") -> bytes:
    """Write a text in bytes, without its blanks: what marks of it begin with."""
    return text.encode("utf-8", "replace").translate(None, blanks)


def hash_text(compacted_text: bytes) -> bytes:
    """Hash the visible text of a page, given as `dense` writes it: eight bytes that say whether to look closer."""
    if not compacted_text.isascii():
        for blank in INVISIBLE_CHARS:
            compacted_text = compacted_text.replace(blank.encode(), b"")
    return xxh3_64_digest(compacted_text)


def compact_lines(text: str) -> bytes:
    """Remove blanks of every kind but line ends."""
    letters = compact_text(text, BLANK_BYTES)
    if not text.isascii():
        for blank in INVISIBLE_CHARS:
            if blank in text:  # one letter is found sooner than the bytes it is written in
                letters = letters.replace(blank.encode(), b"")
    return letters


def normalize_text(text: str) -> bytes:
    """Spell a text in one of the ways that read the same: no blanks, plain quotes, dashes and dots, letters in one."""
    letters = compact_text(text, BLANK_BYTES)
    if not text.isascii():
        strange = letters.translate(None, ASCII_BYTES)
        for letter in CHAR_REPLACEMENTS.keys() & strange.decode():  # most pages have few of them
            letters = letters.replace(letter.encode(), CHAR_REPLACEMENTS[letter])
        if any(map(strange.__contains__, PRIVATE_USE_LEAD_BYTES)):
            letters = ICON_FONT_CHARS.sub(b"", letters)
    if not letters.isascii() and _may_be_decomposed(letters.translate(None, ASCII_BYTES)):
        letters = normalize("NFC", letters.decode()).encode()
    return _strip_heading_hashes(letters) if b"#" in letters else letters


def _may_be_decomposed(non_ascii: bytes) -> bool:
    """Say whether letters may be spelled in two, given those that are not ASCII: most pages have few of them."""
    return COMBINING_LEAD_BYTE in non_ascii or not is_normalized("NFC", non_ascii.decode())


def _strip_heading_hashes(compacted_text: bytes) -> bytes:
    """Take a hash off the ends of lines: it marks a link to a heading; that of a language or a note is its name."""
    return TRAILING_HASH.sub(b"\n", (b"\n%b\n" % compacted_text).replace(b"\n#", b"\n"))[1:-1]

"""Extract and normalize the visible text of a page: one line per block (paragraph, cell, list item, heading).

`content/extract.py` separates main content from boilerplate.
"""

import re
from secrets import token_hex
from unicodedata import is_normalized, normalize

from turbohtml import Node, PlainText, Text
from xxhash import xxh3_64_digest

from sanderling.html.native_tables import INVISIBLE_CHARS, LINE_BREAK_TAGS
from sanderling.html.parser import Document, Element, Namespace

LABEL_ATTRIBUTE = f"sanderling-{token_hex(8)}"  # random, so that no page can contain it
COMMON_TAGS = frozenset(("a", "div"))  # on nearly all pages
TEXT_LAYOUT = PlainText(layout="strict", bullet="")
FLATTENED_TAGS = (
    *("table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption"),
    *("ul", "ol", "menu", "dir", "fieldset", "legend"),
    *("form", "select", "optgroup", "option", "center", "dialog", "hgroup", "search"),  # not blocks for the renderer
)
# Selectors are tried in turn, so frequent tags come first.
INLINE_SELECTOR = "span,a,b,strong,em,label,button,i,font,u,small,ins,del,big"
BLOCK_SELECTOR = (
    "div,p,li,ul,h2,h3,h4,h1,table,section,article,ol,h5,h6,pre,header,footer,nav,form,aside,figure,dl,blockquote,center,"
    "address,details,main,fieldset"
)
INLINE_WITH_BLOCKS = f":is({INLINE_SELECTOR}):has(> :is({BLOCK_SELECTOR}))"
INLINE_TAGS = frozenset(INLINE_SELECTOR.split(","))
LINE_SEPARATOR = " "
WHITESPACE = " \n\t\r\f"
CELL_TAGS = ("td", "th")  # old layouts put the whole page into a cell
HIDDEN_TAGS = ("script", "style", "template", "noscript")
UNRENDERED_TAGS = ("script", "style", "title")  # never rendered
BLANK_BYTES = b" \t\r\x0b\x0c"
RARE_INVISIBLE_CHARS = "\u202f\u2009\u3000\u00ad\u200c\u200d\u200e\u200f\u2060\ufeff\u00b6"  # U+00B6: heading anchor
RARE_INVISIBLE_CHARS += (
    "\u061c\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufe0e\ufe0f"  # text direction and variation selectors
)
EQUIVALENT_CHARS = {  # typographic variants that editors substitute
    **dict.fromkeys("\u2018\u2019\u201b\u02bc", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
    **dict.fromkeys("\u2010\u2011\u2013\u2014\u2212", "-"),
    "\u2026": "...",
}
CHAR_REPLACEMENTS = {letter: plain.encode() for letter, plain in EQUIVALENT_CHARS.items()} | dict.fromkeys(
    INVISIBLE_CHARS + RARE_INVISIBLE_CHARS, b""
)
ICON_FONT_CHARS = re.compile(  # private-use characters, drawn by icon fonts
    rb"\xee[\x80-\xbf]{2}|\xef[\x80-\xa3][\x80-\xbf]|\xf3[\xb0-\xbf][\x80-\xbf]{2}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
PRIVATE_USE_LEAD_BYTES = (b"\xee", b"\xef", b"\xf3", b"\xf4")  # first UTF-8 bytes of private-use characters
ASCII_BYTES = bytes(range(128))
COMBINING_LEAD_BYTE = b"\xcc"  # first UTF-8 byte of combining marks for ASCII letters
TRAILING_HASH = re.compile(rb"#\n(?<![^A-Z][A-Z]#\n)")  # not C# or F#; starts with a literal, which is fast to search
MAX_TEXT = 4_000_000  # characters per page; the rest is ignored


def render_text(tree: Document) -> str:
    """Return the visible text; may contain blank lines."""
    changed = flatten_layout(tree)
    try:
        return tree.to_text(TEXT_LAYOUT)[:MAX_TEXT]
    finally:
        restore_layout(changed)


def render_annotated_text(
    tree: Document, tag_labels: dict[str, list[str]], labeled_elements: list[tuple[str, list[Element]]]
) -> tuple[str, list[tuple[int, int, str]]]:
    """Return the visible text and its labeled spans `(start, end, label)`.

    Elements carry a temporary attribute while the text is rendered.
    """
    changed = flatten_layout(tree)
    labeled_elements = [
        *labeled_elements,
        *((label, [element]) for element, tag in changed for label in tag_labels.get(tag, ())),
    ]
    # Skip rules for missing tags: each rule slows the renderer down.
    rules = {tag: labels for tag, labels in tag_labels.items() if tag in COMMON_TAGS or tree.find_all(tag)}
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
    """Replace tables, lists, forms, and inline elements around blocks with plain blocks; return the originals.

    The renderer would join the blocks of a cell, number list items, and drop text of a list outside its items.
    """
    changed = [(element, tag) for tag in FLATTENED_TAGS for element in tree.find_all(tag)]
    changed += [(element, element.tag) for element in _find_inline_with_blocks(tree)]
    for element, tag in changed:
        # "address" is rendered as a block and has no label of its own.
        element.tag = "div" if tag in CELL_TAGS else "address"
    return changed


def _find_inline_with_blocks(tree: Document) -> dict[Element, None]:
    elements = dict[Element, None]()
    for element in tree.select(INLINE_WITH_BLOCKS):
        node: Node | None = element
        while isinstance(node, Element) and node.tag in INLINE_TAGS and node not in elements:
            elements[node] = None
            node = node.parent
    return elements


def restore_layout(changed: list[tuple[Element, str]]) -> None:
    for element, tag in changed:
        element.tag = tag


def get_element_text(element: Element) -> str:
    """Return the text without scripts and styles, with collapsed whitespace."""
    if element.select_one(",".join(UNRENDERED_TAGS)) is None:
        return " ".join(element.text.split())
    pieces = (node.data for node in element.descendants if isinstance(node, Text) and not _is_unrendered(node.parent))
    return " ".join("".join(pieces).split())


def get_single_line_text(element: Element) -> str:
    """Return the text on a line, with a space at each line break."""
    if element.find(LINE_BREAK_TAGS.__contains__) is None:
        return element.text
    pieces: list[str] = []
    stack: list[Node | str] = [element]  # stack of nodes and line ends
    while stack:
        node = stack.pop()
        if isinstance(node, Element):
            line_ends = [LINE_SEPARATOR] if node.tag in LINE_BREAK_TAGS else []
            stack += [*line_ends, *reversed(list(node.children)), *line_ends]
        elif isinstance(node, Text) and node.data:
            pieces.append(node.data)
        elif node == LINE_SEPARATOR and pieces and pieces[-1][-1] not in WHITESPACE:
            pieces.append(LINE_SEPARATOR)
    return "".join(pieces)


def has_text(element: Element) -> bool:
    texts = (node for node in element.descendants if isinstance(node, Text))
    return any(not _is_unrendered(node.parent) for node in texts if node.data.strip())


def _is_unrendered(node: Node | None) -> bool:
    if not isinstance(node, Element) or node.tag not in UNRENDERED_TAGS:
        return False
    return node.tag != "title" or node.namespace is Namespace.HTML  # the title of an SVG is rendered


def extract_raw_text(tree: Document) -> str:
    """Return the text without separators, in half the time of `render_text`.

    Removes scripts, styles, and templates from the tree.
    """
    hidden = [
        element for tag in HIDDEN_TAGS for element in tree.find_all(tag)
    ]  # search first: searching is slower once elements are removed
    for element in hidden:
        element.decompose()
    return _separate_titles(tree)[:MAX_TEXT]


def _separate_titles(tree: Document) -> str:
    head, text = tree.find("head"), tree.text
    if not isinstance(head, Element) or not text.startswith(head.text):
        return text
    # Without a space, the title would join the first word of the body.
    return "".join(f"{title.text} " for title in head.find_all("title")) + text[len(head.text) :]


def compact_text(text: str, blanks: bytes = BLANK_BYTES + b"\n") -> bytes:
    """Encode a text without whitespace, as input for hashing."""
    return text.encode("utf-8", "replace").translate(None, blanks)


def hash_text(compacted_text: bytes) -> bytes:
    """Return a 64-bit hash of the output of `compact_text`."""
    if not compacted_text.isascii():
        for char in INVISIBLE_CHARS:
            compacted_text = compacted_text.replace(char.encode(), b"")
    return xxh3_64_digest(compacted_text)


def compact_lines(text: str) -> bytes:
    """Encode a text without whitespace and invisible characters, but with line ends."""
    compacted = compact_text(text, BLANK_BYTES)
    if not text.isascii():
        for char in INVISIBLE_CHARS:
            if char in text:  # searching a str for one character is faster than bytes
                compacted = compacted.replace(char.encode(), b"")
    return compacted


def normalize_text(text: str) -> bytes:
    """Encode a text so that typographic variants are equal (NFC; quotes, dashes, icons)."""
    compacted = compact_text(text, BLANK_BYTES)
    if not text.isascii():
        non_ascii = compacted.translate(None, ASCII_BYTES)
        for char in CHAR_REPLACEMENTS.keys() & non_ascii.decode():  # few on most pages
            compacted = compacted.replace(char.encode(), CHAR_REPLACEMENTS[char])
        if any(map(non_ascii.__contains__, PRIVATE_USE_LEAD_BYTES)):
            compacted = ICON_FONT_CHARS.sub(b"", compacted)
    if not compacted.isascii() and _may_be_decomposed(compacted.translate(None, ASCII_BYTES)):
        compacted = normalize("NFC", compacted.decode()).encode()
    return _strip_heading_hashes(compacted) if b"#" in compacted else compacted


def _may_be_decomposed(non_ascii: bytes) -> bool:
    return COMBINING_LEAD_BYTE in non_ascii or not is_normalized("NFC", non_ascii.decode())


def _strip_heading_hashes(compacted_text: bytes) -> bytes:
    """Remove a hash sign at line ends, a heading anchor. Keeps C#."""
    return TRAILING_HASH.sub(b"\n", (b"\n%b\n" % compacted_text).replace(b"\n#", b"\n"))[1:-1]

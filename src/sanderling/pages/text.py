"""What a person reads on a page: its visible words, one block (paragraph, cell, item, heading) to a line."""

from turbohtml import PlainText

from sanderling.pages.parse import Document, Element

LAYOUT = PlainText(layout="strict", bullet="")
CELLS = ("table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption")
MAX_TEXT = 4_000_000  # characters of one page that are looked at


def text(tree: Document) -> str:
    """Read the visible text; scripts, styles and templates are left out, blank lines may remain."""
    cells = loosen_tables(tree)
    words = tree.to_text(LAYOUT)
    tighten_tables(cells)
    return words[:MAX_TEXT]


def loosen_tables(tree: Document) -> list[tuple[Element, str]]:
    """Turn tables into plain blocks for a moment: the renderer would lay all blocks of a cell out on one line."""
    cells = [(element, element.tag) for element in tree.iter_elements(CELLS)]
    for element, _ in cells:
        element.tag = "div"
    return cells


def tighten_tables(cells: list[tuple[Element, str]]) -> None:
    """Give the tables of `loosen_tables` their names back."""
    for element, tag in cells:
        element.tag = tag

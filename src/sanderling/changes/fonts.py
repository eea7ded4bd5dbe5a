"""How large each line of a page is written, from its tags: what the font-weighted checksum needs."""

from sanderling.changes.rms import DEFAULT_POINTS, FONT_SIZES, POINTS, points
from sanderling.pages.parse import Document
from sanderling.pages.text import annotated

RULES = {tag: [tag] for tag in (*POINTS, "big", "small")}
SIZES = range(1, len(FONT_SIZES) + 1)
Runs = list[tuple[float, str]]


def runs(tree: Document) -> list[Runs]:
    """Give each line of a page as runs of (points, text); lines as `pages.blocks` counts them."""
    fonts = [(f"font{size}", tree.select(f'font[size="{size}"]')) for size in SIZES]
    text, spans = annotated(tree, RULES, fonts)
    sizes = [DEFAULT_POINTS] * len(text)
    for start, end, name in reversed(spans):  # outer elements first: they close last
        tag, size = (name[:4], name[4:]) if name.startswith("font") else (name, "")
        for place in range(start, min(end, len(sizes))):
            sizes[place] = points(tag, size, sizes[place])
    return _lines(text, sizes)


def _lines(text: str, sizes: list[float]) -> list[Runs]:
    lines: list[Runs] = [[]]
    start = 0
    for place, letter in enumerate(text):
        if letter == "\n" or sizes[place] != sizes[start]:
            _add(lines[-1], sizes[start] if start < len(sizes) else DEFAULT_POINTS, text[start:place])
            start = place
        if letter == "\n":
            lines.append([])
            start = place + 1
    if start < len(text):
        _add(lines[-1], sizes[start], text[start:])
    return lines


def _add(line: Runs, size: float, text: str) -> None:
    if text:
        line.append((size, text))

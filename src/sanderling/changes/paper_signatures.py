"""Content signatures of the papers (IPC): RMS, and a checksum weighted by font size.

Both ignore order ("dog bites man" equals "man bites dog"): they measure how much changed, not whether.
"""

import math
from collections.abc import Iterable, Sequence

from msgspec import Struct

from sanderling.html.parser import Document
from sanderling.html.text import render_annotated_text

K_PAGE = 0.0001  # IPC, whole page
K_PARAGRAPH = 0.001  # IPC, recovered from Tables 10 and 13: a page is the sum of its paragraphs over ten
DEFAULT_POINTS = 12.0
HEADING_POINTS = {"h1": 24.0, "h2": 18.0, "h3": 14.0, "h4": 12.0, "h5": 10.0, "h6": 8.0}
FONT_SIZES = (8.0, 10.0, 12.0, 14.0, 18.0, 24.0, 36.0)  # <font size=1..7>
BIG_FACTOR, SMALL_FACTOR = 1.2, 0.8


class PaperSignature(Struct, frozen=True):
    rms: float
    symbols: int
    checksum: float


def select_symbols(text: str, *, ascii_only: bool = True) -> str:
    """Drop white space and, as in the papers, non-ASCII characters."""
    return "".join(
        character for character in text if not character.isspace() and (not ascii_only or character < "\x80")
    )


def compute_rms(text: str, *, ascii_only: bool = True) -> float:
    """Return the root of the sum of squared lower-case symbols over the number of distinct symbols."""
    symbols = select_symbols(text.lower(), ascii_only=ascii_only)
    if not symbols:
        return 0.0
    return math.sqrt(sum(ord(symbol) ** 2 for symbol in symbols) / len(set(symbols)))


def compute_checksum(
    runs: Iterable[tuple[float, str]], k: float = K_PARAGRAPH, *, skip_leading: int = 0, ascii_only: bool = True
) -> float:
    """Sum font size times code over all symbols; `skip_leading` reproduces an error in IPC Table 13."""
    terms = [points * ord(symbol) for points, text in runs for symbol in select_symbols(text, ascii_only=ascii_only)]
    return k * sum(terms[skip_leading:])


def compute_paper_signature(
    runs: Sequence[tuple[float, str]], k: float = K_PARAGRAPH, *, ascii_only: bool = True
) -> PaperSignature:
    """Compute the signature of runs of (font size, text)."""
    text = " ".join(part for _, part in runs)
    distinct = len(set(select_symbols(text.lower(), ascii_only=ascii_only)))
    return PaperSignature(
        compute_rms(text, ascii_only=ascii_only), distinct, compute_checksum(runs, k, ascii_only=ascii_only)
    )


def get_font_points(tag: str, size: str = "", parent_points: float = DEFAULT_POINTS) -> float:
    """Return the font size of an element from its tag and the size around it."""
    if tag in HEADING_POINTS:
        return HEADING_POINTS[tag]
    if tag == "font" and size.isdigit() and 1 <= int(size) <= len(FONT_SIZES):
        return FONT_SIZES[int(size) - 1]
    return parent_points * {"big": BIG_FACTOR, "small": SMALL_FACTOR}.get(tag, 1.0)


SIZE_RULES = {tag: [tag] for tag in (*HEADING_POINTS, "big", "small")}
FONT_SIZE_NUMBERS = range(1, len(FONT_SIZES) + 1)
FontRuns = list[tuple[float, str]]


def extract_font_runs(tree: Document) -> list[FontRuns]:
    """Return each line of a page as runs of (points, text)."""
    fonts = [(f"font{size}", tree.select(f'font[size="{size}"]')) for size in FONT_SIZE_NUMBERS]
    text, spans = render_annotated_text(tree, SIZE_RULES, fonts)
    sizes = [DEFAULT_POINTS] * len(text)
    for start, end, name in reversed(spans):  # outer elements first: they close last
        tag, size = (name[:4], name[4:]) if name.startswith("font") else (name, "")
        for position in range(start, min(end, len(sizes))):
            sizes[position] = get_font_points(tag, size, sizes[position])
    return _split_font_runs(text, sizes)


def _split_font_runs(text: str, sizes: list[float]) -> list[FontRuns]:
    lines: list[FontRuns] = [[]]
    start = 0
    for position, character in enumerate(text):
        if character == "\n" or sizes[position] != sizes[start]:
            _append_run(lines[-1], sizes[start] if start < len(sizes) else DEFAULT_POINTS, text[start:position])
            start = position
        if character == "\n":
            lines.append([])
            start = position + 1
    if start < len(text):
        _append_run(lines[-1], sizes[start], text[start:])
    return lines


def _append_run(line: FontRuns, size: float, text: str) -> None:
    if text:
        line.append((size, text))

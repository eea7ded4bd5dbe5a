"""The papers' content signatures (IPC-11, IPC-12; SPEC 7.4, 7.5): RMS and the checksum weighted by font size.

Both ignore order ("dog bites man" equals "man bites dog"), so they say how much changed, never whether: that is for a
digest of the text.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence

from msgspec import Struct

from sanderling.html.parser import Document
from sanderling.html.text import render_annotated_text

K_PAGE = 0.0001  # IPC, whole page
K_PARAGRAPH = 0.001  # IPC, recovered from Tables 10 and 13: a page is the sum of its paragraphs over ten
DEFAULT_POINTS = 12.0
HEADING_POINTS = {"h1": 24.0, "h2": 18.0, "h3": 14.0, "h4": 12.0, "h5": 10.0, "h6": 8.0}  # SPEC 7.5
FONT_SIZES = (8.0, 10.0, 12.0, 14.0, 18.0, 24.0, 36.0)  # <font size=1..7>
BIG_FACTOR, SMALL_FACTOR = 1.2, 0.8
DIGEST_ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha512")  # SPEC 7.6, for comparison


class PaperSignature(Struct, frozen=True):
    """What the papers keep of a text: RMS, the number of distinct symbols, and the checksum."""

    rms: float
    symbols: int
    checksum: float


def select_symbols(text: str, *, ascii_only: bool = True) -> str:
    """Drop white space and, as the papers do, what is not ASCII."""
    return "".join(letter for letter in text if not letter.isspace() and (not ascii_only or letter < "\x80"))


def compute_rms(text: str, *, ascii_only: bool = True) -> float:
    """Take the root of the sum of squares of all lower-case symbols over the number of distinct ones."""
    letters = select_symbols(text.lower(), ascii_only=ascii_only)
    if not letters:
        return 0.0
    return math.sqrt(sum(ord(letter) ** 2 for letter in letters) / len(set(letters)))


def compute_checksum(
    runs: Iterable[tuple[float, str]], k: float = K_PARAGRAPH, *, skip_leading: int = 0, ascii_only: bool = True
) -> float:
    """Add up font size times code over all symbols; `skip_leading` reproduces the slip of IPC Table 13."""
    terms = [points * ord(letter) for points, text in runs for letter in select_symbols(text, ascii_only=ascii_only)]
    return k * sum(terms[skip_leading:])


def combine_paragraph_rms(paragraphs: Sequence[tuple[int, float]], distinct: int) -> float:
    """Join paragraph values (distinct symbols, RMS) that cover a page into the page's."""
    return math.sqrt(sum(count * value * value for count, value in paragraphs) / distinct)


def compute_paper_signature(
    runs: Sequence[tuple[float, str]], k: float = K_PARAGRAPH, *, ascii_only: bool = True
) -> PaperSignature:
    """Take all three values of a text given as runs of (font size, text)."""
    text = " ".join(part for _, part in runs)
    distinct = len(set(select_symbols(text.lower(), ascii_only=ascii_only)))
    return PaperSignature(
        compute_rms(text, ascii_only=ascii_only), distinct, compute_checksum(runs, k, ascii_only=ascii_only)
    )


def get_font_points(tag: str, size: str = "", parent_points: float = DEFAULT_POINTS) -> float:
    """Say how large an element writes, from its tag and the size around it."""
    if tag in HEADING_POINTS:
        return HEADING_POINTS[tag]
    if tag == "font" and size.isdigit() and 1 <= int(size) <= len(FONT_SIZES):
        return FONT_SIZES[int(size) - 1]
    return parent_points * {"big": BIG_FACTOR, "small": SMALL_FACTOR}.get(tag, 1.0)


def compute_digests(text: str) -> dict[str, str]:
    """Take the digests the papers compare with."""
    return {name: hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest() for name in DIGEST_ALGORITHMS}


SIZE_RULES = {tag: [tag] for tag in (*HEADING_POINTS, "big", "small")}
FONT_SIZE_NUMBERS = range(1, len(FONT_SIZES) + 1)
FontRuns = list[tuple[float, str]]


def extract_font_runs(tree: Document) -> list[FontRuns]:
    """Give each line of a page as runs of (points, text); lines as `pages.blocks` counts them."""
    fonts = [(f"font{size}", tree.select(f'font[size="{size}"]')) for size in FONT_SIZE_NUMBERS]
    text, spans = render_annotated_text(tree, SIZE_RULES, fonts)
    sizes = [DEFAULT_POINTS] * len(text)
    for start, end, name in reversed(spans):  # outer elements first: they close last
        tag, size = (name[:4], name[4:]) if name.startswith("font") else (name, "")
        for place in range(start, min(end, len(sizes))):
            sizes[place] = get_font_points(tag, size, sizes[place])
    return _split_font_runs(text, sizes)


def _split_font_runs(text: str, sizes: list[float]) -> list[FontRuns]:
    lines: list[FontRuns] = [[]]
    start = 0
    for place, letter in enumerate(text):
        if letter == "\n" or sizes[place] != sizes[start]:
            _append_run(lines[-1], sizes[start] if start < len(sizes) else DEFAULT_POINTS, text[start:place])
            start = place
        if letter == "\n":
            lines.append([])
            start = place + 1
    if start < len(text):
        _append_run(lines[-1], sizes[start], text[start:])
    return lines


def _append_run(line: FontRuns, size: float, text: str) -> None:
    if text:
        line.append((size, text))

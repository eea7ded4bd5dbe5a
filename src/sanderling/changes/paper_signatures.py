"""The papers' content signatures (IPC-11, IPC-12; SPEC 7.4, 7.5): RMS and the checksum weighted by font size.

Both ignore order ("dog bites man" equals "man bites dog"), so they say how much changed, never whether: that is for a
digest of the text.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence

from msgspec import Struct

from sanderling.html.parser import Document
from sanderling.html.text import annotated

K_PAGE = 0.0001  # IPC, whole page
K_PARAGRAPH = 0.001  # IPC, recovered from Tables 10 and 13: a page is the sum of its paragraphs over ten
DEFAULT_POINTS = 12.0
POINTS = {"h1": 24.0, "h2": 18.0, "h3": 14.0, "h4": 12.0, "h5": 10.0, "h6": 8.0}  # SPEC 7.5
FONT_SIZES = (8.0, 10.0, 12.0, 14.0, 18.0, 24.0, 36.0)  # <font size=1..7>
BIG, SMALL = 1.2, 0.8
DIGESTS = ("md5", "sha1", "sha224", "sha256", "sha512")  # SPEC 7.6, for comparison


class Weight(Struct, frozen=True):
    """What the papers keep of a text: RMS, the number of distinct symbols, and the checksum."""

    rms: float
    symbols: int
    checksum: float


def symbols(text: str, *, ascii_only: bool = True) -> str:
    """Drop white space and, as the papers do, what is not ASCII."""
    return "".join(letter for letter in text if not letter.isspace() and (not ascii_only or letter < "\x80"))


def rms(text: str, *, ascii_only: bool = True) -> float:
    """Take the root of the sum of squares of all lower-case symbols over the number of distinct ones."""
    letters = symbols(text.lower(), ascii_only=ascii_only)
    if not letters:
        return 0.0
    return math.sqrt(sum(ord(letter) ** 2 for letter in letters) / len(set(letters)))


def checksum(
    runs: Iterable[tuple[float, str]], k: float = K_PARAGRAPH, *, skip_leading: int = 0, ascii_only: bool = True
) -> float:
    """Add up font size times code over all symbols; `skip_leading` reproduces the slip of IPC Table 13."""
    terms = [points * ord(letter) for points, text in runs for letter in symbols(text, ascii_only=ascii_only)]
    return k * sum(terms[skip_leading:])


def page_rms(paragraphs: Sequence[tuple[int, float]], distinct: int) -> float:
    """Join paragraph values (distinct symbols, RMS) that cover a page into the page's."""
    return math.sqrt(sum(count * value * value for count, value in paragraphs) / distinct)


def weigh(runs: Sequence[tuple[float, str]], k: float = K_PARAGRAPH, *, ascii_only: bool = True) -> Weight:
    """Take all three values of a text given as runs of (font size, text)."""
    text = " ".join(part for _, part in runs)
    distinct = len(set(symbols(text.lower(), ascii_only=ascii_only)))
    return Weight(rms(text, ascii_only=ascii_only), distinct, checksum(runs, k, ascii_only=ascii_only))


def points(tag: str, size: str = "", around: float = DEFAULT_POINTS) -> float:
    """Say how large an element writes, from its tag and the size around it."""
    if tag in POINTS:
        return POINTS[tag]
    if tag == "font" and size.isdigit() and 1 <= int(size) <= len(FONT_SIZES):
        return FONT_SIZES[int(size) - 1]
    return around * {"big": BIG, "small": SMALL}.get(tag, 1.0)


def digests(text: str) -> dict[str, str]:
    """Take the digests the papers compare with."""
    return {name: hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest() for name in DIGESTS}


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

"""What stands beside the core of a page and is content all the same: sections with a heading, prices, facts.

Banners, boxes for letters and the like have buttons and fields; bars and footers are links for the most part. What
leads elsewhere, with a link on a line of its own, tells of other pages: teasers, calls to sign up.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate, compress

from msgspec import Struct

from sanderling.content.main_region import Core
from sanderling.content.prices import LONGEST, WORTH, weighed

LINKED = 0.8  # share of a line inside links that makes it a bare link
AT_LENGTH = 200  # letters of a line that tells more than what is behind a link
BESIDE_LINKS = 3  # times the letters of links that a part has in such lines, if it is told at length
FACT = re.compile(r"[^\W\d][^:：]{1,30}[:：].*\d")  # "Deadline: 5 May"

Lines = tuple[int, int]
"""The first line of an element, and the one after its last."""


class Signs(Struct, frozen=True):
    """What tells the parts of a page apart: the lines of its elements."""

    linked: dict[int, int]  # letters of a line inside links, buttons not counted
    headings: Sequence[Lines] = ()
    titles: Sequence[Lines] = ()  # headings of the first level
    buttons: Sequence[Lines] = ()  # and what has fields to fill in
    articles: Sequence[Lines] = ()
    values: Sequence[Lines] = ()  # of a label in the cell, or the term, before


def title_of(core: Core, signs: Signs, main: bytes | bytearray) -> int:
    """Number the line of the title of a core: of the first level, or whatever heading is nearest above it."""
    titles = _titles(core, signs, main) or [line for line, _ in signs.headings if main[line]]
    return max((line for line in titles if line < core.first), default=core.first)


def below_title(core: Core, signs: Signs, main: bytes | bytearray, parts: list[slice]) -> list[slice]:
    """Leave out the parts above a title of the first level: no document begins there, but bars and banners stand."""
    title = max(_titles(core, signs, main), default=0)
    return [part for part in parts if part.stop > title]


def _titles(core: Core, signs: Signs, main: bytes | bytearray) -> list[int]:
    """Number the lines of titles of the first level, down to the end of a core."""
    return [line for line, _ in signs.titles if line < core.last and main[line]]


def content_beside(lines: list[str], main: bytes | bytearray, parts: list[slice], signs: Signs) -> bytearray:
    """Paint those lines of the parts beside a core that are content."""
    area, told = bytearray(len(lines)), _Told(lines, signs)
    beside, listed, asking = (bytearray(len(lines)) for _ in range(3))
    for part in reversed(parts):  # inner ones last
        size = part.stop - part.start
        beside[part] = b"\1" * size
        listed[part] = bytes([told.is_listed(part)]) * size
        if told.is_question(part):
            asking[part] = b"\1" * size
    for part in parts:
        if told.is_section(part) and not asking[part.start]:
            area[part] = main[part]
    for place in _facts(lines, [n for n in compress(range(len(lines)), beside) if main[n] and not listed[n]], signs):
        area[place] = 1
    for first, last in signs.values:
        if last == first + 1 <= len(lines) and beside[first] and told.is_short(first):
            area[first] = main[first]
    return area


def is_bare(length: int, inside: int) -> bool:
    """Say whether a line is nothing but links."""
    return 0 < LINKED * length <= inside


def worthy(lines: list[str], places: list[int]) -> list[int]:
    """Choose the lines that tell a price, or whether a thing is there."""
    marks = weighed([lines[place] for place in places], b"\1" * len(places))
    return [place for place, mark in zip(places, marks, strict=True) if mark & WORTH]


def _facts(lines: list[str], places: list[int], signs: Signs) -> Iterable[int]:
    """Choose the short lines that tell something worth knowing, and lead nowhere."""
    places = [n for n in places if len(lines[n]) <= LONGEST and not is_bare(len(lines[n]), signs.linked.get(n, 0))]
    return {*worthy(lines, places), *(place for place in places if FACT.match(lines[place]))}


class _Told:
    """What the lines of a page say about its parts."""

    def __init__(self, lines: list[str], signs: Signs) -> None:
        self.signs = signs
        self.lengths = list(map(len, lines))
        self.letters = [0, *accumulate(self.lengths)]
        inside = [0] * len(lines)
        for place in filter(len(lines).__gt__, signs.linked):
            inside[place] = signs.linked[place]
        self.inside = [0, *accumulate(inside)]
        self.ways = sorted(n for n, size in signs.linked.items() if size and n < len(lines) and _is_way(lines[n], size))
        self.headings, self.buttons, self.articles = (
            sorted(first for first, _ in rows) for rows in (signs.headings, signs.buttons, signs.articles)
        )

    def is_section(self, part: slice) -> bool:
        """Say whether a part has a heading, or is an article, and neither buttons nor links that lead elsewhere.

        At the end of what is told at length may be a link: the last section of a review, say.
        """
        if _count(self.buttons, part) or self.is_listed(part) or (_count(self.ways, part) and not self.is_told(part)):
            return False
        return _count(self.headings, part) > 0 or _count(self.articles, part) > 0

    def is_told(self, part: slice) -> bool:
        """Say whether a part has long lines, and few links beside them."""
        inside: int = self.inside[part.stop] - self.inside[part.start]
        return sum(filter(AT_LENGTH.__le__, self.lengths[part])) > max(2 * AT_LENGTH, BESIDE_LINKS * inside)

    def is_question(self, part: slice) -> bool:
        """Say whether a part has buttons under its only heading: it wants an answer."""
        return _count(self.headings, part) == 1 and _count(self.buttons, part) > 0

    def is_listed(self, part: slice) -> bool:
        """Say whether a part is links for the most part."""
        inside: int = self.inside[part.stop] - self.inside[part.start]
        whole: int = self.letters[part.stop] - self.letters[part.start]
        return 2 * inside > whole

    def is_short(self, place: int) -> bool:
        """Say whether a line is short, and leads nowhere."""
        return 0 < self.lengths[place] <= LONGEST and place not in self.signs.linked


def _is_way(line: str, inside: int) -> bool:
    """Say whether a line is a link and no address: it leads elsewhere."""
    return is_bare(len(line), inside) and "@" not in line


def _count(starts: list[int], part: slice) -> int:
    return bisect_left(starts, part.stop) - bisect_left(starts, part.start)

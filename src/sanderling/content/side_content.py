"""What stands beside the core of a page and is content all the same: sections with a heading, prices, facts.

Banners, boxes for letters and the like have buttons and fields; bars and footers are links for the most part. What
leads elsewhere, with a link on a line of its own, tells of other pages: teasers, calls to sign up.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate, compress

from msgspec import Struct

from sanderling.content.main_region import MainRegion
from sanderling.content.prices import MAX_LINE_LENGTH, PRICE_FLAG, flag_price_lines

MIN_LINK_ONLY_SHARE = 0.8  # share of a line inside links that makes it a bare link
LONG_LINE_LENGTH = 200  # letters of a line that tells more than what is behind a link
MIN_TEXT_TO_LINK_RATIO = 3  # times the letters of links that a part has in such lines, if it is told at length
FACT_LINE = re.compile(r"[^\W\d][^:：]{1,30}[:：].*\d")  # "Deadline: 5 May"

LineSpan = tuple[int, int]
"""The first line of an element, and the one after its last."""


class ElementLines(Struct, frozen=True):
    """What tells the parts of a page apart: the lines of its elements."""

    link_chars: dict[int, int]  # letters of a line inside links, buttons not counted
    headings: Sequence[LineSpan] = ()
    titles: Sequence[LineSpan] = ()  # headings of the first level
    buttons: Sequence[LineSpan] = ()  # and what has fields to fill in
    articles: Sequence[LineSpan] = ()
    values: Sequence[LineSpan] = ()  # of a label in the cell, or the term, before


def find_title_line(region: MainRegion, elements: ElementLines, main_mask: bytes | bytearray) -> int:
    """Number the line of the title of a core: of the first level, or whatever heading is nearest above it."""
    titles = _find_title_lines(region, elements, main_mask) or [
        line for line, _ in elements.headings if main_mask[line]
    ]
    return max((line for line in titles if line < region.first_line), default=region.first_line)


def select_below_title(
    region: MainRegion, elements: ElementLines, main_mask: bytes | bytearray, parts: list[slice]
) -> list[slice]:
    """Leave out the parts above a title of the first level: no document begins there, but bars and banners stand."""
    title = max(_find_title_lines(region, elements, main_mask), default=0)
    return [part for part in parts if part.stop > title]


def _find_title_lines(region: MainRegion, elements: ElementLines, main_mask: bytes | bytearray) -> list[int]:
    """Number the lines of titles of the first level, down to the end of a core."""
    return [line for line, _ in elements.titles if line < region.end_line and main_mask[line]]


def mask_side_content(
    lines: list[str], main_mask: bytes | bytearray, parts: list[slice], elements: ElementLines
) -> bytearray:
    """Paint those lines of the parts beside a core that are content."""
    area, told = bytearray(len(lines)), _PartFeatures(lines, elements)
    beside, listed, asking = (bytearray(len(lines)) for _ in range(3))
    for part in reversed(parts):  # inner ones last
        size = part.stop - part.start
        beside[part] = b"\1" * size
        listed[part] = bytes([told.is_link_list(part)]) * size
        if told.is_prompt(part):
            asking[part] = b"\1" * size
    for part in parts:
        if told.is_section(part) and not asking[part.start]:
            area[part] = main_mask[part]
    for place in _find_facts(
        lines, [n for n in compress(range(len(lines)), beside) if main_mask[n] and not listed[n]], elements
    ):
        area[place] = 1
    for first, last in elements.values:
        if last == first + 1 <= len(lines) and beside[first] and told.is_short_text(first):
            area[first] = main_mask[first]
    return area


def is_link_only(length: int, link_chars: int) -> bool:
    """Say whether a line is nothing but links."""
    return 0 < MIN_LINK_ONLY_SHARE * length <= link_chars


def find_price_lines(lines: list[str], line_indexes: list[int]) -> list[int]:
    """Choose the lines that tell a price, or whether a thing is there."""
    marks = flag_price_lines([lines[place] for place in line_indexes], b"\1" * len(line_indexes))
    return [place for place, mark in zip(line_indexes, marks, strict=True) if mark & PRICE_FLAG]


def _find_facts(lines: list[str], line_indexes: list[int], elements: ElementLines) -> Iterable[int]:
    """Choose the short lines that tell something worth knowing, and lead nowhere."""
    line_indexes = [
        n
        for n in line_indexes
        if len(lines[n]) <= MAX_LINE_LENGTH and not is_link_only(len(lines[n]), elements.link_chars.get(n, 0))
    ]
    return {*find_price_lines(lines, line_indexes), *(place for place in line_indexes if FACT_LINE.match(lines[place]))}


class _PartFeatures:
    """What the lines of a page say about its parts."""

    def __init__(self, lines: list[str], elements: ElementLines) -> None:
        self.elements = elements
        self.char_counts = list(map(len, lines))
        self.char_sums = [0, *accumulate(self.char_counts)]
        inside = [0] * len(lines)
        for place in filter(len(lines).__gt__, elements.link_chars):
            inside[place] = elements.link_chars[place]
        self.link_char_sums = [0, *accumulate(inside)]
        self.outgoing_lines = sorted(
            n
            for n, size in elements.link_chars.items()
            if size and n < len(lines) and _is_outgoing_link(lines[n], size)
        )
        self.heading_lines, self.button_lines, self.article_lines = (
            sorted(first for first, _ in rows) for rows in (elements.headings, elements.buttons, elements.articles)
        )

    def is_section(self, part: slice) -> bool:
        """Say whether a part has a heading, or is an article, and neither buttons nor links that lead elsewhere.

        At the end of what is told at length may be a link: the last section of a review, say.
        """
        if (
            _count_starts(self.button_lines, part)
            or self.is_link_list(part)
            or (_count_starts(self.outgoing_lines, part) and not self.is_long_text(part))
        ):
            return False
        return _count_starts(self.heading_lines, part) > 0 or _count_starts(self.article_lines, part) > 0

    def is_long_text(self, part: slice) -> bool:
        """Say whether a part has long lines, and few links beside them."""
        inside: int = self.link_char_sums[part.stop] - self.link_char_sums[part.start]
        return sum(filter(LONG_LINE_LENGTH.__le__, self.char_counts[part])) > max(
            2 * LONG_LINE_LENGTH, MIN_TEXT_TO_LINK_RATIO * inside
        )

    def is_prompt(self, part: slice) -> bool:
        """Say whether a part has buttons under its only heading: it wants an answer."""
        return _count_starts(self.heading_lines, part) == 1 and _count_starts(self.button_lines, part) > 0

    def is_link_list(self, part: slice) -> bool:
        """Say whether a part is links for the most part."""
        inside: int = self.link_char_sums[part.stop] - self.link_char_sums[part.start]
        whole: int = self.char_sums[part.stop] - self.char_sums[part.start]
        return 2 * inside > whole

    def is_short_text(self, line_index: int) -> bool:
        """Say whether a line is short, and leads nowhere."""
        return 0 < self.char_counts[line_index] <= MAX_LINE_LENGTH and line_index not in self.elements.link_chars


def _is_outgoing_link(line: str, link_chars: int) -> bool:
    """Say whether a line is a link and no address: it leads elsewhere."""
    return is_link_only(len(line), link_chars) and "@" not in line


def _count_starts(starts: list[int], part: slice) -> int:
    return bisect_left(starts, part.stop) - bisect_left(starts, part.start)

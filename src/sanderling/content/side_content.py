"""Find content outside the main region: sections with a heading, prices, and short facts.

Banners and newsletter boxes have buttons and fields; bars and footers are mostly links; teasers and calls to action
have a link on a line of its own.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate, compress

from msgspec import Struct

from sanderling.content.main_region import MainRegion
from sanderling.content.prices import MAX_LINE_LENGTH, PRICE_FLAG, flag_price_lines

MIN_LINK_ONLY_SHARE = 0.8  # of the characters of a line
LONG_LINE_LENGTH = 200  # characters; longer than a link text
MIN_TEXT_TO_LINK_RATIO = 3  # long lines to link text
match_fact_line = re.compile(r"[^\W\d][^:：]{1,30}[:：].*\d").match  # "Deadline: 5 May"

LineSpan = tuple[int, int]
"""First line of an element, and the line after its last."""


class ElementLines(Struct, frozen=True):
    """Line spans of elements that distinguish content from boilerplate."""

    link_chars: dict[int, int]  # characters of a line inside links, without buttons
    headings: Sequence[LineSpan] = ()
    titles: Sequence[LineSpan] = ()  # first-level headings
    buttons: Sequence[LineSpan] = ()  # and elements with input fields
    articles: Sequence[LineSpan] = ()
    values: Sequence[LineSpan] = ()  # table cells and definitions that follow a label


def find_title_line(region: MainRegion, elements: ElementLines, main_mask: bytes | bytearray) -> int:
    """Return the line of the title above the region: a first-level heading, or the nearest heading."""
    titles = _find_title_lines(region, elements, main_mask) or [
        line for line, _ in elements.headings if main_mask[line]
    ]
    return max((line for line in titles if line < region.first_line), default=region.first_line)


def select_below_title(
    region: MainRegion, elements: ElementLines, main_mask: bytes | bytearray, parts: list[slice]
) -> list[slice]:
    """Return the parts that are not above the first-level title; bars and banners are above it."""
    title = max(_find_title_lines(region, elements, main_mask), default=0)
    return [part for part in parts if part.stop > title]


def _find_title_lines(region: MainRegion, elements: ElementLines, main_mask: bytes | bytearray) -> list[int]:
    return [line for line, _ in elements.titles if line < region.end_line and main_mask[line]]


def mask_side_content(
    lines: list[str], main_mask: bytes | bytearray, parts: list[slice], elements: ElementLines
) -> bytearray:
    mask, features = bytearray(len(lines)), _PartFeatures(lines, elements)
    outside, in_link_list, in_prompt = (bytearray(len(lines)) for _ in range(3))
    for part in reversed(parts):  # inner parts override outer ones
        length = part.stop - part.start
        outside[part] = b"\1" * length
        in_link_list[part] = bytes([features.is_link_list(part)]) * length
        if features.is_prompt(part):
            in_prompt[part] = b"\1" * length
    for part in parts:
        if features.is_section(part) and not in_prompt[part.start]:
            mask[part] = main_mask[part]
    for n in _find_facts(
        lines, [n for n in compress(range(len(lines)), outside) if main_mask[n] and not in_link_list[n]], elements
    ):
        mask[n] = 1
    for first, last in elements.values:
        if last == first + 1 <= len(lines) and outside[first] and features.is_short_text(first):
            mask[first] = main_mask[first]
    return mask


def is_link_only(length: int, link_chars: int) -> bool:
    """Return whether nearly all characters of a line are inside links."""
    return 0 < MIN_LINK_ONLY_SHARE * length <= link_chars


def find_price_lines(lines: list[str], line_indexes: list[int]) -> list[int]:
    flags = flag_price_lines([lines[n] for n in line_indexes], b"\1" * len(line_indexes))
    return [n for n, flag in zip(line_indexes, flags, strict=True) if flag & PRICE_FLAG]


def _find_facts(lines: list[str], line_indexes: list[int], elements: ElementLines) -> Iterable[int]:
    """Return short lines with a price or a labeled number that are not links."""
    line_indexes = [
        n
        for n in line_indexes
        if len(lines[n]) <= MAX_LINE_LENGTH and not is_link_only(len(lines[n]), elements.link_chars.get(n, 0))
    ]
    return {*find_price_lines(lines, line_indexes), *(n for n in line_indexes if match_fact_line(lines[n]))}


class _PartFeatures:
    """Features of page parts, with prefix sums for fast counting."""

    def __init__(self, lines: list[str], elements: ElementLines) -> None:
        self.elements = elements
        self.char_counts = list(map(len, lines))
        self.char_sums = [0, *accumulate(self.char_counts)]
        link_chars = [0] * len(lines)
        for n in filter(len(lines).__gt__, elements.link_chars):
            link_chars[n] = elements.link_chars[n]
        self.link_char_sums = [0, *accumulate(link_chars)]
        self.outgoing_lines = sorted(
            n
            for n, size in elements.link_chars.items()
            if size and n < len(lines) and _is_outgoing_link(lines[n], size)
        )
        self.heading_lines, self.button_lines, self.article_lines = (
            sorted(first for first, _ in spans) for spans in (elements.headings, elements.buttons, elements.articles)
        )

    def is_section(self, part: slice) -> bool:
        """Return whether a part is an article or has a heading, without buttons or outgoing links.

        A long text may end with a link, such as the last section of a review.
        """
        if (
            _count_starts(self.button_lines, part)
            or self.is_link_list(part)
            or (_count_starts(self.outgoing_lines, part) and not self.is_long_text(part))
        ):
            return False
        return _count_starts(self.heading_lines, part) > 0 or _count_starts(self.article_lines, part) > 0

    def is_long_text(self, part: slice) -> bool:
        link_chars: int = self.link_char_sums[part.stop] - self.link_char_sums[part.start]
        return sum(filter(LONG_LINE_LENGTH.__le__, self.char_counts[part])) > max(
            2 * LONG_LINE_LENGTH, MIN_TEXT_TO_LINK_RATIO * link_chars
        )

    def is_prompt(self, part: slice) -> bool:
        return _count_starts(self.heading_lines, part) == 1 and _count_starts(self.button_lines, part) > 0

    def is_link_list(self, part: slice) -> bool:
        link_chars: int = self.link_char_sums[part.stop] - self.link_char_sums[part.start]
        length: int = self.char_sums[part.stop] - self.char_sums[part.start]
        return 2 * link_chars > length

    def is_short_text(self, line_index: int) -> bool:
        return 0 < self.char_counts[line_index] <= MAX_LINE_LENGTH and line_index not in self.elements.link_chars


def _is_outgoing_link(line: str, link_chars: int) -> bool:
    return is_link_only(len(line), link_chars) and "@" not in line


def _count_starts(starts: list[int], part: slice) -> int:
    return bisect_left(starts, part.stop) - bisect_left(starts, part.start)

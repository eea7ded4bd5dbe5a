"""What is seen of the lines of a text: which are links, headings and known phrases, and the parts they stand in."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import compress, count
from operator import mul, not_

from msgspec import Struct

from sanderling.content.main_region import CharSpan
from sanderling.content.phrases import (
    KIND_BY_PHRASE_KEY,
    MAX_PHRASE_LENGTH,
    PHRASE_KEY_PREFIXES,
    classify_link_line,
    compute_phrase_keys,
)
from sanderling.content.side_content import LineSpan

MIN_PROSE_LENGTH = 40  # characters from which a line counts as prose
LONG_LINE_LENGTH = 200  # characters from which a line is no title of another page
CJK_WEIGHT = 3  # letters of an alphabet say as much as one of a script that writes a word in one or two
find_cjk_chars = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]").findall  # kana, Han, Hangul


def compute_weighted_length(text: str) -> int:
    """Measure how much some words say, in letters of an alphabet."""
    return len(text) if text.isascii() else len(text) + (CJK_WEIGHT - 1) * len(find_cjk_chars(text))


def compute_weighted_lengths(lines: Sequence[str]) -> list[int]:
    """Measure how much each of some lines says; most are written in an alphabet."""
    sizes = list(map(len, lines))
    for place in compress(count(), map(not_, map(str.isascii, lines))):
        sizes[place] = compute_weighted_length(lines[place])
    return sizes


class PageLines(Struct, frozen=True):
    """The lines of a page, and where its elements are."""

    lines: list[str]
    weighted_lengths: list[int]
    line_ends: list[int]  # of each line, with the line feed
    main_mask: bytes | bytearray  # which of them may be text
    link_chars: dict[int, int]  # lines with links and buttons
    link_only_lines: set[int]  # lines that are nothing but that
    containers: Sequence[CharSpan]
    headings: Sequence[LineSpan] = ()
    titles: Sequence[LineSpan] = ()  # headings of the first level
    buttons: Sequence[LineSpan] = ()
    form_parts: Sequence[LineSpan] = ()  # what has fields to fill in
    share_links: Sequence[LineSpan] = ()  # links by which a page is shared
    inline_candidates: Sequence[LineSpan] = ()  # what has a telling name
    aside_parts: Sequence[LineSpan] = ()  # what the page says stands beside its text


class LineFeatures:
    """The lines of a text, seen as furniture may be inside of it."""

    def __init__(self, page: PageLines) -> None:
        self.page, self.lines = page, page.lines
        sizes, main = page.weighted_lengths, page.main_mask
        self.text_lines = list(compress(count(), map(mul, main, sizes)))  # lines of the text that have words
        self.link_only_lines = {n for n in page.link_only_lines if main[n] and sizes[n] < LONG_LINE_LENGTH}
        self.heading_lines = {first for first, _ in page.headings if first < len(sizes) and main[first]}
        self.share_lines = {first for first, _ in page.share_links} & self.link_only_lines
        self.phrase_keys = self._compute_phrase_keys()
        self.phrase_kinds = self._classify_phrases()
        self.decisive_lines = {
            *self.heading_lines,
            *self.phrase_kinds,
        }  # lines whose words decide; those with links always do

    def _compute_phrase_keys(self) -> dict[int, bytes]:
        """Read the letters of the short lines."""
        sizes = self.page.weighted_lengths
        short = [n for n in self.text_lines if sizes[n] <= MAX_PHRASE_LENGTH]
        return dict(zip(short, compute_phrase_keys([self.lines[n] for n in short]), strict=True))

    def _classify_phrases(self) -> dict[int, str]:
        """Say of the lines that tell what they are, what that is."""
        keys, sorts = self.phrase_keys, {}
        if not KIND_BY_PHRASE_KEY.keys().isdisjoint(keys.values()):
            sorts = {n: KIND_BY_PHRASE_KEY[key] for n, key in keys.items() if key in KIND_BY_PHRASE_KEY}
        for place in keys.keys() & self.page.link_chars.keys():
            if (key := keys[place])[:2] in PHRASE_KEY_PREFIXES and place not in sorts:
                sort = classify_link_line(key, place in self.link_only_lines)
                sorts |= {place: sort} if sort else {}
        return sorts

    @cached_property
    def title_lines(self) -> list[int]:
        """The lines of titles of the first level."""
        return sorted(first for first, _ in self.page.titles)

    @cached_property
    def control_lines(self) -> list[int]:
        """The lines at which something begins that can be pressed or filled in."""
        return sorted(first for first, _ in (*self.page.buttons, *self.page.form_parts))

    def find_phrase_lines(self, *kinds: str) -> list[int]:
        """Number the lines of some sorts."""
        return sorted(n for n, sort in self.phrase_kinds.items() if sort in kinds)

    def get_text_lines(self, part: LineSpan) -> list[int]:
        """Number the lines of a part that have words."""
        return self.text_lines[bisect_left(self.text_lines, part[0]) : bisect_left(self.text_lines, part[1])]

    def iterate_enclosing_parts(self, line_index: int, max_lines: int) -> Iterator[tuple[LineSpan, list[int]]]:
        """Go through the parts around a line that have at most so many lines, from the inside out, with their lines."""
        ends = self.page.line_ends
        at = (ends[line_index] - 1 + (ends[line_index - 1] if line_index else 0)) // 2
        for start, end in [box for box in self.page.containers if box[0] <= at < box[1]]:
            part = bisect_right(ends, start), min(bisect_left(ends, end) + 1, len(ends))
            inside = self.get_text_lines(part)
            if len(inside) > max_lines:
                return
            self.decisive_lines.update(inside)
            if inside:
                yield part, inside

    def get_lowercase_text(self, line_indexes: Sequence[int]) -> str:
        """Read some lines, in small letters."""
        return "\n".join([self.lines[n] for n in line_indexes]).lower()

    def is_prose(self, line_index: int) -> bool:
        """Say whether a line is prose, and more than a link."""
        return self.page.weighted_lengths[line_index] >= MIN_PROSE_LENGTH and line_index not in self.link_only_lines

    def has_title(self, part: LineSpan) -> bool:
        """Say whether a title of the first level is in a part."""
        return _has_start_in(self.title_lines, part)

    def has_controls(self, part: LineSpan) -> bool:
        """Say whether something in a part can be pressed or filled in."""
        return _has_start_in(self.control_lines, part)


def _has_start_in(starts: list[int], part: LineSpan) -> bool:
    return bisect_left(starts, part[1]) > bisect_left(starts, part[0])

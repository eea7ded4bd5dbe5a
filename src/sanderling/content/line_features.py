"""Features of text lines: links, headings, known phrases, and the containers around them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import compress, count
from operator import mul, not_

from msgspec import Struct

from sanderling.content.main_region import CharSpan
from sanderling.content.phrases import MAX_PHRASE_LENGTH, classify_link_line, compute_phrase_keys, load_phrases
from sanderling.content.side_content import LineSpan

MIN_PROSE_LENGTH = 40  # characters; shorter lines are not prose
LONG_LINE_LENGTH = 200  # characters; a longer line is not the title of another page
CJK_WEIGHT = 3  # letters that carry as much text as one CJK character
find_cjk_chars = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]").findall  # kana, Han, Hangul


def compute_weighted_length(text: str) -> int:
    """Return the length of a text; a CJK character counts as `CJK_WEIGHT` letters."""
    return len(text) if text.isascii() else len(text) + (CJK_WEIGHT - 1) * len(find_cjk_chars(text))


def compute_weighted_lengths(lines: Sequence[str]) -> list[int]:
    """Return the weighted length of each line; fast for ASCII lines."""
    lengths = list(map(len, lines))
    for n in compress(count(), map(not_, map(str.isascii, lines))):
        lengths[n] = compute_weighted_length(lines[n])
    return lengths


class PageLines(Struct, frozen=True):
    """The lines of a page and the spans of its elements."""

    lines: list[str]
    weighted_lengths: list[int]
    line_ends: list[int]  # character offsets, including the line feed
    main_mask: bytes | bytearray  # lines that may be main content
    link_chars: dict[int, int]  # characters of a line inside links and buttons
    link_only_lines: set[int]
    containers: Sequence[CharSpan]
    headings: Sequence[LineSpan] = ()
    titles: Sequence[LineSpan] = ()  # first-level headings
    buttons: Sequence[LineSpan] = ()
    form_parts: Sequence[LineSpan] = ()  # elements with input fields
    share_links: Sequence[LineSpan] = ()
    inline_candidates: Sequence[LineSpan] = ()  # elements whose class name indicates boilerplate
    aside_parts: Sequence[LineSpan] = ()  # <aside> elements


class LineFeatures:
    """Features of the main content lines, as input for the rules of inline boilerplate."""

    def __init__(self, page: PageLines) -> None:
        self.page, self.lines = page, page.lines
        sizes, main = page.weighted_lengths, page.main_mask
        self.text_lines = list(compress(count(), map(mul, main, sizes)))
        self.link_only_lines = {n for n in page.link_only_lines if main[n] and sizes[n] < LONG_LINE_LENGTH}
        self.heading_lines = {first for first, _ in page.headings if first < len(sizes) and main[first]}
        self.share_lines = {first for first, _ in page.share_links} & self.link_only_lines
        self.phrase_keys = self._compute_phrase_keys()
        self.phrase_kinds = self._classify_phrases()
        self.decisive_lines = {
            *self.heading_lines,
            *self.phrase_kinds,
        }  # lines whose text influenced the result; lines with links always do

    def _compute_phrase_keys(self) -> dict[int, bytes]:
        sizes = self.page.weighted_lengths
        short = [n for n in self.text_lines if sizes[n] <= MAX_PHRASE_LENGTH]
        return dict(zip(short, compute_phrase_keys([self.lines[n] for n in short]), strict=True))

    def _classify_phrases(self) -> dict[int, str]:
        """Classify lines that match a known boilerplate phrase. Returns `{line number: phrase kind}`."""
        keys, kinds, phrases = self.phrase_keys, {}, load_phrases()
        kind_by_key, prefixes = phrases.kind_by_key, phrases.link_line_prefixes
        if not kind_by_key.keys().isdisjoint(keys.values()):
            kinds = {n: kind_by_key[key] for n, key in keys.items() if key in kind_by_key}
        for n in keys.keys() & self.page.link_chars.keys():
            if (key := keys[n])[:2] in prefixes and n not in kinds:
                kind = classify_link_line(key, n in self.link_only_lines)
                kinds |= {n: kind} if kind else {}
        return kinds

    @cached_property
    def title_lines(self) -> list[int]:
        return sorted(first for first, _ in self.page.titles)

    @cached_property
    def control_lines(self) -> list[int]:
        """Lines at which a button or form part starts."""
        return sorted(first for first, _ in (*self.page.buttons, *self.page.form_parts))

    def find_phrase_lines(self, *kinds: str) -> list[int]:
        """Return the lines with phrases of the given kinds."""
        return sorted(n for n, kind in self.phrase_kinds.items() if kind in kinds)

    def get_text_lines(self, part: LineSpan) -> list[int]:
        """Return the non-empty main content lines of a part."""
        return self.text_lines[bisect_left(self.text_lines, part[0]) : bisect_left(self.text_lines, part[1])]

    def iterate_enclosing_parts(self, line_index: int, max_lines: int) -> Iterator[tuple[LineSpan, list[int]]]:
        """Yield the containers around a line with up to `max_lines` lines, innermost first, with their lines."""
        ends = self.page.line_ends
        middle = (ends[line_index] - 1 + (ends[line_index - 1] if line_index else 0)) // 2
        for start, end in [container for container in self.page.containers if container[0] <= middle < container[1]]:
            part = bisect_right(ends, start), min(bisect_left(ends, end) + 1, len(ends))
            part_lines = self.get_text_lines(part)
            if len(part_lines) > max_lines:
                return
            self.decisive_lines.update(part_lines)
            if part_lines:
                yield part, part_lines

    def get_lowercase_text(self, line_indexes: Sequence[int]) -> str:
        return "\n".join([self.lines[n] for n in line_indexes]).lower()

    def is_prose(self, line_index: int) -> bool:
        return self.page.weighted_lengths[line_index] >= MIN_PROSE_LENGTH and line_index not in self.link_only_lines

    def has_title(self, part: LineSpan) -> bool:
        return _has_start_in(self.title_lines, part)

    def has_controls(self, part: LineSpan) -> bool:
        """Return whether a part has buttons or form fields."""
        return _has_start_in(self.control_lines, part)


def _has_start_in(starts: list[int], part: LineSpan) -> bool:
    return bisect_left(starts, part[1]) > bisect_left(starts, part[0])

"""Map the labeled character spans of a page to the lines they cover.

`LineCoverage` also records which lines and margins its comparisons depend on, so that an edit elsewhere on the page can
be recognized as irrelevant for the main content.
"""

from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate, compress, repeat
from operator import itemgetter

from sanderling.content.line_features import MIN_PROSE_LENGTH, compute_weighted_lengths
from sanderling.content.side_content import LineSpan, is_link_only

MAX_BOILERPLATE_SHARE = 0.4  # a landmark, banner, or <noscript> with a larger share of the prose is content
MAIN, EXCLUDED, NAV_OR_FOOTER, SELECT, LANDMARK, NAMED_BOILERPLATE = (
    "main",
    "excluded",
    "nav_or_footer",
    "select",
    "landmark",
    "named_boilerplate",
)
LINK, WATCHED, VERBATIM, HIDDEN, CONTAINER = "link", "watched", "verbatim", "hidden", "container"
TITLE, HEADING, BUTTON, FORM_PART, ARTICLE, VALUE = "title", "heading", "button", "form_part", "article", "value"
INLINE_CANDIDATE, SHARE_LINK, COMMENT, ASIDE = "inline_candidate", "share_link", "comment", "aside"
SIDEBAR, NOSCRIPT = "sidebar", "noscript"
# A span of these labels inside a line covers the line only if it is at least half of it.
BOILERPLATE_LABELS = frozenset((EXCLUDED, NAV_OR_FOOTER, SELECT, LANDMARK, NAMED_BOILERPLATE, HIDDEN, NOSCRIPT))
add_line_feed = (1).__add__


class LineCoverage:
    """The lines of a page, with the line spans of each label and the link characters of each line."""

    def __init__(self, lines: list[str], spans: list[tuple[int, int, str]]) -> None:
        self.lines, self.char_counts = lines, list(map(len, lines))
        self.weighted_lengths = compute_weighted_lengths(lines)
        self.decisive_lines = set[int]()  # lines whose text influenced the classification
        self.margin = float(sum(self.weighted_lengths))  # smallest difference in any comparison so far
        self.line_ends = list(accumulate(map(add_line_feed, self.char_counts)))
        self.spans: dict[str, list[LineSpan]] = {}
        # (label, line): end of the last covered piece, and number of covered characters
        self.partial_covers: dict[tuple[str, int], tuple[int, int]] = {}
        self.link_chars: dict[int, int] = {}  # characters of a line inside links and buttons
        self.button_chars: dict[int, int] = {}
        self.containers = [(start, end) for start, end, label in spans if label == CONTAINER]
        self._add_spans([span for span in spans if span[2] != CONTAINER] if self.containers else spans)
        self._add_mostly_covered_lines()
        self.excluded_mask = self.build_mask(EXCLUDED)
        self.prose_lengths = [length if length >= MIN_PROSE_LENGTH else 0 for length in self.weighted_lengths]
        self.exclude_from_prose(self.excluded_mask)

    def _add_spans(self, spans: list[tuple[int, int, str]]) -> None:
        ends, linked = self.line_ends, self.link_chars
        first_lines = map(bisect_right, repeat(ends), map(itemgetter(0), spans))
        for first, (start, end, label) in zip(first_lines, spans, strict=True):
            if label == LINK:
                if end <= ends[first]:
                    linked[first] = linked.get(first, 0) + end - start
                else:
                    self._add_char_counts(linked, first, start, end)
                continue
            if label == BUTTON:
                self._add_char_counts(self.button_chars, first, start, end)
            last = bisect_left(ends, end, first) + 1
            if label in BOILERPLATE_LABELS and last == first + 1 and end - start < self.char_counts[first]:
                self._add_partial_cover(label, first, start, end)
            else:
                self.spans.setdefault(label, []).append((first, last))

    def _add_partial_cover(self, label: str, line_index: int, start: int, end: int) -> None:
        """Count the characters of a line that a label covers; overlapping spans count once."""
        covered_end, size = self.partial_covers.get((label, line_index), (0, 0))
        self.partial_covers[label, line_index] = max(covered_end, end), size + max(0, end - max(start, covered_end))

    def _add_mostly_covered_lines(self) -> None:
        """Add lines that a label covers by half or more; a hidden word or tooltip does not hide its line."""
        for (label, line), (_, size) in self.partial_covers.items():
            self.decisive_lines.add(line)
            if 2 * size >= self.char_counts[line]:
                self.spans.setdefault(label, []).append((line, line + 1))

    def _add_char_counts(self, counts: dict[int, int], line_index: int, start: int, end: int) -> None:
        """Distribute the characters of a span over its lines, from `line_index` on."""
        while end > self.line_ends[line_index]:
            if start < self.line_ends[line_index] - 1:
                counts[line_index] = counts.get(line_index, 0) + self.line_ends[line_index] - 1 - start
            start, line_index = self.line_ends[line_index], line_index + 1
        counts[line_index] = counts.get(line_index, 0) + end - start

    def exclude_from_prose(self, mask: bytearray) -> None:
        """Set the prose length of masked lines to 0."""
        for n in compress(range(len(mask)), mask) if 1 in mask else ():
            self.prose_lengths[n] = 0

    def build_mask(self, label: str, max_prose: float = 0.0) -> bytearray:
        """Mask the lines inside spans of a label, except spans with more than `max_prose` (0: no limit)."""
        mask = bytearray(len(self.weighted_lengths))
        for first, last in self.spans.get(label, ()):
            if not max_prose or self.is_at_most(sum(self.prose_lengths[first:last]), max_prose):
                mask[first:last] = b"\1" * (min(last, len(mask)) - first)
        return mask

    @cached_property
    def link_only_lines(self) -> set[int]:
        """Lines that consist of links."""
        return {
            n
            for n, inside in self.link_chars.items()
            if n < len(self.weighted_lengths) and is_link_only(self.char_counts[n], inside)
        }

    def is_at_most(self, value: float, limit: float) -> bool:
        """Return whether `value <= limit`, and record the difference in `margin`."""
        self.margin = min(self.margin, abs(value - limit))
        return value <= limit


def mark_lines(mask: bytearray, other_mask: bytearray, value: int = 1) -> None:
    """Set the lines of another mask in a mask, or clear them if `value` is 0."""
    if 1 not in other_mask:
        return
    old, other = int.from_bytes(mask, "little"), int.from_bytes(other_mask, "little")
    mask[:] = (old | other if value else old & ~other).to_bytes(len(mask), "little")

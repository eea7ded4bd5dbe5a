"""Locate the main region of a page that does not declare its main element.

The main region is the smallest container with nearly all of the text. Containers above its title or below its end are
banners, bars, and footers, whatever their names are.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, islice
from operator import mul

from msgspec import Struct

from sanderling.html.parser import Document, Element
from sanderling.html.text import CELL_TAGS, MAX_TEXT, get_element_text

MAIN_REGION_SHARE = 0.8  # of the text outside boilerplate
MIN_PAGE_CHARS = 2_000  # a shorter page has no main region: all of it is main content
CONTAINER_TAGS = ("div", "section", "article")  # and table cells: see `flatten_layout`
MIN_PROSE_LENGTH = 40  # characters
MAX_ELEMENTS_PER_TAG = 2_000
MAX_TRIED_ELEMENTS = 20  # the first usually matches, unless part of the page is hidden

CharSpan = tuple[int, int]
"""First character of an element's text, and the character after its last."""


class MainRegion(Struct, frozen=True):
    """The main region of a page, with all containers of the page."""

    span: CharSpan
    first_line: int
    end_line: int
    containers: list[CharSpan]  # of the whole page, inner before outer
    line_ends: list[int]  # character offsets, including the line feed

    def list_outside_parts(self, title_line: int) -> Iterator[slice]:
        """Yield the lines of containers outside the region, above its title or below its end."""
        start, end = self.span
        for container in self.containers:
            if container[0] >= end or container[1] <= start:
                first, last = _get_line_span(container, self.line_ends)
                last = min(last, title_line if first < self.first_line else len(self.line_ends))
                if first < last:
                    yield slice(first, last)

    def is_amid_prose(self, first_line: int, last_line: int, prose_mask: bytes | bytearray) -> bool:
        """Return whether prose precedes and follows some lines within their innermost container."""
        if not self.first_line <= first_line <= last_line < self.end_line:
            return False
        line_spans = (
            _get_line_span(container, self.line_ends)
            for container in _find_enclosing_containers(self.containers, self.line_ends, first_line)
        )
        start, end = next(
            (span for span in line_spans if span[0] <= first_line and last_line < span[1]), (first_line, last_line + 1)
        )
        return 1 in prose_mask[start:first_line] and 1 in prose_mask[last_line + 1 : end]


def find_main_region(
    weighted_lengths: list[int], line_ends: list[int], main_mask: bytes | bytearray, containers: list[CharSpan]
) -> tuple[MainRegion | None, float]:
    """Return the main region (None if there is none) and the margin of the decision.

    The margin is the number of characters that may be added or removed before the result could change.
    """
    sums = [0, *accumulate(map(mul, weighted_lengths, main_mask))]
    total, margin = sums[-1], float(abs(sums[-1] - MIN_PAGE_CHARS))
    if total < MIN_PAGE_CHARS:
        return None, margin
    margin = min(margin, (MAIN_REGION_SHARE - 0.5) * total)
    middle = bisect_left(sums, total / 2) - 1  # a container with most of the text contains its middle line
    enclosing = _find_enclosing_containers(containers, line_ends, middle) if middle >= 0 else []
    for number, container in enumerate(enclosing):
        first, last = _get_line_span(container, line_ends)
        surplus = sums[last] - sums[first] - MAIN_REGION_SHARE * total
        margin = min(margin, abs(surplus))
        if surplus > 0:
            region = MainRegion(container, first, last, containers, line_ends)
            return _extend_region(
                region,
                enclosing[number + 1 :],
                bytearray(map(MIN_PROSE_LENGTH.__le__, map(mul, weighted_lengths, main_mask))),
            ), margin
    return None, margin


def _extend_region(region: MainRegion, outer_spans: list[CharSpan], prose_mask: bytearray) -> MainRegion:
    """Extend the region to an enclosing container with further prose: the region is a section of it."""
    for part in region.list_outside_parts(region.first_line):
        prose_mask[part] = bytes(part.stop - part.start)
    for container in outer_spans:
        first, last = _get_line_span(container, region.line_ends)
        if 1 in prose_mask[first : region.first_line] or 1 in prose_mask[region.end_line : last]:
            region = MainRegion(container, first, last, region.containers, region.line_ends)
    return region


def _get_line_span(span: CharSpan, line_ends: list[int]) -> tuple[int, int]:
    return bisect_right(line_ends, span[0]), min(bisect_left(line_ends, span[1]) + 1, len(line_ends))


def _find_enclosing_containers(containers: list[CharSpan], line_ends: list[int], line_index: int) -> list[CharSpan]:
    """Return the containers around a line, innermost first."""
    middle = (line_ends[line_index] + (line_ends[line_index - 1] if line_index else 0)) // 2
    return [container for container in containers if container[0] <= middle < container[1]]


def has_common_container(
    containers: list[CharSpan], line_ends: list[int], line_index: int, other_line_index: int
) -> bool:
    """Return whether the innermost container around a line (or the page) also contains another line."""
    first, last = _get_line_span(
        next(iter(_find_enclosing_containers(containers, line_ends, line_index)), (0, line_ends[-1])), line_ends
    )
    return first <= other_line_index < last


def find_region_element(region: MainRegion, tree: Document, lines: list[str]) -> Element | None:
    """Return the element of the main region, located by a unique line of its text, or None."""
    counts = Counter([line for line in lines if len(line) >= MIN_PROSE_LENGTH])
    region_lines = enumerate(lines[region.first_line : region.end_line], region.first_line)
    unique_lines = {
        line: line_index for line_index, line in region_lines if len(line) >= MIN_PROSE_LENGTH and counts[line] == 1
    }
    for element, line_index in islice(_iterate_line_elements(tree, unique_lines), MAX_TRIED_ELEMENTS):
        spans = _find_enclosing_containers(region.containers, region.line_ends, line_index)
        elements = [
            ancestor
            for ancestor in (element, *element.ancestors)
            if isinstance(ancestor, Element) and _is_container(ancestor)
        ]
        if region.span in spans and len(spans) == len(elements):
            return elements[spans.index(region.span)]
    return None


def _iterate_line_elements(tree: Document, line_indexes: dict[str, int]) -> Iterator[tuple[Element, int]]:
    """Yield the elements whose text equals a line, with the line number."""
    budget = 2 * MAX_TEXT
    for element in _iterate_leaf_elements(tree) if line_indexes else ():
        line_index = line_indexes.get(get_element_text(element))
        if line_index is not None:
            yield element, line_index
        budget -= len(element.text)
        if budget < 0:
            return


def _iterate_leaf_elements(tree: Document) -> Iterator[Element]:
    """Yield elements that may hold a whole line. Elements of a tag are not nested, so text is read once."""
    for tag in ("p", "li", "dd", "td", "span", "div"):
        for element in tree.find_all(tag)[:MAX_ELEMENTS_PER_TAG]:
            if element.find(tag) is None and (tag == "div" or element.find("div") is None):
                yield element


def _is_container(element: Element) -> bool:
    return element.tag in CONTAINER_TAGS or element.tag in CELL_TAGS

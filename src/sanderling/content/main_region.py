"""The core of a page that does not declare its main part: the smallest part of it with nearly all of the text.

What stands outside of it, above its title or below its end, are banners, bars and footers, whatever they are called.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, islice
from operator import mul

from msgspec import Struct

from sanderling.html.parser import Document, Element
from sanderling.html.text import CELL_TAGS, MAX_TEXT, get_element_text

MAIN_REGION_SHARE = 0.8  # share of the text outside furniture that makes a part the core
MIN_PAGE_CHARS = 2_000  # letters of a page that has a core; all of a short page is read
CONTAINER_TAGS = ("div", "section", "article")  # tags of which a core may be; and cells, see `loosen`
MIN_PROSE_LENGTH = 40  # characters of a line of prose
MAX_ELEMENTS_PER_TAG = 2_000  # elements of one tag among which it is looked for
MAX_TRIED_ELEMENTS = (
    20  # of them that have a line for themselves; the first will do, but where a part of the page is not shown
)

CharSpan = tuple[int, int]
"""The first character of an element's text, and the one after its last."""


class MainRegion(Struct, frozen=True):
    """Where the core of a page is, and what stands beside it."""

    span: CharSpan
    first_line: int  # its lines
    end_line: int
    containers: list[CharSpan]  # all of the page, inner ones before outer ones
    line_ends: list[int]  # of each line of the page, with the line feed

    def list_outside_parts(self, title_line: int) -> Iterator[slice]:
        """List the lines of other parts, up to the title above the core and from its end on."""
        start, end = self.span
        for box in self.containers:
            if box[0] >= end or box[1] <= start:
                first, last = _get_line_span(box, self.line_ends)
                last = min(last, title_line if first < self.first_line else len(self.line_ends))
                if first < last:
                    yield slice(first, last)

    def is_amid_prose(self, first_line: int, last_line: int, prose_mask: bytes | bytearray) -> bool:
        """Say whether prose stands before and behind some lines of the core, in the innermost part that has them."""
        if not self.first_line <= first_line <= last_line < self.end_line:
            return False
        around = (
            _get_line_span(box, self.line_ends)
            for box in _find_enclosing_containers(self.containers, self.line_ends, first_line)
        )
        start, end = next(
            ((one, other) for one, other in around if one <= first_line and last_line < other),
            (first_line, last_line + 1),
        )
        return 1 in prose_mask[start:first_line] and 1 in prose_mask[last_line + 1 : end]


def find_main_region(
    weighted_lengths: list[int], line_ends: list[int], main_mask: bytes | bytearray, containers: list[CharSpan]
) -> tuple[MainRegion | None, float]:
    """Find the core among boxes, and how many letters may come and go before it could be another one."""
    sums = [0, *accumulate(map(mul, weighted_lengths, main_mask))]
    whole, margin = sums[-1], float(abs(sums[-1] - MIN_PAGE_CHARS))
    if whole < MIN_PAGE_CHARS:
        return None, margin
    margin = min(margin, (MAIN_REGION_SHARE - 0.5) * whole)
    middle = bisect_left(sums, whole / 2) - 1  # a part with most of the text has the line in the middle of it
    around = _find_enclosing_containers(containers, line_ends, middle) if middle >= 0 else []
    for number, box in enumerate(around):
        first, last = _get_line_span(box, line_ends)
        spare = sums[last] - sums[first] - MAIN_REGION_SHARE * whole
        margin = min(margin, abs(spare))
        if spare > 0:
            core = MainRegion(box, first, last, containers, line_ends)
            return _extend_region(
                core,
                around[number + 1 :],
                bytearray(map(MIN_PROSE_LENGTH.__le__, map(mul, weighted_lengths, main_mask))),
            ), margin
    return None, margin


def _extend_region(region: MainRegion, outer_spans: list[CharSpan], prose_mask: bytearray) -> MainRegion:
    """Take a part around the core for it that has prose of its own: the core is a section of that."""
    for part in region.list_outside_parts(region.first_line):
        prose_mask[part] = bytes(part.stop - part.start)
    for box in outer_spans:
        first, last = _get_line_span(box, region.line_ends)
        if 1 in prose_mask[first : region.first_line] or 1 in prose_mask[region.end_line : last]:
            region = MainRegion(box, first, last, region.containers, region.line_ends)
    return region


def _get_line_span(span: CharSpan, line_ends: list[int]) -> tuple[int, int]:
    """Number the lines of a box."""
    return bisect_right(line_ends, span[0]), min(bisect_left(line_ends, span[1]) + 1, len(line_ends))


def _find_enclosing_containers(containers: list[CharSpan], line_ends: list[int], line_index: int) -> list[CharSpan]:
    """List the boxes around a line, from the inside out."""
    at = (line_ends[line_index] + (line_ends[line_index - 1] if line_index else 0)) // 2
    return [box for box in containers if box[0] <= at < box[1]]


def has_common_container(
    containers: list[CharSpan], line_ends: list[int], line_index: int, other_line_index: int
) -> bool:
    """Say whether the innermost part around a line has another line too; what stands in none is with all."""
    first, last = _get_line_span(
        next(iter(_find_enclosing_containers(containers, line_ends, line_index)), (0, line_ends[-1])), line_ends
    )
    return first <= other_line_index < last


def find_region_element(region: MainRegion, tree: Document, lines: list[str]) -> Element | None:
    """Find the element that is the core, by one that has a line of it for itself; None if there is none."""
    times = Counter([line for line in lines if len(line) >= MIN_PROSE_LENGTH])
    inside = enumerate(lines[region.first_line : region.end_line], region.first_line)
    places = {line: place for place, line in inside if len(line) >= MIN_PROSE_LENGTH and times[line] == 1}
    for element, place in islice(_iterate_line_elements(tree, places), MAX_TRIED_ELEMENTS):
        chain = _find_enclosing_containers(region.containers, region.line_ends, place)
        boxes = [one for one in (element, *element.ancestors) if isinstance(one, Element) and _is_container(one)]
        if region.span in chain and len(chain) == len(boxes):
            return boxes[chain.index(region.span)]
    return None


def _iterate_line_elements(tree: Document, line_indexes: dict[str, int]) -> Iterator[tuple[Element, int]]:
    """Go through elements that have one of these lines for themselves, each with its line."""
    left = 2 * MAX_TEXT
    for element in _iterate_leaf_elements(tree) if line_indexes else ():
        place = line_indexes.get(get_element_text(element))
        if place is not None:
            yield element, place
        left -= len(element.text)
        if left < 0:
            return


def _iterate_leaf_elements(tree: Document) -> Iterator[Element]:
    """Go through elements that may have a line for themselves; no two of one tag share a text, so each is read once."""
    for tag in ("p", "li", "dd", "td", "span", "div"):
        for element in tree.find_all(tag)[:MAX_ELEMENTS_PER_TAG]:
            if element.find(tag) is None and (tag == "div" or element.find("div") is None):
                yield element


def _is_container(element: Element) -> bool:
    return element.tag in CONTAINER_TAGS or element.tag in CELL_TAGS

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
from sanderling.html.text import CELLS, MAX_TEXT, words_of

CORE = 0.8  # share of the text outside furniture that makes a part the core
SMALLEST = 2_000  # letters of a page that has a core; all of a short page is read
BOXES = ("div", "section", "article")  # tags of which a core may be; and cells, see `loosen`
TELLING = 40  # characters of a line of prose
MAX_ASKED = 2_000  # elements of one tag among which it is looked for
MAX_TRIED = 20  # of them that have a line for themselves; the first will do, but where a part of the page is not shown

Box = tuple[int, int]
"""The first character of an element's text, and the one after its last."""


class Core(Struct, frozen=True):
    """Where the core of a page is, and what stands beside it."""

    box: Box
    first: int  # its lines
    last: int
    boxes: list[Box]  # all of the page, inner ones before outer ones
    ends: list[int]  # of each line of the page, with the line feed

    def beside(self, title: int) -> Iterator[slice]:
        """List the lines of other parts, up to the title above the core and from its end on."""
        start, end = self.box
        for box in self.boxes:
            if box[0] >= end or box[1] <= start:
                first, last = _lines(box, self.ends)
                last = min(last, title if first < self.first else len(self.ends))
                if first < last:
                    yield slice(first, last)

    def is_amid(self, first: int, last: int, prose: bytes | bytearray) -> bool:
        """Say whether prose stands before and behind some lines of the core, in the innermost part that has them."""
        if not self.first <= first <= last < self.last:
            return False
        around = (_lines(box, self.ends) for box in _around(self.boxes, self.ends, first))
        start, end = next(((one, other) for one, other in around if one <= first and last < other), (first, last + 1))
        return 1 in prose[start:first] and 1 in prose[last + 1 : end]


def find_core(
    lengths: list[int], ends: list[int], main: bytes | bytearray, boxes: list[Box]
) -> tuple[Core | None, float]:
    """Find the core among boxes, and how many letters may come and go before it could be another one."""
    sums = [0, *accumulate(map(mul, lengths, main))]
    whole, margin = sums[-1], float(abs(sums[-1] - SMALLEST))
    if whole < SMALLEST:
        return None, margin
    margin = min(margin, (CORE - 0.5) * whole)
    middle = bisect_left(sums, whole / 2) - 1  # a part with most of the text has the line in the middle of it
    around = _around(boxes, ends, middle) if middle >= 0 else []
    for number, box in enumerate(around):
        first, last = _lines(box, ends)
        spare = sums[last] - sums[first] - CORE * whole
        margin = min(margin, abs(spare))
        if spare > 0:
            core = Core(box, first, last, boxes, ends)
            return _widened(core, around[number + 1 :], bytearray(map(TELLING.__le__, map(mul, lengths, main)))), margin
    return None, margin


def _widened(core: Core, around: list[Box], prose: bytearray) -> Core:
    """Take a part around the core for it that has prose of its own: the core is a section of that."""
    for part in core.beside(core.first):
        prose[part] = bytes(part.stop - part.start)
    for box in around:
        first, last = _lines(box, core.ends)
        if 1 in prose[first : core.first] or 1 in prose[core.last : last]:
            core = Core(box, first, last, core.boxes, core.ends)
    return core


def _lines(box: Box, ends: list[int]) -> tuple[int, int]:
    """Number the lines of a box."""
    return bisect_right(ends, box[0]), min(bisect_left(ends, box[1]) + 1, len(ends))


def _around(boxes: list[Box], ends: list[int], line: int) -> list[Box]:
    """List the boxes around a line, from the inside out."""
    at = (ends[line] + (ends[line - 1] if line else 0)) // 2
    return [box for box in boxes if box[0] <= at < box[1]]


def are_together(boxes: list[Box], ends: list[int], line: int, other: int) -> bool:
    """Say whether the innermost part around a line has another line too; what stands in none is with all."""
    first, last = _lines(next(iter(_around(boxes, ends, line)), (0, ends[-1])), ends)
    return first <= other < last


def element_of(core: Core, tree: Document, lines: list[str]) -> Element | None:
    """Find the element that is the core, by one that has a line of it for itself; None if there is none."""
    times = Counter([line for line in lines if len(line) >= TELLING])
    inside = enumerate(lines[core.first : core.last], core.first)
    places = {line: place for place, line in inside if len(line) >= TELLING and times[line] == 1}
    for element, place in islice(_with_a_line(tree, places), MAX_TRIED):
        chain = _around(core.boxes, core.ends, place)
        boxes = [one for one in (element, *element.ancestors) if isinstance(one, Element) and _is_box(one)]
        if core.box in chain and len(chain) == len(boxes):
            return boxes[chain.index(core.box)]
    return None


def _with_a_line(tree: Document, places: dict[str, int]) -> Iterator[tuple[Element, int]]:
    """Go through elements that have one of these lines for themselves, each with its line."""
    left = 2 * MAX_TEXT
    for element in _leaves(tree) if places else ():
        place = places.get(words_of(element))
        if place is not None:
            yield element, place
        left -= len(element.text)
        if left < 0:
            return


def _leaves(tree: Document) -> Iterator[Element]:
    """Go through elements that may have a line for themselves; no two of one tag share a text, so each is read once."""
    for tag in ("p", "li", "dd", "td", "span", "div"):
        for element in tree.find_all(tag)[:MAX_ASKED]:
            if element.find(tag) is None and (tag == "div" or element.find("div") is None):
                yield element


def _is_box(element: Element) -> bool:
    return element.tag in BOXES or element.tag in CELLS

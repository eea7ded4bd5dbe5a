"""URL ordering by coverage (MIG-2): the page with most links not yet covered goes first, again and again.

The thesis re-sorts the whole queue after every step, stable on the order before. The same order comes from a heap
that corrects an entry only when it surfaces, and an index from link to pages that touches only what shrinks. A page
that just fell to a weight was ahead of those that had it already, so the later fall wins a tie.

Links are numbered and kept in arrays, two numbers each, and a place in the order is one number: lists and tuples for
each would cost more than the work itself.
"""

from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heapreplace
from itertools import accumulate
from math import log1p
from typing import TypeVar

from sanderling.frontier.ordering.protocol import ARRANGED, Finding, Lesson, LinksOf, Ordering
from sanderling.frontier.ordering.score_table import Sums, Tally
from sanderling.models import Url

T = TypeVar("T")
L = TypeVar("L", bound=Hashable)


def order(links: Mapping[T, Iterable[L]]) -> Iterator[tuple[T, list[L]]]:
    """Give pages in order of coverage, each with the links it is the first to cover: every link exactly once."""
    numbers: dict[L, int] = {}
    starts, held = array("q", [0]), array("q")  # the links of page n are held[starts[n] : starts[n + 1]]
    for found in links.values():
        held.extend(numbers.setdefault(link, len(numbers)) for link in dict.fromkeys(found))
        starts.append(len(held))
    names, words = list(links), list(numbers)
    del numbers
    holders = _Holders(starts, held, len(words))
    queue = _Queue([starts[page + 1] - starts[page] for page in range(len(names))])
    for page in queue.take():
        fresh = [link for link in held[starts[page] : starts[page + 1]] if not holders.covered[link]]
        yield names[page], [words[link] for link in fresh]
        queue.shrink(holders.cover(fresh, page))


class _Holders:
    """Says for every link which pages hold it, until it is covered."""

    def __init__(self, starts: "array[int]", held: "array[int]", count: int) -> None:
        sizes = array("q", bytes(8 * count))
        for link in held:
            sizes[link] += 1
        self.ends = array("q", accumulate(sizes))
        self.starts = array("q", self.ends)
        self.pages = array("q", bytes(8 * len(held)))
        self.covered = bytearray(count)
        for page in range(len(starts) - 2, -1, -1):  # from behind, so that the pages of a link stay in order
            for link in held[starts[page] : starts[page + 1]]:
                self.starts[link] -= 1
                self.pages[self.starts[link]] = page

    def cover(self, fresh: list[int], taken: int) -> dict[int, int]:
        """Strike these links off; say how many each other page lost."""
        lost: dict[int, int] = {}
        for link in fresh:
            self.covered[link] = 1
            for page in self.pages[self.starts[link] : self.ends[link]]:
                lost[page] = lost.get(page, 0) + 1
        lost.pop(taken, None)
        return lost


class _Queue:
    """Pages by weight, largest first; a place is weight, step of the last fall, place among those that fell then."""

    def __init__(self, weights: list[int]) -> None:
        self.base = len(weights) + 1  # places and steps are smaller
        self.weights = array("q", weights)
        self.step = 0
        self.places = [self._place(weight, page) for page, weight in enumerate(weights)]

    def _place(self, weight: int, among: int) -> int:
        return (-weight * self.base - self.step) * self.base + among

    def take(self) -> Iterator[int]:
        """Give the pages in order; they may shrink meanwhile."""
        base, places = self.base, self.places
        heap = [place * base + page for page, place in enumerate(places)]
        heapify(heap)
        while heap:
            place, page = divmod(heap[0], base)
            if place != places[page]:
                heapreplace(heap, places[page] * base + page)
                continue
            heappop(heap)
            self.step += 1
            yield page

    def shrink(self, lost: dict[int, int]) -> None:
        """Move pages back by what they lost, those that fall together in the order they had."""
        weights, places = self.weights, self.places
        for among, page in enumerate(sorted(lost, key=places.__getitem__)):
            weights[page] -= lost[page]
            places[page] = self._place(weights[page], among)


FOLDERS = 50_000  # remembered
RECENT = 20.0  # pages of a folder whose average counts


def folder_of(url: Url) -> str:
    """What pages of one kind have in common: all of the path but its last part."""
    return url.partition("?")[0].rpartition("/")[0]


class Coverage(Ordering):
    """New links by folder, as a sliding average."""

    compares = False

    def __init__(self) -> None:
        self.met = Tally()
        self.fresh: dict[str, tuple[float, float]] = {}  # folder -> average, pages
        self.usual = 1.0

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [-log1p(self.fresh.get(folder_of(f.url), (self.usual, 0.0))[0]) for f in findings]

    def learn(self, lesson: Lesson) -> None:
        tally = self.met
        tally.reach(max(lesson.targets, default=0))
        values, mask = tally.values, tally.mask
        fresh = 0
        for target in lesson.targets:
            at = target & mask
            if not values[at]:
                values[at] = 1.0
                fresh += 1
        if len(self.fresh) >= FOLDERS:
            self.fresh.clear()
        folder = folder_of(lesson.url)
        average, pages = self.fresh.get(folder, (self.usual, 1.0))
        pages = min(pages + 1, RECENT)
        self.fresh[folder] = average + (fresh - average) / pages, pages
        self.usual += (fresh - self.usual) / RECENT

    def arrange(self, known: Sequence[tuple[int, int]], links: LinksOf) -> Sequence[float]:
        """Greedy cover of all links that are known; what is new goes before it."""
        places = {url: float(len(known)) for url, _ in known}
        covering = order({url: links(url) for url, _ in known[:ARRANGED]})
        places |= {url: float(place) for place, (url, _) in enumerate(covering)}
        return list(places.values())

    def tallies(self) -> Mapping[str, Sums]:
        return {"met": self.met}

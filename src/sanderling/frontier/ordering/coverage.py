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

from sanderling.frontier.ordering.protocol import MAX_RANKED_TOGETHER, CrawledPage, FoundUrl, LinkLookup, Ordering
from sanderling.frontier.ordering.score_table import ScoreTable, SumTable
from sanderling.models import Url

T = TypeVar("T")
L = TypeVar("L", bound=Hashable)


def order_by_coverage(links_by_page: Mapping[T, Iterable[L]]) -> Iterator[tuple[T, list[L]]]:
    """Give pages in order of coverage, each with the links it is the first to cover: every link exactly once."""
    numbers: dict[L, int] = {}
    starts, held = array("q", [0]), array("q")  # the links of page n are held[starts[n] : starts[n + 1]]
    for found in links_by_page.values():
        held.extend(numbers.setdefault(link, len(numbers)) for link in dict.fromkeys(found))
        starts.append(len(held))
    names, words = list(links_by_page), list(numbers)
    del numbers
    holders = _PagesByLink(starts, held, len(words))
    queue = _CoverageQueue([starts[page + 1] - starts[page] for page in range(len(names))])
    for page in queue.iterate_pages():
        fresh = [link for link in held[starts[page] : starts[page + 1]] if not holders.covered[link]]
        yield names[page], [words[link] for link in fresh]
        queue.reduce_weights(holders.cover(fresh, page))


class _PagesByLink:
    """Says for every link which pages hold it, until it is covered."""

    def __init__(self, starts: "array[int]", page_links: "array[int]", link_count: int) -> None:
        sizes = array("q", bytes(8 * link_count))
        for link in page_links:
            sizes[link] += 1
        self.ends = array("q", accumulate(sizes))
        self.starts = array("q", self.ends)
        self.pages = array("q", bytes(8 * len(page_links)))
        self.covered = bytearray(link_count)
        for page in range(len(starts) - 2, -1, -1):  # from behind, so that the pages of a link stay in order
            for link in page_links[starts[page] : starts[page + 1]]:
                self.starts[link] -= 1
                self.pages[self.starts[link]] = page

    def cover(self, new_links: list[int], covering_page: int) -> dict[int, int]:
        """Strike these links off; say how many each other page lost."""
        lost: dict[int, int] = {}
        for link in new_links:
            self.covered[link] = 1
            for page in self.pages[self.starts[link] : self.ends[link]]:
                lost[page] = lost.get(page, 0) + 1
        lost.pop(covering_page, None)
        return lost


class _CoverageQueue:
    """Pages by weight, largest first; a place is weight, step of the last fall, place among those that fell then."""

    def __init__(self, weights: list[int]) -> None:
        self.base = len(weights) + 1  # places and steps are smaller
        self.weights = array("q", weights)
        self.step = 0
        self.sort_keys = [self._make_sort_key(weight, page) for page, weight in enumerate(weights)]

    def _make_sort_key(self, weight: int, tie_break: int) -> int:
        return (-weight * self.base - self.step) * self.base + tie_break

    def iterate_pages(self) -> Iterator[int]:
        """Give the pages in order; they may shrink meanwhile."""
        base, places = self.base, self.sort_keys
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

    def reduce_weights(self, lost_links: dict[int, int]) -> None:
        """Move pages back by what they lost, those that fall together in the order they had."""
        weights, places = self.weights, self.sort_keys
        for among, page in enumerate(sorted(lost_links, key=places.__getitem__)):
            weights[page] -= lost_links[page]
            places[page] = self._make_sort_key(weights[page], among)


MAX_FOLDERS = 50_000  # remembered
AVERAGE_WINDOW = 20.0  # pages of a folder whose average counts


def get_url_folder(url: Url) -> str:
    """What pages of one kind have in common: all of the path but its last part."""
    return url.partition("?")[0].rpartition("/")[0]


class CoverageOrdering(Ordering):
    """New links by folder, as a sliding average."""

    has_comparable_ranks = False

    def __init__(self) -> None:
        self.linked_urls = ScoreTable()
        self.new_link_averages: dict[str, tuple[float, float]] = {}  # folder -> average, pages
        self.overall_average = 1.0

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [
            -log1p(self.new_link_averages.get(get_url_folder(f.url), (self.overall_average, 0.0))[0])
            for f in found_urls
        ]

    def learn(self, crawled_page: CrawledPage) -> None:
        tally = self.linked_urls
        tally.ensure_size(max(crawled_page.target_ids, default=0))
        values, mask = tally.values, tally.mask
        fresh = 0
        for target in crawled_page.target_ids:
            at = target & mask
            if not values[at]:
                values[at] = 1.0
                fresh += 1
        if len(self.new_link_averages) >= MAX_FOLDERS:
            self.new_link_averages.clear()
        folder = get_url_folder(crawled_page.url)
        average, pages = self.new_link_averages.get(folder, (self.overall_average, 1.0))
        pages = min(pages + 1, AVERAGE_WINDOW)
        self.new_link_averages[folder] = average + (fresh - average) / pages, pages
        self.overall_average += (fresh - self.overall_average) / AVERAGE_WINDOW

    def rank_all(self, known_urls: Sequence[tuple[int, int]], get_links: LinkLookup) -> Sequence[float]:
        """Greedy cover of all links that are known; what is new goes before it."""
        places = {url: float(len(known_urls)) for url, _ in known_urls}
        covering = order_by_coverage({url: get_links(url) for url, _ in known_urls[:MAX_RANKED_TOGETHER]})
        places |= {url: float(place) for place, (url, _) in enumerate(covering)}
        return list(places.values())

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"met": self.linked_urls}

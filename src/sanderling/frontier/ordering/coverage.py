"""Coverage ordering (MIG): the page with most uncovered links goes first, repeatedly.

The thesis re-sorts the whole queue (stably) after every step. A heap with lazy correction and an index from links to
pages give the same order. A page whose weight just fell was ahead of pages that already had that weight, so of equal
weights the page that fell last goes first.

Links are numbered and kept in arrays, and a sort key is one integer: tuples and lists would cost more than the
algorithm.
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
    """Yield pages in coverage order, each with the links it covers first. Each link appears once."""
    link_numbers: dict[L, int] = {}
    starts, page_links = array("q", [0]), array("q")  # the links of page n are page_links[starts[n] : starts[n + 1]]
    for targets in links_by_page.values():
        page_links.extend(link_numbers.setdefault(link, len(link_numbers)) for link in dict.fromkeys(targets))
        starts.append(len(page_links))
    pages, links = list(links_by_page), list(link_numbers)
    del link_numbers
    pages_by_link = _PagesByLink(starts, page_links, len(links))
    queue = _CoverageQueue([starts[page + 1] - starts[page] for page in range(len(pages))])
    for page in queue.iterate_pages():
        new_links = [link for link in page_links[starts[page] : starts[page + 1]] if not pages_by_link.covered[link]]
        yield pages[page], [links[link] for link in new_links]
        queue.reduce_weights(pages_by_link.cover(new_links, page))


class _PagesByLink:
    """Index from each link to the pages that contain it, until the link is covered."""

    def __init__(self, starts: "array[int]", page_links: "array[int]", link_count: int) -> None:
        sizes = array("q", bytes(8 * link_count))
        for link in page_links:
            sizes[link] += 1
        self.ends = array("q", accumulate(sizes))
        self.starts = array("q", self.ends)
        self.pages = array("q", bytes(8 * len(page_links)))
        self.covered = bytearray(link_count)
        for page in range(len(starts) - 2, -1, -1):  # backwards, so that the pages of a link stay in order
            for link in page_links[starts[page] : starts[page + 1]]:
                self.starts[link] -= 1
                self.pages[self.starts[link]] = page

    def cover(self, new_links: list[int], covering_page: int) -> dict[int, int]:
        """Mark links as covered; return how many uncovered links each other page lost."""
        lost: dict[int, int] = {}
        for link in new_links:
            self.covered[link] = 1
            for page in self.pages[self.starts[link] : self.ends[link]]:
                lost[page] = lost.get(page, 0) + 1
        lost.pop(covering_page, None)
        return lost


class _CoverageQueue:
    """Pages by weight, largest first. Sort key: weight, step of the last decrease, order within that step."""

    def __init__(self, weights: list[int]) -> None:
        self.base = len(weights) + 1  # larger than every page number and step
        self.weights = array("q", weights)
        self.step = 0
        self.sort_keys = [self._make_sort_key(weight, page) for page, weight in enumerate(weights)]

    def _make_sort_key(self, weight: int, tie_break: int) -> int:
        return (-weight * self.base - self.step) * self.base + tie_break

    def iterate_pages(self) -> Iterator[int]:
        """Yield the pages in order; `reduce_weights` may be called in between."""
        base, sort_keys = self.base, self.sort_keys
        heap = [sort_key * base + page for page, sort_key in enumerate(sort_keys)]
        heapify(heap)
        while heap:
            sort_key, page = divmod(heap[0], base)
            if sort_key != sort_keys[page]:
                heapreplace(heap, sort_keys[page] * base + page)
                continue
            heappop(heap)
            self.step += 1
            yield page

    def reduce_weights(self, lost_links: dict[int, int]) -> None:
        """Decrease page weights; pages that fall in the same step keep their order."""
        weights, sort_keys = self.weights, self.sort_keys
        for position, page in enumerate(sorted(lost_links, key=sort_keys.__getitem__)):
            weights[page] -= lost_links[page]
            sort_keys[page] = self._make_sort_key(weights[page], position)


MAX_FOLDERS = 50_000
AVERAGE_WINDOW = 20.0  # pages in the sliding average of a folder


def get_url_folder(url: Url) -> str:
    """Return the URL without query and last path segment; its pages are usually of the same type."""
    return url.partition("?")[0].rpartition("/")[0]


class CoverageOrdering(Ordering):
    """Ranks URLs by the sliding average of new links on pages of the same folder."""

    has_comparable_ranks = False

    def __init__(self) -> None:
        self.linked_urls = ScoreTable()
        self.new_link_averages: dict[str, tuple[float, float]] = {}  # folder -> (average, page count)
        self.overall_average = 1.0

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [
            -log1p(self.new_link_averages.get(get_url_folder(f.url), (self.overall_average, 0.0))[0])
            for f in found_urls
        ]

    def learn(self, crawled_page: CrawledPage) -> None:
        linked = self.linked_urls
        linked.ensure_size(max(crawled_page.target_ids, default=0))
        values, mask = linked.values, linked.mask
        new_count = 0
        for target in crawled_page.target_ids:
            at = target & mask
            if not values[at]:
                values[at] = 1.0
                new_count += 1
        if len(self.new_link_averages) >= MAX_FOLDERS:
            self.new_link_averages.clear()
        folder = get_url_folder(crawled_page.url)
        average, pages = self.new_link_averages.get(folder, (self.overall_average, 1.0))
        pages = min(pages + 1, AVERAGE_WINDOW)
        self.new_link_averages[folder] = average + (new_count - average) / pages, pages
        self.overall_average += (new_count - self.overall_average) / AVERAGE_WINDOW

    def rank_all(self, known_urls: Sequence[tuple[int, int]], get_links: LinkLookup) -> Sequence[float]:
        """Rank by greedy cover of all known links; URLs beyond `MAX_RANKED_TOGETHER` come last."""
        ranks = {url: float(len(known_urls)) for url, _ in known_urls}
        covering = order_by_coverage({url: get_links(url) for url, _ in known_urls[:MAX_RANKED_TOGETHER]})
        ranks |= {url: float(rank) for rank, (url, _) in enumerate(covering)}
        return list(ranks.values())

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"met": self.linked_urls}

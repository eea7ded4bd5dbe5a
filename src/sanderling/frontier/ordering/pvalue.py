"""Ranking by links (IPC-2..4): value of a page, three lists by rank, and an allocator that starves none of them."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from sanderling.frontier.ordering.protocol import MAX_RANKED_TOGETHER, CrawledPage, FoundUrl, LinkLookup, Ordering
from sanderling.models import Host
from sanderling.urls.normalize import get_host

T = TypeVar("T")

LIST_SHARES = (4, 2, 1)  # IPC 3.1: four from the first list, two from the second, one from the third


def compute_pvalue(forward_links: int, backlinks: int) -> int:
    """Value a page by its links out less the stored pages that link to it: new hubs first."""
    return forward_links - backlinks


def estimate_forward_links(
    parsed_count: int | None, sitemap_count: int | None = None, host_median: int | None = None
) -> int:
    """Guess the links on a page nobody has parsed yet; the paper leaves this open. None means not known."""
    return next((guess for guess in (parsed_count, sitemap_count, host_median) if guess is not None), 0)


def sort_by_value(values: Iterable[tuple[T, int]]) -> list[tuple[T, int]]:
    """Sort by value, largest first; equals keep the order of arrival."""
    return sorted(values, key=lambda pair: -pair[1])


def split_evenly(ranked: Sequence[T], parts: int = len(LIST_SHARES)) -> list[Sequence[T]]:
    """Cut into almost equal lists; what is left over goes to the first ones."""
    size, extra = divmod(len(ranked), parts)
    ends = [size * part + min(part, extra) for part in range(parts + 1)]
    return [ranked[start:end] for start, end in pairwise(ends)]


def interleave_lists(lists: Sequence[Iterable[T]], shares: Sequence[int] = LIST_SHARES) -> Iterator[T]:
    """Hand out 4, 2 and 1 from the three lists in turn, skipping empty ones, until all are empty."""
    queues = [deque(items) for items in lists]
    while any(queues):
        for queue, share in zip(queues, shares, strict=True):
            for _ in range(min(share, len(queue))):
                yield queue.popleft()


MAX_SAMPLES_PER_HOST = 31  # pages of a host whose links are remembered
MAX_HOSTS = 10_000
ROUND_SIZE = sum(LIST_SHARES)


class PvalueOrdering(Ordering):
    """Three lists on one queue."""

    needs_backlinks = True
    has_comparable_ranks = False

    def __init__(self) -> None:
        self.current_turn = 0.0  # the turn the crawl is at
        self.next_turns = [0.0] * len(LIST_SHARES)  # the turn after the last of each list
        self.link_counts: dict[Host, list[int]] = {}

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        medians = {host: self._get_median_links(host) for host in {get_host(finding.url) for finding in found_urls}}
        return self._assign_turns(
            [
                compute_pvalue(estimate_forward_links(None, None, medians[get_host(f.url)]), f.backlinks)
                for f in found_urls
            ]
        )

    def _assign_turns(self, values: Sequence[int]) -> list[float]:
        """Sort by value, cut in thirds, and give each the turn at which the allocator comes to it."""
        turns = [0.0] * len(values)
        for number, part in enumerate(split_evenly(sort_by_value(enumerate(values)))):
            for (n, _), turn in zip(part, self._allocate_turns(number, len(part)), strict=True):
                turns[n] = turn
        return turns

    def _get_median_links(self, host: Host) -> int | None:
        from statistics import median_low  # few crawls ask for this ordering

        counts = self.link_counts.get(host)
        return median_low(counts) if counts else None

    def _allocate_turns(self, list_index: int, count: int) -> list[float]:
        """The next turns of a list: 4 in the first part of each round, 2 in the second, 1 at its end."""
        share, before = LIST_SHARES[list_index], sum(LIST_SHARES[:list_index])
        place = max(self.next_turns[list_index], self.current_turn // ROUND_SIZE * share)
        self.next_turns[list_index] = place + count
        return [(n // share) * ROUND_SIZE + before + n % share for n in (place + step for step in range(count))]

    def rank_all(self, known_urls: Sequence[tuple[int, int]], get_links: LinkLookup) -> Sequence[float]:
        """By the links each page had when it was seen last, and the pages that link to it."""
        held = {url: get_links(url) for url, _ in known_urls[:MAX_RANKED_TOGETHER]}
        back = Counter(target for targets in held.values() for target in targets)
        return self._assign_turns([compute_pvalue(len(held.get(url, ())), back[url]) for url, _ in known_urls])

    def learn(self, crawled_page: CrawledPage) -> None:
        self.current_turn = max(self.current_turn, crawled_page.rank)
        if len(self.link_counts) >= MAX_HOSTS:
            self.link_counts.clear()
        known = self.link_counts.setdefault(get_host(crawled_page.url), [])
        known.append(len(crawled_page.target_ids))
        del known[:-MAX_SAMPLES_PER_HOST]


def get_list_number(rank: float) -> int:
    """Which of the three lists a rank belongs to, counted from 1."""
    turn = int(rank) % ROUND_SIZE
    return 1 + next(number for number in range(len(LIST_SHARES)) if turn < sum(LIST_SHARES[: number + 1]))

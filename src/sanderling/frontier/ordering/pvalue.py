"""P-value ordering (IPC): value pages by links, split them into three lists, interleave the lists 4:2:1."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

from sanderling.frontier.ordering.protocol import MAX_RANKED_TOGETHER, CrawledPage, FoundUrl, LinkLookup, Ordering
from sanderling.models import Host
from sanderling.urls.normalize import get_host

T = TypeVar("T")

LIST_SHARES = (4, 2, 1)  # IPC 3.1


def compute_pvalue(forward_links: int, backlinks: int) -> int:
    """Return forward links minus backlinks from stored pages: new hubs go first."""
    return forward_links - backlinks


def estimate_forward_links(
    parsed_count: int | None, sitemap_count: int | None = None, host_median: int | None = None
) -> int:
    """Return the first known estimate of a page's links, else 0; the paper leaves this open."""
    return next((guess for guess in (parsed_count, sitemap_count, host_median) if guess is not None), 0)


def sort_by_value(values: Iterable[tuple[T, int]]) -> list[tuple[T, int]]:
    """Sort by value, largest first; ties keep their order."""
    return sorted(values, key=lambda pair: -pair[1])


def split_evenly(ranked: Sequence[T], parts: int = len(LIST_SHARES)) -> list[Sequence[T]]:
    """Split into almost equal lists; the first lists take the remainder."""
    size, extra = divmod(len(ranked), parts)
    ends = [size * part + min(part, extra) for part in range(parts + 1)]
    return [ranked[start:end] for start, end in pairwise(ends)]


MAX_SAMPLES_PER_HOST = 31
MAX_HOSTS = 10_000
ROUND_SIZE = sum(LIST_SHARES)


class PvalueOrdering(Ordering):
    """Maps the three lists to turns of the queue."""

    needs_backlinks = True
    has_comparable_ranks = False

    def __init__(self) -> None:
        self.current_turn = 0.0
        self.next_turns = [0.0] * len(LIST_SHARES)  # per list
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
        """Sort by value, split in thirds, and return the turn at which the allocator reaches each URL."""
        turns = [0.0] * len(values)
        for number, part in enumerate(split_evenly(sort_by_value(enumerate(values)))):
            for (n, _), turn in zip(part, self._allocate_turns(number, len(part)), strict=True):
                turns[n] = turn
        return turns

    def _get_median_links(self, host: Host) -> int | None:
        from statistics import median_low  # slow import, rarely used ordering

        counts = self.link_counts.get(host)
        return median_low(counts) if counts else None

    def _allocate_turns(self, list_index: int, count: int) -> list[float]:
        """Return the next turns of a list: 4 at the start of each round, then 2, then 1."""
        share, offset = LIST_SHARES[list_index], sum(LIST_SHARES[:list_index])
        position = max(self.next_turns[list_index], self.current_turn // ROUND_SIZE * share)
        self.next_turns[list_index] = position + count
        return [(n // share) * ROUND_SIZE + offset + n % share for n in (position + step for step in range(count))]

    def rank_all(self, known_urls: Sequence[tuple[int, int]], get_links: LinkLookup) -> Sequence[float]:
        """Rank by the stored links of each page and the pages that link to it."""
        links = {url: get_links(url) for url, _ in known_urls[:MAX_RANKED_TOGETHER]}
        backlinks = Counter(target for targets in links.values() for target in targets)
        return self._assign_turns([compute_pvalue(len(links.get(url, ())), backlinks[url]) for url, _ in known_urls])

    def learn(self, crawled_page: CrawledPage) -> None:
        self.current_turn = max(self.current_turn, crawled_page.rank)
        if len(self.link_counts) >= MAX_HOSTS:
            self.link_counts.clear()
        counts = self.link_counts.setdefault(get_host(crawled_page.url), [])
        counts.append(len(crawled_page.target_ids))
        del counts[:-MAX_SAMPLES_PER_HOST]


def get_list_number(rank: float) -> int:
    """Return the list (1 to 3) that a rank belongs to."""
    turn = int(rank) % ROUND_SIZE
    return 1 + next(number for number in range(len(LIST_SHARES)) if turn < sum(LIST_SHARES[: number + 1]))

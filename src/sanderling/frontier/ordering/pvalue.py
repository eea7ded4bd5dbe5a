"""Ranking by links (IPC-2..4): value of a page, three lists by rank, and an allocator that starves none of them."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from sanderling.frontier.ordering.protocol import ARRANGED, Finding, Lesson, LinksOf, Ordering
from sanderling.models import Host
from sanderling.urls.normalize import host_of

T = TypeVar("T")

PATTERN = (4, 2, 1)  # IPC 3.1: four from the first list, two from the second, one from the third


def pvalue(forward: int, back: int) -> int:
    """Value a page by its links out less the stored pages that link to it: new hubs first."""
    return forward - back


def forward_links(counted: int | None, in_sitemap: int | None = None, host_median: int | None = None) -> int:
    """Guess the links on a page nobody has parsed yet; the paper leaves this open. None means not known."""
    return next((guess for guess in (counted, in_sitemap, host_median) if guess is not None), 0)


def rank(valued: Iterable[tuple[T, int]]) -> list[tuple[T, int]]:
    """Sort by value, largest first; equals keep the order of arrival."""
    return sorted(valued, key=lambda pair: -pair[1])


def split(ranked: Sequence[T], parts: int = len(PATTERN)) -> list[Sequence[T]]:
    """Cut into almost equal lists; what is left over goes to the first ones."""
    size, extra = divmod(len(ranked), parts)
    ends = [size * part + min(part, extra) for part in range(parts + 1)]
    return [ranked[start:end] for start, end in pairwise(ends)]


def allocate(lists: Sequence[Iterable[T]], pattern: Sequence[int] = PATTERN) -> Iterator[T]:
    """Hand out 4, 2 and 1 from the three lists in turn, skipping empty ones, until all are empty."""
    queues = [deque(items) for items in lists]
    while any(queues):
        for queue, share in zip(queues, pattern, strict=True):
            for _ in range(min(share, len(queue))):
                yield queue.popleft()


SAMPLE = 31  # pages of a host whose links are remembered
HOSTS = 10_000
ROUND = sum(PATTERN)


class Pvalue(Ordering):
    """Three lists on one queue."""

    counts_back = True
    compares = False

    def __init__(self) -> None:
        self.now = 0.0  # the turn the crawl is at
        self.next = [0.0] * len(PATTERN)  # the turn after the last of each list
        self.counts: dict[Host, list[int]] = {}

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        medians = {host: self._median(host) for host in {host_of(finding.url) for finding in findings}}
        return self._placed([pvalue(forward_links(None, None, medians[host_of(f.url)]), f.back) for f in findings])

    def _placed(self, values: Sequence[int]) -> list[float]:
        """Sort by value, cut in thirds, and give each the turn at which the allocator comes to it."""
        turns = [0.0] * len(values)
        for number, part in enumerate(split(rank(enumerate(values)))):
            for (n, _), turn in zip(part, self._turns(number, len(part)), strict=True):
                turns[n] = turn
        return turns

    def _median(self, host: Host) -> int | None:
        from statistics import median_low  # few crawls ask for this ordering

        counts = self.counts.get(host)
        return median_low(counts) if counts else None

    def _turns(self, number: int, count: int) -> list[float]:
        """The next turns of a list: 4 in the first part of each round, 2 in the second, 1 at its end."""
        share, before = PATTERN[number], sum(PATTERN[:number])
        place = max(self.next[number], self.now // ROUND * share)
        self.next[number] = place + count
        return [(n // share) * ROUND + before + n % share for n in (place + step for step in range(count))]

    def arrange(self, known: Sequence[tuple[int, int]], links: LinksOf) -> Sequence[float]:
        """By the links each page had when it was seen last, and the pages that link to it."""
        held = {url: links(url) for url, _ in known[:ARRANGED]}
        back = Counter(target for targets in held.values() for target in targets)
        return self._placed([pvalue(len(held.get(url, ())), back[url]) for url, _ in known])

    def learn(self, lesson: Lesson) -> None:
        self.now = max(self.now, lesson.rank)
        if len(self.counts) >= HOSTS:
            self.counts.clear()
        known = self.counts.setdefault(host_of(lesson.url), [])
        known.append(len(lesson.targets))
        del known[:-SAMPLE]


def list_of(rank: float) -> int:
    """Which of the three lists a rank belongs to, counted from 1."""
    turn = int(rank) % ROUND
    return 1 + next(number for number in range(len(PATTERN)) if turn < sum(PATTERN[: number + 1]))

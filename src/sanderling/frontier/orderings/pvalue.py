"""Ranking by links with three lists (IPC-2..4): new URLs are sorted by Pvalue, cut in thirds, and taken 4 : 2 : 1.

The three lists are one queue: a URL's rank is the turn at which the allocator comes to it. A list gets 4, 2 or 1 of
every 7 turns, and one that was empty begins at the turn the crawl is at, so no list starves and none saves up turns.
Links of a page not parsed yet are guessed by the median of its host (organise/pvalue.py), links to it are counted.
"""

from collections import Counter
from collections.abc import Sequence

from sanderling.frontier.order import ARRANGED, Finding, Lesson, LinksOf, Ordering
from sanderling.organise.normalise import host_of
from sanderling.organise.pvalue import PATTERN, forward_links, pvalue, rank, split
from sanderling.records import Host

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

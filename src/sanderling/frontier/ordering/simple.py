"""Level by level, in the order of discovery: what peers do by default (LIT-BFS)."""

from collections.abc import Callable, Mapping, Sequence
from math import log

from sanderling.frontier.ordering.protocol import Favour, Finding, Lesson, Ordering
from sanderling.frontier.ordering.score_table import Sums, Tally


class Breadth(Ordering):
    """All of a level before the next."""

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [float(finding.depth) for finding in findings]


MOVE = log(1.25)


class BackLinks(Ordering):
    """Links in by URL."""

    favour = Favour.UNSEEN

    def __init__(self) -> None:
        self.count = Tally()

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [0.0] * len(findings)

    def learn(self, lesson: Lesson) -> None:
        tally, targets = self.count, lesson.targets
        tally.reach(max(targets, default=0))
        tally.visit(lesson.page)
        values, told, mask = tally.values, tally.told, tally.mask
        for target in targets:
            at = target & mask
            values[at] += 1.0
            if not told[at]:
                told[at] = 1.0
        tally.touch(targets)

    def gains(self) -> Mapping[int, float]:
        return self.count.moved(log, MOVE)

    def again(self, url: int, depth: int) -> float:  # noqa: ARG002
        return -log(max(self.count[url], 1.0))

    def tallies(self) -> Mapping[str, Sums]:
        return {"back links": self.count}


class Depth(Ordering):
    """Turns only grow, so the last page looked at is the first whose links are followed; ties keep their order."""

    compares = False

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [-float(finding.turn) for finding in findings]

    def again(self, url: int, depth: int) -> float:  # noqa: ARG002
        return -float(depth)

    def keeps(self, url: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        return float(depth)


UNSAID = 0.5  # the priority of a page whose sitemap says none (sitemaps.org)
LEVEL = 0.01  # of two pages with the same priority, the one nearer to a seed goes first


class SitemapPriority(Ordering):
    """Highest priority first; `known` gives what a sitemap said of a URL by its id."""

    heeds_owners = True

    def __init__(self, known: Callable[[int], float] = lambda _url: UNSAID) -> None:
        self.known = known

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [LEVEL * finding.depth - finding.priority for finding in findings]

    def told(self, more: Mapping[int, float]) -> Mapping[int, float]:
        return more

    def again(self, url: int, depth: int) -> float:
        return LEVEL * depth - self.known(url)


class LargerSites(Ordering):
    """The choice is between hosts; within a host level by level."""

    favour = Favour.LARGEST

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [float(finding.depth) for finding in findings]

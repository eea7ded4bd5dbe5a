"""HITS on the graph so far (LIT-HITS): what good hubs point at goes first.

A page is a hub by the authority of what it points at, and adds its hub weight to the authority of each of those. One
step is taken for each stored page, with the authorities of that moment; the length of their vector is kept beside.
"""

from collections.abc import Mapping, Sequence
from math import log, sqrt

from sanderling.frontier.ordering.protocol import Favour, Finding, Lesson, Ordering
from sanderling.frontier.ordering.score_table import Sums, Tally

FIRST = 0.001  # authority of a URL just found; only what it gains counts
MOVE = log(1.25)


class Hits(Ordering):
    """Authorities by URL."""

    favour = Favour.UNSEEN

    def __init__(self) -> None:
        self.authority = Tally()
        self.square = 1.0  # of the length of the vector of authorities

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [-log(FIRST)] * len(findings)

    def learn(self, lesson: Lesson) -> None:
        tally, targets = self.authority, lesson.targets
        tally.reach(max(targets, default=0))
        tally.visit(lesson.page)
        values, told, mask = tally.values, tally.told, tally.mask
        places = [target & mask for target in targets]
        hub = (1.0 + sum([values[at] for at in places])) / sqrt(self.square)
        for at in places:
            before = values[at]
            self.square += hub * (2 * before + hub)
            values[at] = before + hub
            if not told[at]:
                told[at] = FIRST
        tally.touch(targets)

    def gains(self) -> Mapping[int, float]:
        return self.authority.moved(log, MOVE)

    def again(self, url: int, depth: int) -> float:  # noqa: ARG002
        return -log(max(self.authority[url], FIRST))

    def tallies(self) -> Mapping[str, Sums]:
        return {"authority": self.authority}

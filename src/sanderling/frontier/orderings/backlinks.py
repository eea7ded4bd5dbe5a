"""Back links (Cho, LIT-ORD): what most stored pages link to goes first."""

from collections.abc import Mapping, Sequence
from math import log

from sanderling.frontier.order import Favour, Finding, Lesson, Ordering
from sanderling.frontier.tally import Sums, Tally

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

"""OPIC (Abiteboul, Preda and Cobena): every page shares its cash equally among its links; the richest URL goes first.

Seeds begin with all the cash. What comes to a page that is stored already stays there.
"""

from collections.abc import Mapping, Sequence
from math import log

from sanderling.frontier.ordering.protocol import Favour, Finding, Lesson, Ordering
from sanderling.frontier.ordering.score_table import Sums, Tally

LEAST = 1e-30  # cash of the poorest
MOVE = log(1.25)  # a URL is moved when its cash has grown by a quarter


def score(cash: float) -> float:
    """Cash as a score: a factor of e is worth one level of depth in a mix."""
    return log(max(cash, LEAST))


class Opic(Ordering):
    """Cash by URL."""

    favour = Favour.UNSEEN

    def __init__(self) -> None:
        self.cash = Tally()
        self.history = Sums()  # cash that stored pages passed on

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [-score(self._held(f.page, f.is_seed) / max(1, f.links)) if f.page else 0.0 for f in findings]

    def _held(self, page: int, is_seed: bool) -> float:
        return self.cash[page] + (1.0 if is_seed and not self.cash.has_visited(page) else 0.0)

    def learn(self, lesson: Lesson) -> None:
        cash, targets = self.cash, lesson.targets
        cash.reach(max(targets, default=0))
        held = self._held(lesson.page, lesson.is_seed)
        cash.visit(lesson.page)
        values, told, mask = cash.values, cash.told, cash.mask
        values[lesson.page & mask] = 0.0
        self.history.add(lesson.page, held)
        share = max(held / max(1, len(targets)), LEAST)
        for target in targets:
            at = target & mask
            values[at] += share
            if not told[at]:
                told[at] = share
        cash.touch(targets)

    def gains(self) -> Mapping[int, float]:
        return self.cash.moved(score, MOVE)

    def again(self, url: int, depth: int) -> float:  # noqa: ARG002
        return -score(self.cash[url] + self.history[url])

    def tallies(self) -> Mapping[str, Sums]:
        return {"cash": self.cash, "history": self.history}

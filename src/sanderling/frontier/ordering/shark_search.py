"""Shark search (Hersovici et al., LIT-SHARK): fish search in shades.

A link inherits a part of its page's relevance, or, from a page that is not relevant, of what that page inherited; to
this comes what the link's own words and those around it promise. So grandchildren of a relevant page go before those
of another.
"""

from collections.abc import Mapping, Sequence

from sanderling.frontier.ordering.host_exploration import Newcomers
from sanderling.frontier.ordering.protocol import EARLY_PAGES, Finding, Lesson, Ordering
from sanderling.frontier.ordering.score_table import Sums, Tally

DELTA = 0.5  # what is inherited (SPEC 12.1, the usual values)
GAMMA = 0.8  # the weight of what is inherited against what a link promises
FAINT = 0.1  # below this a page is not relevant
MOVE = 0.05
LEAST = 1e-6


class Shark(Ordering):
    """What URLs inherit and what is expected of them."""

    is_focused = True

    def __init__(self) -> None:
        self.inherited = Tally()
        self.is_eager = True
        self.pages = 0
        self.potential = Tally()
        self.newcomers = Newcomers()

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        new = self.newcomers.worth
        return [-_potential(self._passed_on(f.page, f.relevance), f.promise) - new(f.url) for f in findings]

    def _passed_on(self, page: int, relevance: float) -> float:
        return DELTA * (relevance if relevance >= FAINT else self.inherited[page])

    def learn(self, lesson: Lesson) -> None:
        furthest = max(lesson.targets, default=lesson.page)
        self.inherited.reach(furthest)
        self.potential.reach(furthest)
        self.potential.visit(lesson.page)
        self.newcomers.came_home(lesson.url, lesson.relevance)
        self.pages += 1
        self.is_eager = self.pages < EARLY_PAGES
        passed = self._passed_on(lesson.page, lesson.relevance)
        promises = lesson.promises or [0.0] * len(lesson.targets)
        for target, promise in zip(lesson.targets, promises, strict=True):
            self.inherited.raise_to(target, passed)
            self.potential.raise_to(target, _potential(passed, promise))
        self.inherited.pending.clear()

    def gains(self) -> Mapping[int, float]:
        return self.potential.moved(float, MOVE)

    def again(self, url: int, depth: int) -> float:  # noqa: ARG002
        return -self.potential[url]

    def keeps(self, url: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        return -relevance

    def tallies(self) -> Mapping[str, Sums]:
        return {"inherited": self.inherited, "potential": self.potential}


def _potential(inherited: float, promise: float) -> float:
    return max(LEAST, GAMMA * inherited + (1 - GAMMA) * promise)

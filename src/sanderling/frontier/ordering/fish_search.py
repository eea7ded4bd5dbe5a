"""Fish search (De Bra, LIT-FISH): near relevant pages, or not at all.

The links of a relevant page go to the front, the first page first, and live for a few levels; those of another page
live one level less than it did itself, and are not visited at all once no level is left, unless a relevant page links
to them as well. A page is relevant or it is not: it is if it speaks more of the topic than pages so far did on average.
A link that names the topic itself goes before all others.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from sanderling.frontier.ordering.protocol import EARLY_PAGES, NEVER, Finding, Lesson, Ordering
from sanderling.frontier.ordering.score_table import Sums, Tally

LIFE = 3  # levels without a relevant page
NAMED = LIFE + 1  # life of a link that names the topic
WIDTH = 60  # new links of a relevant page that go first; of another page, two thirds as many
FAINT = 0.1  # below this a page is never relevant
ABOVE = 1.5  # times the mean of the pages so far
SAYS = 0.4  # promise of a link that names half of the topic
LEVEL = 1e12  # more than there are turns
BEHIND = 0.5 * LEVEL  # what is beyond the width


class Fish(Ordering):
    """Levels left, by URL."""

    is_focused = True
    compares = False

    def __init__(self) -> None:
        self.life = Tally()
        self.is_eager = True
        self.mean = FAINT
        self.pages = 1

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        seen: Counter[int] = Counter()
        ranks = []
        for f in findings:
            life = self._life(f.page, self._is_relevant(f.relevance), f.promise) if f.page else LIFE
            seen[f.page] += 1
            width = WIDTH if life >= LIFE else WIDTH * 2 // 3
            place = -life * LEVEL + f.turn + BEHIND * (f.page > 0 and seen[f.page] > width)
            ranks.append(NEVER if life <= 0 else place)
        return ranks

    def _is_relevant(self, relevance: float) -> bool:
        return relevance >= max(FAINT, ABOVE * self.mean)

    def _life(self, page: int, is_relevant: bool, promise: float) -> float:
        """Levels that a link of this page lives."""
        if promise >= SAYS:
            return NAMED
        return LIFE if is_relevant else min(LIFE, self.life[page] or LIFE) - 1

    def learn(self, lesson: Lesson) -> None:
        self.life.reach(max(lesson.targets, default=lesson.page))
        is_relevant = self._is_relevant(lesson.relevance)
        promises = lesson.promises or [0.0] * len(lesson.targets)
        for target, promise in zip(lesson.targets, promises, strict=True):
            life = self._life(lesson.page, is_relevant, promise)
            if life > 0:
                self.life.raise_to(target, life)
        self.life.visit(lesson.page)
        self.pages += 1
        self.is_eager = self.pages < EARLY_PAGES
        self.mean += (lesson.relevance - self.mean) / self.pages

    def gains(self) -> Mapping[int, float]:
        return self.life.moved(lambda life: life * LEVEL, 0.0)

    def again(self, url: int, depth: int) -> float:  # noqa: ARG002
        return -self.life[url] * LEVEL

    def keeps(self, url: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        return -relevance

    def tallies(self) -> Mapping[str, Sums]:
        return {"life": self.life}

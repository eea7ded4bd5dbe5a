"""Fish search (De Bra, LIT-FISH): near relevant pages, or not at all.

The links of a relevant page are followed first, and live for a few levels; those of another page live one level less
than it did itself, and are not visited at all once no level is left, unless a relevant page links to them as well.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from sanderling.frontier.order import NEVER, Finding, Lesson, Ordering
from sanderling.frontier.tally import Tally

LIFE = 3  # levels without a relevant page
WIDTH = 60  # new links of a relevant page that go first; of another page, two thirds as many
RELEVANT = 0.3  # from here on a page is relevant
BEHIND = 0.5  # of a level: what is beyond the width


class Fish(Ordering):
    """Levels left, by URL."""

    is_focused = True

    def __init__(self) -> None:
        self.life = Tally()

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        seen: Counter[int] = Counter()
        ranks = []
        for f in findings:
            life = self._life(f.page, f.relevance) if f.page else LIFE
            seen[f.page] += 1
            width = WIDTH if life == LIFE else WIDTH * 2 // 3
            ranks.append(NEVER if life <= 0 else LIFE - life + BEHIND * (f.page > 0 and seen[f.page] > width))
        return ranks

    def _life(self, page: int, relevance: float) -> float:
        """Levels that the links of a page live."""
        return LIFE if relevance >= RELEVANT else (self.life[page] or LIFE) - 1

    def learn(self, lesson: Lesson) -> None:
        self.life.reach(max(lesson.targets, default=lesson.page))
        life = self._life(lesson.page, lesson.relevance)
        self.life.visit(lesson.page)
        if life > 0:
            for target in lesson.targets:
                self.life.raise_to(target, life)

    def gains(self) -> Mapping[int, float]:
        return self.life.moved(float, 0.0)

    def again(self, url: int, depth: int) -> float:  # noqa: ARG002
        return LIFE - self.life[url]

    def tallies(self) -> Mapping[str, Tally]:
        return {"life": self.life}

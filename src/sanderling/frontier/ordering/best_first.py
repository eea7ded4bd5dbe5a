"""Best first by similarity (Cho, LIT-ORD): the link whose words and whose page speak most of the topic goes first."""

from collections.abc import Mapping, Sequence

from sanderling.frontier.ordering.host_exploration import Newcomers
from sanderling.frontier.ordering.protocol import EARLY_PAGES, Finding, Lesson, Ordering
from sanderling.frontier.ordering.score_table import Sums, Tally

PAGE = 0.5  # the weight of the page against the words of the link
MOVE = 0.05
LEAST = 1e-6


class Similarity(Ordering):
    """The best that was found for each URL."""

    is_focused = True

    def __init__(self) -> None:
        self.likeness = Tally()
        self.is_eager = True
        self.pages = 0
        self.newcomers = Newcomers()

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [-_likeness(f.relevance, f.promise) - self.newcomers.worth(f.url) for f in findings]

    def learn(self, lesson: Lesson) -> None:
        self.likeness.reach(max(lesson.targets, default=0))
        self.likeness.visit(lesson.page)
        self.newcomers.came_home(lesson.url, lesson.relevance)
        self.pages += 1
        self.is_eager = self.pages < EARLY_PAGES
        promises = lesson.promises or [0.0] * len(lesson.targets)
        for target, promise in zip(lesson.targets, promises, strict=True):
            self.likeness.raise_to(target, _likeness(lesson.relevance, promise))

    def gains(self) -> Mapping[int, float]:
        return self.likeness.moved(float, MOVE)

    def again(self, url: int, depth: int) -> float:  # noqa: ARG002
        return -self.likeness[url]

    def keeps(self, url: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        return -relevance

    def tallies(self) -> Mapping[str, Sums]:
        return {"likeness": self.likeness}


def _likeness(relevance: float, promise: float) -> float:
    return max(LEAST, PAGE * relevance + (1 - PAGE) * promise)

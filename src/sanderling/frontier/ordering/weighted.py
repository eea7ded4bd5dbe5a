"""Several orderings at once, with weights: `0.7*opic+0.3*breadth`. Ranks and gains add up."""

from collections.abc import Mapping, Sequence

from sanderling.frontier.ordering.protocol import Favour, Finding, Lesson, LinksOf, Ordering
from sanderling.frontier.ordering.score_table import Sums


class Mix(Ordering):
    """A weighted sum."""

    def __init__(self, parts: Sequence[tuple[float, Ordering]]) -> None:
        self.parts = parts
        orderings = [ordering for _, ordering in parts]
        self.favour = max((o.favour for o in orderings), key=list(Favour).index)
        self.is_focused = any(o.is_focused for o in orderings)
        self.heeds_owners = any(o.heeds_owners for o in orderings)
        self.compares = all(o.compares for o in orderings)
        self.counts_back = any(o.counts_back for o in orderings)

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        total = [0.0] * len(findings)
        for weight, ordering in self.parts:
            total = [sum_ + weight * rank for sum_, rank in zip(total, ordering.rank(findings), strict=True)]
        return total

    def learn(self, lesson: Lesson) -> None:
        for _, ordering in self.parts:
            ordering.learn(lesson)

    def gains(self) -> Mapping[int, float]:
        total: dict[int, float] = {}
        for weight, ordering in self.parts:
            for url, gain in ordering.gains().items():
                total[url] = total.get(url, 0.0) + weight * gain
        return total

    def told(self, more: Mapping[int, float]) -> Mapping[int, float]:
        total: dict[int, float] = {}
        for weight, ordering in self.parts:
            for url, gain in ordering.told(more).items():
                total[url] = total.get(url, 0.0) + weight * gain
        return total

    def again(self, url: int, depth: int) -> float:
        return sum(weight * ordering.again(url, depth) for weight, ordering in self.parts)

    def arrange(self, known: Sequence[tuple[int, int]], links: LinksOf) -> Sequence[float]:
        total = [0.0] * len(known)
        for weight, ordering in self.parts:
            total = [sum_ + weight * rank for sum_, rank in zip(total, ordering.arrange(known, links), strict=True)]
        return total

    def keeps(self, url: int, depth: int, relevance: float) -> float:
        return sum(weight * ordering.keeps(url, depth, relevance) for weight, ordering in self.parts)

    def tallies(self) -> Mapping[str, Sums]:
        return {
            f"{number}.{name}": tally
            for number, (_, ordering) in enumerate(self.parts)
            for name, tally in ordering.tallies().items()
        }

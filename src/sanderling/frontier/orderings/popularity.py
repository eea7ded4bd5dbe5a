"""Popularity from access logs (LIT-POP): what people ask for goes first; organise/popularity.py counts it."""

from collections.abc import Mapping, Sequence

from sanderling.frontier.order import Finding, Ordering

LEVEL = 0.01  # of two pages nobody asked for, the one nearer to a seed goes first


class Popular(Ordering):
    """Scores by path."""

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.scores = scores

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        scores = self.scores
        return [LEVEL * f.depth - scores.get(f.url[f.url.index("/", 8) :], 0.0) for f in findings]

    def again(self, url: int, depth: int) -> float:  # noqa: ARG002 the path is not at hand
        return LEVEL * depth

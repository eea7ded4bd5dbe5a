"""Depth first: the links of the newest page go first, from the top of the page down (LIT-DFS)."""

from collections.abc import Sequence

from sanderling.frontier.order import Finding, Ordering


class Depth(Ordering):
    """Turns only grow, so the last page looked at is the first whose links are followed; ties keep their order."""

    compares = False

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [-float(finding.turn) for finding in findings]

    def again(self, url: int, depth: int) -> float:  # noqa: ARG002
        return -float(depth)

    def keeps(self, url: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        return float(depth)

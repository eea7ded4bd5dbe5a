"""Level by level, in the order of discovery: what peers do by default (LIT-BFS)."""

from collections.abc import Sequence

from sanderling.frontier.order import Finding, Ordering


class Breadth(Ordering):
    """All of a level before the next."""

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [float(finding.depth) for finding in findings]

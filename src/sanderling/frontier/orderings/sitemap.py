"""What the owner of a site finds important: the priority in its sitemap; what no sitemap names has 0.5."""

from collections.abc import Sequence

from sanderling.frontier.order import Finding, Ordering

LEVEL = 0.01  # of two pages with the same priority, the one nearer to a seed goes first


class SitemapPriority(Ordering):
    """Highest priority first."""

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [LEVEL * finding.depth - finding.priority for finding in findings]

    def again(self, url: int, depth: int) -> float:  # noqa: ARG002
        return LEVEL * depth - 0.5

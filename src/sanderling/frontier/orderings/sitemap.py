"""What the owner of a site finds important: the priority in its sitemap; what no sitemap names has 0.5."""

from collections.abc import Callable, Mapping, Sequence

from sanderling.frontier.order import Finding, Ordering

UNSAID = 0.5  # the priority of a page whose sitemap says none (sitemaps.org)
LEVEL = 0.01  # of two pages with the same priority, the one nearer to a seed goes first


class SitemapPriority(Ordering):
    """Highest priority first; `known` gives what a sitemap said of a URL by its id."""

    heeds_owners = True

    def __init__(self, known: Callable[[int], float] = lambda _url: UNSAID) -> None:
        self.known = known

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        return [LEVEL * finding.depth - finding.priority for finding in findings]

    def told(self, more: Mapping[int, float]) -> Mapping[int, float]:
        return more

    def again(self, url: int, depth: int) -> float:
        return LEVEL * depth - self.known(url)

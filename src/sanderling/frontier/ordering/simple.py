"""Level by level, in the order of discovery: what peers do by default (LIT-BFS)."""

from collections.abc import Callable, Mapping, Sequence
from math import log

from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, HostPreference, Ordering
from sanderling.frontier.ordering.score_table import ScoreTable, SumTable


class BreadthFirstOrdering(Ordering):
    """All of a level before the next."""

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [float(finding.depth) for finding in found_urls]


MIN_GAIN = log(1.25)


class BacklinkOrdering(Ordering):
    """Links in by URL."""

    host_preference = HostPreference.UNSEEN

    def __init__(self) -> None:
        self.backlinks = ScoreTable()

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [0.0] * len(found_urls)

    def learn(self, crawled_page: CrawledPage) -> None:
        tally, targets = self.backlinks, crawled_page.target_ids
        tally.ensure_size(max(targets, default=0))
        tally.mark_visited(crawled_page.id)
        values, told, mask = tally.values, tally.queued_scores, tally.mask
        for target in targets:
            at = target & mask
            values[at] += 1.0
            if not told[at]:
                told[at] = 1.0
        tally.mark_changed(targets)

    def pop_rank_gains(self) -> Mapping[int, float]:
        return self.backlinks.pop_gains(log, MIN_GAIN)

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002
        return -log(max(self.backlinks[url_id], 1.0))

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"back links": self.backlinks}


class DepthFirstOrdering(Ordering):
    """Turns only grow, so the last page looked at is the first whose links are followed; ties keep their order."""

    has_comparable_ranks = False

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [-float(finding.source_token) for finding in found_urls]

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002
        return -float(depth)

    def rank_for_retention(self, url_id: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        return float(depth)


DEFAULT_PRIORITY = 0.5  # the priority of a page whose sitemap says none (sitemaps.org)
DEPTH_PENALTY = 0.01  # of two pages with the same priority, the one nearer to a seed goes first


class SitemapPriorityOrdering(Ordering):
    """Highest priority first; `known` gives what a sitemap said of a URL by its id."""

    uses_sitemap_priority = True

    def __init__(self, get_priority: Callable[[int], float] = lambda _url: DEFAULT_PRIORITY) -> None:
        self.get_priority = get_priority

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [DEPTH_PENALTY * finding.depth - finding.priority for finding in found_urls]

    def compute_sitemap_gains(self, priority_changes: Mapping[int, float]) -> Mapping[int, float]:
        return priority_changes

    def rank_known(self, url_id: int, depth: int) -> float:
        return DEPTH_PENALTY * depth - self.get_priority(url_id)


class LargestSiteOrdering(Ordering):
    """The choice is between hosts; within a host level by level."""

    host_preference = HostPreference.LARGEST

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [float(finding.depth) for finding in found_urls]

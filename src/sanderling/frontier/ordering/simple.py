"""Simple orderings: breadth first, depth first, backlinks, sitemap priority, largest site."""

from collections.abc import Callable, Mapping, Sequence
from math import log

from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, HostPreference, Ordering
from sanderling.frontier.ordering.score_table import ScoreTable, SumTable


class BreadthFirstOrdering(Ordering):
    """Ranks by link depth."""

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [float(found.depth) for found in found_urls]


MIN_GAIN = log(1.25)


class BacklinkOrdering(Ordering):
    """Ranks by the number of stored pages that link to the URL."""

    host_preference = HostPreference.UNSEEN

    def __init__(self) -> None:
        self.backlinks = ScoreTable()

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [0.0] * len(found_urls)

    def learn(self, crawled_page: CrawledPage) -> None:
        backlinks, targets = self.backlinks, crawled_page.target_ids
        backlinks.ensure_size(max(targets, default=0))
        backlinks.mark_visited(crawled_page.id)
        values, queued, mask = backlinks.values, backlinks.queued_scores, backlinks.mask
        for target in targets:
            at = target & mask
            values[at] += 1.0
            if not queued[at]:
                queued[at] = 1.0
        backlinks.mark_changed(targets)

    def pop_rank_gains(self) -> Mapping[int, float]:
        return self.backlinks.pop_gains(log, MIN_GAIN)

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002
        return -log(max(self.backlinks[url_id], 1.0))

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"back links": self.backlinks}


class DepthFirstOrdering(Ordering):
    """Ranks by fencing token of the linking page: tokens only grow, so links of the newest page go first."""

    has_comparable_ranks = False

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [-float(found.source_token) for found in found_urls]

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002
        return -float(depth)

    def rank_for_retention(self, url_id: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        return float(depth)


DEFAULT_PRIORITY = 0.5  # of sitemap entries without priority (sitemaps.org)
DEPTH_PENALTY = 0.01  # orders equal priorities by depth


class SitemapPriorityOrdering(Ordering):
    """Ranks by sitemap priority; `get_priority` maps a URL id to its priority."""

    uses_sitemap_priority = True

    def __init__(self, get_priority: Callable[[int], float] = lambda _url: DEFAULT_PRIORITY) -> None:
        self.get_priority = get_priority

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [DEPTH_PENALTY * found.depth - found.priority for found in found_urls]

    def compute_sitemap_gains(self, priority_changes: Mapping[int, float]) -> Mapping[int, float]:
        return priority_changes

    def rank_known(self, url_id: int, depth: int) -> float:
        return DEPTH_PENALTY * depth - self.get_priority(url_id)


class LargestSiteOrdering(Ordering):
    """Prefers the host with most queued URLs; within a host breadth first."""

    host_preference = HostPreference.LARGEST

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [float(found.depth) for found in found_urls]

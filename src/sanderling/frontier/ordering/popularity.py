"""Popularity ordering: frequently requested paths go first (counts and scores in `access_logs.py`).

The scores are learned against the PageRank of stored pages, again each time twice as many pages are known. Queued
URLs keep their rank.
"""

from collections.abc import Callable, Mapping, Sequence

from sanderling.frontier.ordering.access_logs import AccessCounts
from sanderling.frontier.ordering.pagerank import PageRankOrdering
from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, Ordering
from sanderling.models import Url

DEPTH_PENALTY = 0.01  # orders pages without requests by depth
MIN_LEARNING_PAGES = 30  # stored pages in the logs before scores are learned

PopularityScorer = Callable[[AccessCounts, Mapping[str, float]], Mapping[str, float]]
"""Return scores by path, from request counts and the PageRank of some paths."""


def get_url_path(url: Url) -> str:
    """Return path and query of a URL, as in an access log."""
    return url[url.index("/", 8) :]


class PopularityOrdering(Ordering):
    """Ranks URLs by the popularity score of their path; `get_path` maps a URL id to its path."""

    def __init__(self, access_counts: AccessCounts, scorer: PopularityScorer, get_path: Callable[[int], str]) -> None:
        self.access_counts = access_counts
        self.scorer = scorer
        self.get_path = get_path
        self.scores = scorer(access_counts, {})
        self.pagerank = PageRankOrdering()
        self.paths: dict[int, str] = {}  # stored pages that occur in the logs
        self.next_learning_size = MIN_LEARNING_PAGES

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        scores = self.scores
        return [DEPTH_PENALTY * f.depth - scores.get(get_url_path(f.url), 0.0) for f in found_urls]

    def learn(self, crawled_page: CrawledPage) -> None:
        self.pagerank.learn(crawled_page)
        self.pagerank.residual.pending.clear()
        path = get_url_path(crawled_page.url)
        if path in self.access_counts.counts:
            self.paths[crawled_page.id] = path

    def pop_rank_gains(self) -> Mapping[int, float]:
        if len(self.paths) >= self.next_learning_size:
            self.next_learning_size = 2 * len(self.paths)
            graph = self.pagerank
            ranks = {path: graph.residual[page] + graph.distributed[page] for page, path in self.paths.items()}
            self.scores = self.scorer(self.access_counts, ranks)
        return {}

    def rank_known(self, url_id: int, depth: int) -> float:
        return DEPTH_PENALTY * depth - self.scores.get(self.get_path(url_id), 0.0)

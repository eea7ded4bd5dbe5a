"""Best-first ordering by similarity (Cho): relevance of the link text and of the linking page."""

from collections.abc import Mapping, Sequence

from sanderling.frontier.ordering.host_exploration import NewHostBonus
from sanderling.frontier.ordering.protocol import EAGER_PAGES, CrawledPage, FoundUrl, Ordering
from sanderling.frontier.ordering.score_table import ScoreTable, SumTable

PAGE_WEIGHT = 0.5  # weight of the page; the rest is the weight of the link text
MIN_GAIN = 0.05
MIN_SCORE = 1e-6


class BestFirstOrdering(Ordering):
    """Ranks each URL by the best score of any link to it."""

    is_focused = True

    def __init__(self) -> None:
        self.scores = ScoreTable()
        self.is_eager = True
        self.page_count = 0
        self.new_host_bonus = NewHostBonus()

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [
            -_compute_score(f.source_relevance, f.topic_score) - self.new_host_bonus.compute_bonus(f.url)
            for f in found_urls
        ]

    def learn(self, crawled_page: CrawledPage) -> None:
        self.scores.ensure_size(max(crawled_page.target_ids, default=0))
        self.scores.mark_visited(crawled_page.id)
        self.new_host_bonus.record_page(crawled_page.url, crawled_page.relevance)
        self.page_count += 1
        self.is_eager = self.page_count < EAGER_PAGES
        topic_scores = crawled_page.topic_scores or [0.0] * len(crawled_page.target_ids)
        for target, topic_score in zip(crawled_page.target_ids, topic_scores, strict=True):
            self.scores.raise_score(target, _compute_score(crawled_page.relevance, topic_score))

    def pop_rank_gains(self) -> Mapping[int, float]:
        return self.scores.pop_gains(float, MIN_GAIN)

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002
        return -self.scores[url_id]

    def rank_for_retention(self, url_id: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        return -relevance

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"likeness": self.scores}


def _compute_score(relevance: float, topic_score: float) -> float:
    return max(MIN_SCORE, PAGE_WEIGHT * relevance + (1 - PAGE_WEIGHT) * topic_score)

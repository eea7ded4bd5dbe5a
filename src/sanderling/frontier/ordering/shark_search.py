"""Shark search (Hersovici et al.): fish search with graded relevance.

A link inherits part of its page's relevance or, if the page is not relevant, of what the page inherited. The score of
its own link text and surrounding text is added. So grandchildren of relevant pages go before those of other pages.
"""

from collections.abc import Mapping, Sequence

from sanderling.frontier.ordering.host_exploration import NewHostBonus
from sanderling.frontier.ordering.protocol import EAGER_PAGES, CrawledPage, FoundUrl, Ordering
from sanderling.frontier.ordering.score_table import ScoreTable, SumTable

DELTA = 0.5  # share that is inherited (the usual value)
GAMMA = 0.8  # weight of the inherited score; the rest is the weight of the link
MIN_RELEVANCE = 0.1
MIN_GAIN = 0.05
MIN_SCORE = 1e-6


class SharkSearchOrdering(Ordering):
    """Ranks URLs by potential score: inherited score and link score."""

    is_focused = True

    def __init__(self) -> None:
        self.inherited_scores = ScoreTable()
        self.is_eager = True
        self.page_count = 0
        self.potential_scores = ScoreTable()
        self.new_host_bonus = NewHostBonus()

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        compute_bonus = self.new_host_bonus.compute_bonus
        return [
            -_compute_potential(self._compute_inherited(f.source_id, f.source_relevance), f.topic_score)
            - compute_bonus(f.url)
            for f in found_urls
        ]

    def _compute_inherited(self, page_id: int, relevance: float) -> float:
        return DELTA * (relevance if relevance >= MIN_RELEVANCE else self.inherited_scores[page_id])

    def learn(self, crawled_page: CrawledPage) -> None:
        max_id = max(crawled_page.target_ids, default=crawled_page.id)
        self.inherited_scores.ensure_size(max_id)
        self.potential_scores.ensure_size(max_id)
        self.potential_scores.mark_visited(crawled_page.id)
        self.new_host_bonus.record_page(crawled_page.url, crawled_page.relevance)
        self.page_count += 1
        self.is_eager = self.page_count < EAGER_PAGES
        inherited = self._compute_inherited(crawled_page.id, crawled_page.relevance)
        topic_scores = crawled_page.topic_scores or [0.0] * len(crawled_page.target_ids)
        for target, topic_score in zip(crawled_page.target_ids, topic_scores, strict=True):
            self.inherited_scores.raise_score(target, inherited)
            self.potential_scores.raise_score(target, _compute_potential(inherited, topic_score))
        self.inherited_scores.pending.clear()

    def pop_rank_gains(self) -> Mapping[int, float]:
        return self.potential_scores.pop_gains(float, MIN_GAIN)

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002
        return -self.potential_scores[url_id]

    def rank_for_retention(self, url_id: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        return -relevance

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"inherited": self.inherited_scores, "potential": self.potential_scores}


def _compute_potential(inherited: float, topic_score: float) -> float:
    return max(MIN_SCORE, GAMMA * inherited + (1 - GAMMA) * topic_score)

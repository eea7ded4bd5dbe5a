"""Shark search (Hersovici et al., LIT-SHARK): fish search in shades.

A link inherits a part of its page's relevance, or, from a page that is not relevant, of what that page inherited; to
this comes what the link's own words and those around it promise. So grandchildren of a relevant page go before those
of another.
"""

from collections.abc import Mapping, Sequence

from sanderling.frontier.ordering.host_exploration import NewHostBonus
from sanderling.frontier.ordering.protocol import EAGER_PAGES, CrawledPage, FoundUrl, Ordering
from sanderling.frontier.ordering.score_table import ScoreTable, SumTable

DELTA = 0.5  # what is inherited (SPEC 12.1, the usual values)
GAMMA = 0.8  # the weight of what is inherited against what a link promises
MIN_RELEVANCE = 0.1  # below this a page is not relevant
MIN_GAIN = 0.05
MIN_SCORE = 1e-6


class SharkSearchOrdering(Ordering):
    """What URLs inherit and what is expected of them."""

    is_focused = True

    def __init__(self) -> None:
        self.inherited_scores = ScoreTable()
        self.is_eager = True
        self.page_count = 0
        self.potential_scores = ScoreTable()
        self.new_host_bonus = NewHostBonus()

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        new = self.new_host_bonus.compute_bonus
        return [
            -_compute_potential(self._compute_inherited(f.source_id, f.source_relevance), f.topic_score) - new(f.url)
            for f in found_urls
        ]

    def _compute_inherited(self, page_id: int, relevance: float) -> float:
        return DELTA * (relevance if relevance >= MIN_RELEVANCE else self.inherited_scores[page_id])

    def learn(self, crawled_page: CrawledPage) -> None:
        furthest = max(crawled_page.target_ids, default=crawled_page.id)
        self.inherited_scores.ensure_size(furthest)
        self.potential_scores.ensure_size(furthest)
        self.potential_scores.mark_visited(crawled_page.id)
        self.new_host_bonus.record_page(crawled_page.url, crawled_page.relevance)
        self.page_count += 1
        self.is_eager = self.page_count < EAGER_PAGES
        passed = self._compute_inherited(crawled_page.id, crawled_page.relevance)
        promises = crawled_page.topic_scores or [0.0] * len(crawled_page.target_ids)
        for target, promise in zip(crawled_page.target_ids, promises, strict=True):
            self.inherited_scores.raise_score(target, passed)
            self.potential_scores.raise_score(target, _compute_potential(passed, promise))
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

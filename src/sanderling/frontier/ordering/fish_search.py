"""Fish search (De Bra): only follow links near relevant pages.

Links of a relevant page go to the front of the queue with a life of a few levels. Links of other pages live one level
less than their page; at zero they are not crawled unless a relevant page links to them too. Relevance is binary: a page
is relevant if it scores well above the mean so far. A link whose text names the topic goes before all others.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from sanderling.frontier.ordering.protocol import EAGER_PAGES, INFINITE_RANK, CrawledPage, FoundUrl, Ordering
from sanderling.frontier.ordering.score_table import ScoreTable, SumTable

INITIAL_LIFE = 3  # levels to follow without a relevant page
TOPIC_LINK_LIFE = INITIAL_LIFE + 1
WIDTH = 60  # links of a relevant page that go first; two thirds of it for other pages
MIN_RELEVANCE = 0.1
MEAN_FACTOR = 1.5  # times the mean relevance so far
TOPIC_LINK_SCORE = 0.4  # reached by a link text with half of the topic words
RANKS_PER_LEVEL = 1e12  # more than there are fencing tokens
BEYOND_WIDTH_PENALTY = 0.5 * RANKS_PER_LEVEL


class FishSearchOrdering(Ordering):
    """Ranks URLs by their remaining life in levels."""

    is_focused = True
    has_comparable_ranks = False

    def __init__(self) -> None:
        self.life = ScoreTable()
        self.is_eager = True
        self.mean_relevance = MIN_RELEVANCE
        self.page_count = 1

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        link_counts: Counter[int] = Counter()
        ranks = []
        for f in found_urls:
            life = (
                self._compute_life(f.source_id, self._is_relevant(f.source_relevance), f.topic_score)
                if f.source_id
                else INITIAL_LIFE
            )
            link_counts[f.source_id] += 1
            width = WIDTH if life >= INITIAL_LIFE else WIDTH * 2 // 3
            rank = (
                -life * RANKS_PER_LEVEL
                + f.source_token
                + BEYOND_WIDTH_PENALTY * (f.source_id > 0 and link_counts[f.source_id] > width)
            )
            ranks.append(INFINITE_RANK if life <= 0 else rank)
        return ranks

    def _is_relevant(self, relevance: float) -> bool:
        return relevance >= max(MIN_RELEVANCE, MEAN_FACTOR * self.mean_relevance)

    def _compute_life(self, page_id: int, is_relevant: bool, topic_score: float) -> float:
        if topic_score >= TOPIC_LINK_SCORE:
            return TOPIC_LINK_LIFE
        return INITIAL_LIFE if is_relevant else min(INITIAL_LIFE, self.life[page_id] or INITIAL_LIFE) - 1

    def learn(self, crawled_page: CrawledPage) -> None:
        self.life.ensure_size(max(crawled_page.target_ids, default=crawled_page.id))
        is_relevant = self._is_relevant(crawled_page.relevance)
        topic_scores = crawled_page.topic_scores or [0.0] * len(crawled_page.target_ids)
        for target, topic_score in zip(crawled_page.target_ids, topic_scores, strict=True):
            life = self._compute_life(crawled_page.id, is_relevant, topic_score)
            if life > 0:
                self.life.raise_score(target, life)
        self.life.mark_visited(crawled_page.id)
        self.page_count += 1
        self.is_eager = self.page_count < EAGER_PAGES
        self.mean_relevance += (crawled_page.relevance - self.mean_relevance) / self.page_count

    def pop_rank_gains(self) -> Mapping[int, float]:
        return self.life.pop_gains(lambda life: life * RANKS_PER_LEVEL, 0.0)

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002
        return -self.life[url_id] * RANKS_PER_LEVEL

    def rank_for_retention(self, url_id: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        return -relevance

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"life": self.life}

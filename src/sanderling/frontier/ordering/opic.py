"""OPIC (Abiteboul, Preda and Cobena): every page shares its cash equally among its links; the richest URL goes first.

Seeds begin with all the cash. What comes to a page that is stored already stays there.
"""

from collections.abc import Mapping, Sequence
from math import log

from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, HostPreference, Ordering
from sanderling.frontier.ordering.score_table import ScoreTable, SumTable

MIN_CASH = 1e-30  # cash of the poorest
MIN_GAIN = log(1.25)  # a URL is moved when its cash has grown by a quarter


def score_cash(cash: float) -> float:
    """Cash as a score: a factor of e is worth one level of depth in a mix."""
    return log(max(cash, MIN_CASH))


class OpicOrdering(Ordering):
    """Cash by URL."""

    host_preference = HostPreference.UNSEEN

    def __init__(self) -> None:
        self.cash = ScoreTable()
        self.history = SumTable()  # cash that stored pages passed on

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [
            -score_cash(self._get_cash(f.source_id, f.is_source_seed) / max(1, f.source_links)) if f.source_id else 0.0
            for f in found_urls
        ]

    def _get_cash(self, page_id: int, is_seed: bool) -> float:
        return self.cash[page_id] + (1.0 if is_seed and not self.cash.is_visited(page_id) else 0.0)

    def learn(self, crawled_page: CrawledPage) -> None:
        cash, targets = self.cash, crawled_page.target_ids
        cash.ensure_size(max(targets, default=0))
        held = self._get_cash(crawled_page.id, crawled_page.is_seed)
        cash.mark_visited(crawled_page.id)
        values, told, mask = cash.values, cash.queued_scores, cash.mask
        values[crawled_page.id & mask] = 0.0
        self.history.add(crawled_page.id, held)
        share = max(held / max(1, len(targets)), MIN_CASH)
        for target in targets:
            at = target & mask
            values[at] += share
            if not told[at]:
                told[at] = share
        cash.mark_changed(targets)

    def pop_rank_gains(self) -> Mapping[int, float]:
        return self.cash.pop_gains(score_cash, MIN_GAIN)

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002
        return -score_cash(self.cash[url_id] + self.history[url_id])

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"cash": self.cash, "history": self.history}

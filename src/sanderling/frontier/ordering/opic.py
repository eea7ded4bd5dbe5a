"""OPIC (Abiteboul, Preda and Cobena): each page distributes its cash equally over its links; most cash goes first.

Seeds start with all the cash. Cash that reaches a stored page stays there.
"""

from collections.abc import Mapping, Sequence
from math import exp, log

from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, HostPreference, Ordering
from sanderling.frontier.ordering.score_table import ScoreTable, SumTable

MIN_CASH = 1e-30
MIN_GAIN = log(1.25)  # a URL is re-ranked when its cash has grown by a quarter


def score_cash(cash: float) -> float:
    """Return cash as a score; in a weighted mix a factor of e equals a level of depth."""
    return log(max(cash, MIN_CASH))


class OpicOrdering(Ordering):
    """Ranks URLs by cash."""

    host_preference = HostPreference.UNSEEN
    has_mass = True

    def __init__(self) -> None:
        self.cash = ScoreTable()
        self.history = SumTable()  # cash that stored pages distributed

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [-score_cash(self._get_share(f)) if f.source_id or f.mass else 0.0 for f in found_urls]

    def _get_share(self, found_url: FoundUrl) -> float:
        cash = self._get_cash(found_url.source_id, found_url.is_source_seed) if not found_url.mass else 0.0
        return found_url.mass or cash / max(1, found_url.source_links)

    def _get_cash(self, page_id: int, is_seed: bool) -> float:
        return self.cash[page_id] + (1.0 if is_seed and not self.cash.is_visited(page_id) else 0.0)

    def learn(self, crawled_page: CrawledPage) -> None:
        cash, targets = self.cash, crawled_page.target_ids
        cash.ensure_size(max(targets, default=0))
        page_cash = self._get_cash(crawled_page.id, crawled_page.is_seed)
        cash.mark_visited(crawled_page.id)
        values, queued, mask = cash.values, cash.queued_scores, cash.mask
        values[crawled_page.id & mask] = 0.0
        self.history.add(crawled_page.id, page_cash)
        share = max(page_cash / max(1, len(targets)), MIN_CASH)
        for target in targets:
            at = target & mask
            values[at] += share
            if not queued[at]:
                queued[at] = share
        cash.mark_changed(targets)

    def get_link_mass(self, rank: float, depth: int) -> float:  # noqa: ARG002
        return exp(-rank)

    def get_gained_mass(self, url_id: int, gain: float) -> float:
        return self.cash[url_id] * (1 - exp(-gain))

    def add_mass(self, masses: Mapping[int, float]) -> None:
        self.cash.ensure_size(max(masses, default=0))
        for url_id, mass in masses.items():
            self.cash.add(url_id, mass)
            if not self.cash.queued_scores[url_id & self.cash.mask]:
                self.cash.queued_scores[url_id & self.cash.mask] = mass
        self.cash.mark_changed(masses)

    def pop_rank_gains(self) -> Mapping[int, float]:
        return self.cash.pop_gains(score_cash, MIN_GAIN)

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002
        return -score_cash(self.cash[url_id] + self.history[url_id])

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"cash": self.cash, "history": self.history}

"""HITS on the graph so far: pages that good hubs link to go first.

A page's hub weight is the sum of the authorities it links to, and is added to each of them. One step is taken per
stored page, with the authorities of that moment; the norm of the authority vector is updated incrementally.
"""

from collections.abc import Mapping, Sequence
from math import log, sqrt

from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, HostPreference, Ordering
from sanderling.frontier.ordering.score_table import ScoreTable, SumTable

INITIAL_AUTHORITY = 0.001  # of a new URL
MIN_GAIN = log(1.25)


class HitsOrdering(Ordering):
    """Ranks URLs by authority."""

    host_preference = HostPreference.UNSEEN

    def __init__(self) -> None:
        self.authority = ScoreTable()
        self.squared_norm = 1.0  # of the authority vector

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [-log(INITIAL_AUTHORITY)] * len(found_urls)

    def learn(self, crawled_page: CrawledPage) -> None:
        authority, targets = self.authority, crawled_page.target_ids
        authority.ensure_size(max(targets, default=0))
        authority.mark_visited(crawled_page.id)
        values, queued, mask = authority.values, authority.queued_scores, authority.mask
        slots = [target & mask for target in targets]
        hub = (1.0 + sum([values[at] for at in slots])) / sqrt(self.squared_norm)
        for at in slots:
            before = values[at]
            self.squared_norm += hub * (2 * before + hub)
            values[at] = before + hub
            if not queued[at]:
                queued[at] = INITIAL_AUTHORITY
        authority.mark_changed(targets)

    def pop_rank_gains(self) -> Mapping[int, float]:
        return self.authority.pop_gains(log, MIN_GAIN)

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002
        return -log(max(self.authority[url_id], INITIAL_AUTHORITY))

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"authority": self.authority}

"""HITS on the graph so far (LIT-HITS): what good hubs point at goes first.

A page is a hub by the authority of what it points at, and adds its hub weight to the authority of each of those. One
step is taken for each stored page, with the authorities of that moment; the length of their vector is kept beside.
"""

from collections.abc import Mapping, Sequence
from math import log, sqrt

from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, HostPreference, Ordering
from sanderling.frontier.ordering.score_table import ScoreTable, SumTable

INITIAL_AUTHORITY = 0.001  # authority of a URL just found; only what it gains counts
MIN_GAIN = log(1.25)


class HitsOrdering(Ordering):
    """Authorities by URL."""

    host_preference = HostPreference.UNSEEN

    def __init__(self) -> None:
        self.authority = ScoreTable()
        self.squared_norm = 1.0  # of the length of the vector of authorities

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        return [-log(INITIAL_AUTHORITY)] * len(found_urls)

    def learn(self, crawled_page: CrawledPage) -> None:
        tally, targets = self.authority, crawled_page.target_ids
        tally.ensure_size(max(targets, default=0))
        tally.mark_visited(crawled_page.id)
        values, told, mask = tally.values, tally.queued_scores, tally.mask
        places = [target & mask for target in targets]
        hub = (1.0 + sum([values[at] for at in places])) / sqrt(self.squared_norm)
        for at in places:
            before = values[at]
            self.squared_norm += hub * (2 * before + hub)
            values[at] = before + hub
            if not told[at]:
                told[at] = INITIAL_AUTHORITY
        tally.mark_changed(targets)

    def pop_rank_gains(self) -> Mapping[int, float]:
        return self.authority.pop_gains(log, MIN_GAIN)

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002
        return -log(max(self.authority[url_id], INITIAL_AUTHORITY))

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"authority": self.authority}

"""Incremental PageRank of the graph so far, by pushing residuals.

PR(p) = (1 - d) + d * sum PR(q) / out(q). A page's residual is rank that it received and has not distributed. Storing a
page pushes its residual to its links. Residual that reaches a stored page is pushed later, one link of an old page per
two of new ones, so the work is bounded by the links of the crawl. A queued URL is ranked by its residual, which is all
the rank it has.

Two deviations, because only a part of the graph is known: a page counts as having a few more links than it shows, since
one link among three is weak evidence; and each level of depth costs a little.
"""

from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from math import exp, log

from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, HostPreference, Ordering
from sanderling.frontier.ordering.score_table import VISITED_MARKER, ScoreTable, SumTable

DAMPING = 0.85  # the usual value
BASE_RANK = 1 - DAMPING  # initial rank of every page
SEED_RANK = 3.0  # additional rank of a seed: a person chose it, and its pages link back to it
ASSUMED_HIDDEN_LINKS = 10  # added to the link count of each page
DEPTH_PENALTY = 0.5  # per level
MIN_RANK = 1e-30
MIN_PUSH_RESIDUAL = 0.1  # smaller residuals of stored pages are not pushed
MIN_GAIN = log(1.25)  # a URL is re-ranked when its residual has grown by a quarter
NEW_LINKS_PER_OLD_LINK = 2
MAX_STORED_LINKS = 2_000_000  # of stored pages in memory, 16 MB; least recently pushed are evicted
LINK_BYTES = 8
RETAINED_SHARE = 0.9  # of the links after an eviction
PUSH_PENDING = VISITED_MARKER - 1  # marker of a stored page in the push queue


def score_rank(rank: float) -> float:
    """Return rank as a score; in a weighted mix a factor of e equals a level of depth."""
    return log(max(rank, MIN_RANK))


class PageRankOrdering(Ordering):
    """Ranks URLs by residual and stores the links of pages that still distribute rank."""

    host_preference = HostPreference.UNSEEN
    has_mass = True

    def __init__(self, max_stored_links: int = MAX_STORED_LINKS) -> None:
        self.residual = ScoreTable()
        self.distributed = SumTable()  # by stored pages; with the residual their total rank
        self.max_stored_links = max_stored_links
        self.packed_links: dict[int, bytes] = {}  # one block per page avoids memory fragmentation
        self.stored_links = 0
        self.push_queue: deque[int] = deque()  # stored pages with residual to distribute
        self.push_budget = 0  # links that may still be processed for them

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        scores: dict[tuple[int, int], float] = {}  # links of one page share its score
        ranks = []
        for f in found_urls:
            if f.mass:
                ranks.append(DEPTH_PENALTY * f.depth - score_rank(f.mass))
                continue
            score = scores.get((f.source_id, f.source_links))
            if score is None:
                score = (
                    score_rank(
                        DAMPING
                        * self._get_undistributed_rank(f.source_id, f.is_source_seed)
                        / (f.source_links + ASSUMED_HIDDEN_LINKS)
                    )
                    if f.source_id
                    else 0.0
                )
                scores[f.source_id, f.source_links] = score
            ranks.append(DEPTH_PENALTY * f.depth - score)
        return ranks

    def _get_undistributed_rank(self, page_id: int, is_seed: bool) -> float:
        own = 0.0 if self.residual.is_visited(page_id) else BASE_RANK + SEED_RANK * is_seed
        return self.residual[page_id] + own

    def learn(self, crawled_page: CrawledPage) -> None:
        page, targets = crawled_page.id, crawled_page.target_ids
        residual = self.residual
        residual.ensure_size(max(targets, default=page))
        rank = self._get_undistributed_rank(page, crawled_page.is_seed)
        residual.mark_visited(page)
        self._push_residual(page, rank, targets)
        self._store_links(page, targets)
        self._push_old_pages(len(targets))

    def _push_residual(self, page_id: int, rank: float, target_ids: Sequence[int]) -> None:
        self.distributed.add(page_id, rank)
        self.residual.values[page_id & self.residual.mask] = 0.0
        self._add_residual(target_ids, max(DAMPING * rank / (len(target_ids) + ASSUMED_HIDDEN_LINKS), MIN_RANK))

    def _add_residual(self, target_ids: Sequence[int], share: float) -> None:
        residual = self.residual
        values, queued, mask = residual.values, residual.queued_scores, residual.mask
        changed = []
        for target in target_ids:
            at = target & mask
            values[at] = now = values[at] + share
            state = queued[at]
            if state > 0:
                changed.append(target)
            elif not state:
                queued[at] = share
            elif state == VISITED_MARKER and now > MIN_PUSH_RESIDUAL:
                queued[at] = PUSH_PENDING
                self.push_queue.append(target)
        residual.mark_changed(changed)

    def get_link_mass(self, rank: float, depth: int) -> float:
        return exp(DEPTH_PENALTY * depth - rank)

    def get_gained_mass(self, url_id: int, gain: float) -> float:
        return self.residual[url_id] * (1 - exp(-gain))

    def add_mass(self, masses: Mapping[int, float]) -> None:
        self.residual.ensure_size(max(masses, default=0))
        for url_id, mass in masses.items():
            self._add_residual([url_id], mass)

    def _push_old_pages(self, new_links: int) -> None:
        """Push residuals of old pages, at half as many links as the new page had."""
        self.push_budget = min(self.push_budget + new_links // NEW_LINKS_PER_OLD_LINK, 10 * new_links)
        residual = self.residual
        while self.push_queue and self.push_budget > 0:
            page = self.push_queue.popleft()
            residual.mark_visited(page)
            packed = self.packed_links.pop(page, None)
            if packed is None:
                continue  # its links were evicted: the residual stays
            self.packed_links[page] = packed
            targets = array("q", packed)
            self.push_budget -= len(targets)
            self._push_residual(page, residual[page], targets)

    def _store_links(self, page_id: int, target_ids: Sequence[int]) -> None:
        old = self.packed_links.pop(page_id, b"")
        self.packed_links[page_id] = array("q", target_ids).tobytes()
        self.stored_links += len(target_ids) - len(old) // LINK_BYTES
        if self.stored_links > self.max_stored_links:
            self._evict_links()

    def _evict_links(self) -> None:
        """Evict the least recently pushed links in bulk: finding the first dictionary key skips deleted slots."""
        evicted, excess = [], self.stored_links - int(RETAINED_SHARE * self.max_stored_links)
        for page, packed in self.packed_links.items():
            if excess <= 0:
                break
            excess -= len(packed) // LINK_BYTES
            evicted.append(page)
        self.stored_links -= sum(len(self.packed_links.pop(page)) for page in evicted) // LINK_BYTES

    def pop_rank_gains(self) -> Mapping[int, float]:
        return self.residual.pop_gains(score_rank, MIN_GAIN)

    def rank_known(self, url_id: int, depth: int) -> float:
        return DEPTH_PENALTY * depth - score_rank(self.residual[url_id] + self.distributed[url_id])

    def rank_for_retention(self, url_id: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        """Rank by received rank alone, so that stored pages and queued URLs are comparable."""
        own = BASE_RANK if self.residual.is_visited(url_id) else 0.0
        return DEPTH_PENALTY * depth - score_rank(self.residual[url_id] + self.distributed[url_id] - own)

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"residual": self.residual, "passed": self.distributed}

"""PageRank of the graph so far, kept up to date by pushing residuals; of equals, the page nearer to a seed goes first.

PR(p) = (1 - d) + d * sum PR(q) / out(q). A page keeps a residual: rank it received and has not passed on. To store a
page is to push: its residual goes on to its links. Residual that comes to a stored page is pushed on later, the pages
in turn, one link of an old page for two of a new one: so the work is bounded by the links of the crawl. A waiting
URL is ranked by its residual, which is all the rank it has.

Two things differ from the textbook, because only a part of the graph is seen: a page counts as having a few links more
than it shows, since one link among three is weak evidence, and each level down costs a little.
"""

from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from math import log

from sanderling.frontier.ordering.protocol import CrawledPage, FoundUrl, HostPreference, Ordering
from sanderling.frontier.ordering.score_table import VISITED_MARKER, ScoreTable, SumTable

DAMPING = 0.85  # LIT-PR, the usual value
BASE_RANK = 1 - DAMPING  # what every page has of its own
SEED_RANK = 3.0  # what a seed has beside: a person chose it, and its pages link back to it
ASSUMED_HIDDEN_LINKS = 10  # links a page is taken to have beside those it shows
DEPTH_PENALTY = 0.5  # of score: what a level costs
MIN_RANK = 1e-30
MIN_PUSH_RESIDUAL = 0.1  # residual of a stored page that is worth passing on
MIN_GAIN = log(1.25)  # a URL is moved when its residual has grown by a quarter
NEW_LINKS_PER_OLD_LINK = 2  # for two links of new pages one of an old page is walked
MAX_STORED_LINKS = 2_000_000  # links of stored pages in memory, 16 MB; those pushed longest ago go first
LINK_BYTES = 8  # bytes of one of them
RETAINED_SHARE = 0.9  # of them stay when there is no room
PUSH_PENDING = VISITED_MARKER - 1  # told of a stored page that waits to be pushed


def score_rank(rank: float) -> float:
    """Rank as a score: a factor of e is worth one level of depth in a mix."""
    return log(max(rank, MIN_RANK))


class PageRankOrdering(Ordering):
    """Residuals by URL, and the links of stored pages that still pass rank on."""

    host_preference = HostPreference.UNSEEN

    def __init__(self, max_stored_links: int = MAX_STORED_LINKS) -> None:
        self.residual = ScoreTable()
        self.distributed = SumTable()  # rank that stored pages passed on: with the residual, all they ever had
        self.max_stored_links = max_stored_links
        self.packed_links: dict[
            int, bytes
        ] = {}  # packed: each is one large block, away from the small objects of a batch
        self.stored_links = 0
        self.push_queue: deque[int] = deque()  # stored pages with residual to pass on
        self.push_budget = 0  # links that may still be walked for them

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        scores: dict[
            tuple[int, int], float
        ] = {}  # what a page has for each of its links: found together, they share it
        out = []
        for f in found_urls:
            known = scores.get((f.source_id, f.source_links))
            if known is None:
                known = (
                    score_rank(
                        DAMPING
                        * self._get_undistributed_rank(f.source_id, f.is_source_seed)
                        / (f.source_links + ASSUMED_HIDDEN_LINKS)
                    )
                    if f.source_id
                    else 0.0
                )
                scores[f.source_id, f.source_links] = known
            out.append(DEPTH_PENALTY * f.depth - known)
        return out

    def _get_undistributed_rank(self, page_id: int, is_seed: bool) -> float:
        own = 0.0 if self.residual.is_visited(page_id) else BASE_RANK + SEED_RANK * is_seed
        return self.residual[page_id] + own

    def learn(self, crawled_page: CrawledPage) -> None:
        page, targets = crawled_page.id, crawled_page.target_ids
        residual = self.residual
        residual.ensure_size(max(targets, default=page))
        held = self._get_undistributed_rank(page, crawled_page.is_seed)
        residual.mark_visited(page)
        self._push_residual(page, held, targets)
        self._store_links(page, targets)
        self._push_old_pages(len(targets))

    def _push_residual(self, page_id: int, rank: float, target_ids: Sequence[int]) -> None:
        self.distributed.add(page_id, rank)
        tally = self.residual
        values, told, mask = tally.values, tally.queued_scores, tally.mask
        values[page_id & mask] = 0.0
        share = max(DAMPING * rank / (len(target_ids) + ASSUMED_HIDDEN_LINKS), MIN_RANK)
        risen = []
        for target in target_ids:
            at = target & mask
            values[at] = now = values[at] + share
            known = told[at]
            if known > 0:
                risen.append(target)
            elif not known:
                told[at] = share
            elif known == VISITED_MARKER and now > MIN_PUSH_RESIDUAL:
                told[at] = PUSH_PENDING
                self.push_queue.append(target)
        tally.mark_changed(risen)

    def _push_old_pages(self, new_links: int) -> None:
        """Push old pages, for half as many links as were just walked for a new one."""
        self.push_budget = min(self.push_budget + new_links // NEW_LINKS_PER_OLD_LINK, 10 * new_links)
        tally = self.residual
        while self.push_queue and self.push_budget > 0:
            page = self.push_queue.popleft()
            tally.mark_visited(page)
            packed = self.packed_links.pop(page, None)
            if packed is None:
                continue  # its links were forgotten: what it holds stays with it
            self.packed_links[page] = packed
            targets = array("q", packed)
            self.push_budget -= len(targets)
            self._push_residual(page, tally[page], targets)

    def _store_links(self, page_id: int, target_ids: Sequence[int]) -> None:
        old = self.packed_links.pop(page_id, b"")
        self.packed_links[page_id] = array("q", target_ids).tobytes()
        self.stored_links += len(target_ids) - len(old) // LINK_BYTES
        if self.stored_links > self.max_stored_links:
            self._evict_links()

    def _evict_links(self) -> None:
        """Let the links pushed longest ago go, many at once: to find the oldest of a dictionary is to pass all gaps."""
        leaving, left = [], self.stored_links - int(RETAINED_SHARE * self.max_stored_links)
        for page, packed in self.packed_links.items():
            if left <= 0:
                break
            left -= len(packed) // LINK_BYTES
            leaving.append(page)
        self.stored_links -= sum(len(self.packed_links.pop(page)) for page in leaving) // LINK_BYTES

    def pop_rank_gains(self) -> Mapping[int, float]:
        return self.residual.pop_gains(score_rank, MIN_GAIN)

    def rank_known(self, url_id: int, depth: int) -> float:
        return DEPTH_PENALTY * depth - score_rank(self.residual[url_id] + self.distributed[url_id])

    def rank_for_retention(self, url_id: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        """By what it received alone: so a waiting URL can be compared."""
        own = BASE_RANK if self.residual.is_visited(url_id) else 0.0
        return DEPTH_PENALTY * depth - score_rank(self.residual[url_id] + self.distributed[url_id] - own)

    def get_score_tables(self) -> Mapping[str, SumTable]:
        return {"residual": self.residual, "passed": self.distributed}

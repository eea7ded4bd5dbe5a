"""Limit the number of stored pages (SAR): a better new page evicts the worst stored page.

All_Urls of the paper is the URL store; Coll_Urls are the stored pages, ordered by `Ordering.rank_for_retention`. Once
the collection is full, URLs that do not rank better than its worst page are not fetched. The collection may exceed the
limit slightly between two checks, since sorting after every page would be slow.
"""

from collections.abc import Sequence

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.frontier.ordering.protocol import INFINITE_RANK, Ordering
from sanderling.frontier.ordering.topic import unpack_relevance
from sanderling.models import Reason, UrlState

SLACK_SHARE = 0.02  # of the limit: pages stored beyond it between two checks
MIN_SLACK = 16

SELECT_STORED_PAGES = """
    SELECT p.url, u.depth, l.url, m.value FROM pages AS p JOIN urls AS u ON u.id = p.url
    LEFT JOIN leases AS l ON l.url = p.url LEFT JOIN fingerprints AS m ON m.url = p.url AND m.kind = 'relevance'
    WHERE p.status BETWEEN 200 AND 299 AND u.role = 'page' ORDER BY p.url
"""


class EvictedPage(Struct, frozen=True):
    """An evicted page, its rank, and the rank of the worst page that was kept."""

    url_id: int
    rank: float
    cutoff_rank: float


class CollectionLimit:
    """Enforces the maximum number of stored pages; `max_pages` 0 means no limit."""

    def __init__(self, db: Connection, max_pages: int = 0) -> None:
        self.db = db
        self.max_pages = max_pages
        self.stored_since_check = 0
        self.stores_until_check = 0
        self.cutoff_rank = INFINITE_RANK  # rank of the worst page kept, once the collection is full

    def is_due(self, stored_count: int) -> bool:
        """Count newly stored pages; return True if it is time to look for pages to evict."""
        self.stored_since_check += stored_count
        return bool(self.max_pages) and self.stored_since_check > self.stores_until_check

    def find_evictable(self, ordering: Ordering) -> list[EvictedPage]:
        """Return the stored pages to evict, best first. Leased pages stay for now."""
        if not self.max_pages:
            return []
        slack = max(MIN_SLACK, int(SLACK_SHARE * self.max_pages))
        ranked_pages = [
            (
                ordering.rank_for_retention(url, depth, unpack_relevance(packed) if packed else 0.0),
                url,
                leased_url is None,
            )
            for url, depth, leased_url, packed in self.db.execute(SELECT_STORED_PAGES)
        ]
        self.stored_since_check = 0
        self.stores_until_check = self.max_pages + slack - min(self.max_pages, len(ranked_pages))
        if len(ranked_pages) < self.max_pages:
            return []
        ranked_pages.sort()
        self.cutoff_rank = cutoff = ranked_pages[self.max_pages - 1][0]
        return [EvictedPage(url, rank, cutoff) for rank, url, is_free in ranked_pages[self.max_pages :] if is_free]

    def can_admit(self, rank: float) -> bool:
        """Return True if a URL of this rank is better than the worst page kept."""
        return rank < self.cutoff_rank

    def drop_queued(self) -> int:
        """Skip queued URLs that rank no better than the cutoff; return their number. A new link may requeue them."""
        if self.cutoff_rank == INFINITE_RANK:
            return 0
        rows = self.db.execute(
            "SELECT q.url, q.host FROM queue AS q JOIN urls AS u ON u.id = q.url"
            " WHERE q.rank >= ? AND u.role = 'page' AND u.source <> 'seed'"
            " AND NOT EXISTS (SELECT 1 FROM pages AS p WHERE p.url = q.url)",
            (self.cutoff_rank,),
        ).fetchall()
        self.db.executemany("DELETE FROM queue WHERE url = ?", [(url,) for url, _ in rows])
        self._mark_skipped([url for url, _ in rows], Reason.LIMIT, "not better than the pages kept")
        self.db.executemany("UPDATE hosts SET waiting = waiting - 1 WHERE id = ?", [(host,) for _, host in rows])
        return len(rows)

    def mark_evicted(self, pages: Sequence[EvictedPage]) -> None:
        """Remove evicted pages from the queue and mark their URLs as skipped."""
        urls = [(page.url_id,) for page in pages]
        self.db.executemany(
            "UPDATE hosts SET waiting = waiting - 1 WHERE id = (SELECT host FROM queue WHERE url = ?)", urls
        )
        self.db.executemany("DELETE FROM queue WHERE url = ?", urls)
        for page in pages:
            detail = (
                f"rank {page.rank:.4g} is worse than {page.cutoff_rank:.4g}, the worst of {self.max_pages:,} pages kept"
            )
            self._mark_skipped([page.url_id], Reason.EVICTED, detail)

    def _mark_skipped(self, url_ids: Sequence[int], reason: Reason, detail: str) -> None:
        self.db.executemany(
            "UPDATE urls SET state = ?, reason = ?, note = ? WHERE id = ?",
            [(UrlState.SKIPPED, reason, detail, url) for url in url_ids],
        )

    def find_readmittable(self, ordering: Ordering) -> list[tuple[int, int]]:
        """Return (URL id, depth) of pages that were evicted or refused and now rank well enough."""
        rows = self.db.execute(
            "SELECT id, depth FROM urls WHERE state = ? AND reason IN (?, ?)",
            (UrlState.SKIPPED, Reason.EVICTED, Reason.LIMIT),
        ).fetchall()
        return [(url, depth) for url, depth in rows if self.can_admit(ordering.rank_for_retention(url, depth, 0.0))]

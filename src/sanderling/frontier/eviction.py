"""A collection of limited size (SAR-7): of all known URLs, the best are kept; a better new page evicts the worst.

All_Urls is the book of known URLs, Coll_Urls are the stored pages in the order of `Ordering.keeps`. Once the collection
is full, what is not better than its last page is not fetched; of what is fetched the worst leave. To sort after every
page would be slow, so a few pages more than wanted may be held meanwhile.
"""

from collections.abc import Sequence

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.frontier.ordering.protocol import INFINITE_RANK, Ordering
from sanderling.frontier.ordering.topic import unpack_relevance
from sanderling.models import Reason, UrlState

SLACK_SHARE = 0.02  # of the size: pages held beyond it between two looks
MIN_SLACK = 16

SELECT_STORED_PAGES = """
    SELECT p.url, u.depth, l.url, m.value FROM pages AS p JOIN urls AS u ON u.id = p.url
    LEFT JOIN leases AS l ON l.url = p.url LEFT JOIN marks AS m ON m.url = p.url AND m.kind = 'relevance'
    WHERE p.status BETWEEN 200 AND 299 AND u.role = 'page' ORDER BY p.url
"""


class EvictedPage(Struct, frozen=True):
    """A page that left, its place, and that of the last page that stayed."""

    url_id: int
    rank: float
    cutoff_rank: float


class CollectionLimit:
    """Watches the size of a collection; `most` 0 is no limit."""

    def __init__(self, db: Connection, max_pages: int = 0) -> None:
        self.db = db
        self.max_pages = max_pages
        self.stored_since_check = 0  # since the last look
        self.stores_until_check = 0  # what may be stored until the next one
        self.cutoff_rank = INFINITE_RANK  # the place of the last page kept, once the collection is full

    def is_due(self, stored_count: int) -> bool:
        """So many pages were stored: is it time to look who must leave?"""
        self.stored_since_check += stored_count
        return bool(self.max_pages) and self.stored_since_check > self.stores_until_check

    def find_evictable(self, ordering: Ordering) -> list[EvictedPage]:
        """The stored pages that must leave, the best of them first; those in somebody's hands stay for now."""
        if not self.max_pages:
            return []
        slack = max(MIN_SLACK, int(SLACK_SHARE * self.max_pages))
        places = [
            (ordering.rank_for_retention(url, depth, unpack_relevance(mark) if mark else 0.0), url, lease is None)
            for url, depth, lease, mark in self.db.execute(SELECT_STORED_PAGES)
        ]
        self.stored_since_check, self.stores_until_check = 0, self.max_pages + slack - min(self.max_pages, len(places))
        if len(places) < self.max_pages:
            return []
        places.sort()
        self.cutoff_rank = last = places[self.max_pages - 1][0]
        return [EvictedPage(url, place, last) for place, url, is_free in places[self.max_pages :] if is_free]

    def can_admit(self, rank: float) -> bool:
        """Is a URL with this place better than the last page kept?"""
        return rank < self.cutoff_rank

    def drop_queued(self) -> int:
        """Give up what waits and is not better; say how many. A link that is found to it again may bring it back."""
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
        """Write down in the book what left, and why."""
        urls = [(page.url_id,) for page in pages]
        self.db.executemany(
            "UPDATE hosts SET waiting = waiting - 1 WHERE id = (SELECT host FROM queue WHERE url = ?)", urls
        )
        self.db.executemany("DELETE FROM queue WHERE url = ?", urls)
        for page in pages:
            why = f"its place {page.rank:.4g} is behind {page.cutoff_rank:.4g}, that of the last of {self.max_pages:,} pages kept"
            self._mark_skipped([page.url_id], Reason.EVICTED, why)

    def _mark_skipped(self, url_ids: Sequence[int], reason: Reason, detail: str) -> None:
        self.db.executemany(
            "UPDATE urls SET state = ?, reason = ?, note = ? WHERE id = ?",
            [(UrlState.SKIPPED, reason, detail, url) for url in url_ids],
        )

    def find_readmittable(self, ordering: Ordering) -> list[tuple[int, int]]:
        """Ids and levels of pages that left, or were never fetched for lack of room, and are better by now."""
        rows = self.db.execute(
            "SELECT id, depth FROM urls WHERE state = ? AND reason IN (?, ?)",
            (UrlState.SKIPPED, Reason.EVICTED, Reason.LIMIT),
        ).fetchall()
        return [(url, depth) for url, depth in rows if self.can_admit(ordering.rank_for_retention(url, depth, 0.0))]

"""A collection of limited size (SAR-7): of all known URLs, the best are kept; a better new page evicts the worst.

All_Urls is the book of known URLs, Coll_Urls are the stored pages in the order of `Ordering.keeps`. Once the collection
is full, what is not better than its last page is not fetched; of what is fetched the worst leave. To sort after every
page would be slow, so a few pages more than wanted may be held meanwhile.
"""

from collections.abc import Sequence

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.frontier.ordering.protocol import NEVER, Ordering
from sanderling.frontier.ordering.topic import unpack_relevance
from sanderling.models import Reason, State

SLACK = 0.02  # of the size: pages held beyond it between two looks
LEAST_SLACK = 16

STORED = """
    SELECT p.url, u.depth, l.url, m.value FROM pages AS p JOIN urls AS u ON u.id = p.url
    LEFT JOIN leases AS l ON l.url = p.url LEFT JOIN marks AS m ON m.url = p.url AND m.kind = 'relevance'
    WHERE p.status BETWEEN 200 AND 299 AND u.role = 'page' ORDER BY p.url
"""


class Evicted(Struct, frozen=True):
    """A page that left, its place, and that of the last page that stayed."""

    url: int
    place: float
    last: float


class Keeper:
    """Watches the size of a collection; `most` 0 is no limit."""

    def __init__(self, db: Connection, most: int = 0) -> None:
        self.db = db
        self.most = most
        self.stored = 0  # since the last look
        self.room = 0  # what may be stored until the next one
        self.cut = NEVER  # the place of the last page kept, once the collection is full

    def is_due(self, stored: int) -> bool:
        """So many pages were stored: is it time to look who must leave?"""
        self.stored += stored
        return bool(self.most) and self.stored > self.room

    def worst(self, order: Ordering) -> list[Evicted]:
        """The stored pages that must leave, the best of them first; those in somebody's hands stay for now."""
        if not self.most:
            return []
        slack = max(LEAST_SLACK, int(SLACK * self.most))
        places = [
            (order.keeps(url, depth, unpack_relevance(mark) if mark else 0.0), url, lease is None)
            for url, depth, lease, mark in self.db.execute(STORED)
        ]
        self.stored, self.room = 0, self.most + slack - min(self.most, len(places))
        if len(places) < self.most:
            return []
        places.sort()
        self.cut = last = places[self.most - 1][0]
        return [Evicted(url, place, last) for place, url, is_free in places[self.most :] if is_free]

    def admits(self, place: float) -> bool:
        """Is a URL with this place better than the last page kept?"""
        return place < self.cut

    def drop_waiting(self) -> int:
        """Give up what waits and is not better; say how many. A link that is found to it again may bring it back."""
        if self.cut == NEVER:
            return 0
        rows = self.db.execute(
            "SELECT q.url, q.host FROM queue AS q JOIN urls AS u ON u.id = q.url"
            " WHERE q.rank >= ? AND u.role = 'page' AND u.source <> 'seed'"
            " AND NOT EXISTS (SELECT 1 FROM pages AS p WHERE p.url = q.url)",
            (self.cut,),
        ).fetchall()
        self.db.executemany("DELETE FROM queue WHERE url = ?", [(url,) for url, _ in rows])
        self._skip([url for url, _ in rows], Reason.LIMIT, "not better than the pages kept")
        self.db.executemany("UPDATE hosts SET waiting = waiting - 1 WHERE id = ?", [(host,) for _, host in rows])
        return len(rows)

    def note(self, evicted: Sequence[Evicted]) -> None:
        """Write down in the book what left, and why."""
        urls = [(page.url,) for page in evicted]
        self.db.executemany(
            "UPDATE hosts SET waiting = waiting - 1 WHERE id = (SELECT host FROM queue WHERE url = ?)", urls
        )
        self.db.executemany("DELETE FROM queue WHERE url = ?", urls)
        for page in evicted:
            why = f"its place {page.place:.4g} is behind {page.last:.4g}, that of the last of {self.most:,} pages kept"
            self._skip([page.url], Reason.EVICTED, why)

    def _skip(self, urls: Sequence[int], reason: Reason, note: str) -> None:
        self.db.executemany(
            "UPDATE urls SET state = ?, reason = ?, note = ? WHERE id = ?",
            [(State.SKIPPED, reason, note, url) for url in urls],
        )

    def worth_another_look(self, order: Ordering) -> list[tuple[int, int]]:
        """Ids and levels of pages that left, or were never fetched for lack of room, and are better by now."""
        rows = self.db.execute(
            "SELECT id, depth FROM urls WHERE state = ? AND reason IN (?, ?)",
            (State.SKIPPED, Reason.EVICTED, Reason.LIMIT),
        ).fetchall()
        return [(url, depth) for url, depth in rows if self.admits(order.keeps(url, depth, 0.0))]

"""So many pages of each host and no more: a budget that keeps one large site from taking all of a crawl.

What counts is what the collection holds, so a page that is visited again costs nothing. While the last pages of a host
are in somebody's hands nothing new of it goes out: one of them may turn out to be none.
"""

from collections import Counter

from sanderling.db.connection import Connection
from sanderling.models import Host, Reason, UrlState

IS_STORED = "EXISTS (SELECT 1 FROM pages AS p WHERE p.url = u.id AND p.status BETWEEN 200 AND 299)"


class HostQuota:
    """Counts the pages of each host; `most` is how many of one may be held."""

    def __init__(self, db: Connection, max_pages: int) -> None:
        self.db = db
        self.max_pages = max_pages
        self.page_counts: Counter[int] = Counter(
            dict(
                db.execute(
                    "SELECT u.host, count(*) FROM pages AS p JOIN urls AS u ON u.id = p.url"
                    " WHERE p.status BETWEEN 200 AND 299 AND u.role = 'page' GROUP BY u.host"
                ).fetchall()
            )
        )

    def find_full_hosts(self) -> list[Host]:
        """The hosts that have all their pages."""
        wanted = [host for host, held in self.page_counts.items() if held >= self.max_pages]
        names = (self.db.execute("SELECT name FROM hosts WHERE id = ?", (host,)).fetchone() for host in wanted)
        return [Host(name) for (name,) in names]

    def add_page(self, host_id: int) -> bool:
        """One more page of a host is held; True if it was the last."""
        self.page_counts[host_id] += 1
        return self.page_counts[host_id] == self.max_pages

    def count_remaining(self, host_id: int) -> int:
        """How many URLs of a host may be handed out now."""
        if self.page_counts[host_id] >= self.max_pages:
            self.drop_queued(host_id)
            return 2**31  # what is left is held already, or no page
        (new,) = self.db.execute(
            "SELECT count(*) FROM leases AS l JOIN urls AS u ON u.id = l.url"
            f" WHERE l.host = ? AND u.role = 'page' AND NOT {IS_STORED}",
            (host_id,),
        ).fetchone()
        return self.max_pages - self.page_counts[host_id] - int(new)

    def drop_queued(self, host_id: int) -> int:
        """Skip what waits of a host that has all its pages; say how many."""
        rows = self.db.execute(
            "SELECT u.id FROM queue AS q JOIN urls AS u ON u.id = q.url"
            f" WHERE q.host = ? AND u.role = 'page' AND NOT {IS_STORED}",
            (host_id,),
        ).fetchall()
        self.db.executemany("DELETE FROM queue WHERE url = ?", rows)
        self.db.executemany(
            "UPDATE urls SET state = ?, reason = ?, note = ? WHERE id = ?",
            [(str(UrlState.SKIPPED), str(Reason.HOST_LIMIT), f"{self.max_pages:,} pages of its host are held", id_)
             for (id_,) in rows],
        )  # fmt: skip
        self.db.execute("UPDATE hosts SET waiting = waiting - ? WHERE id = ?", (len(rows), host_id))
        return len(rows)

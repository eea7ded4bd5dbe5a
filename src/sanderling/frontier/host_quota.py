"""Limit the number of pages per host, so that a large site does not take the whole crawl.

Only stored pages count, so revisits are free. No new URL of a host is leased while the leased ones could fill the
quota: some of them may turn out not to be pages.
"""

from collections import Counter

from sanderling.db.connection import Connection
from sanderling.models import Host, Reason, UrlState

IS_STORED = "EXISTS (SELECT 1 FROM pages AS p WHERE p.url = u.id AND p.status BETWEEN 200 AND 299)"


class HostQuota:
    """Counts stored pages per host; `max_pages` is the limit."""

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
        """Return the hosts that have reached the limit."""
        full = [host for host, count in self.page_counts.items() if count >= self.max_pages]
        names = (self.db.execute("SELECT name FROM hosts WHERE id = ?", (host,)).fetchone() for host in full)
        return [Host(name) for (name,) in names]

    def add_page(self, host_id: int) -> bool:
        """Count a stored page; return True if its host just reached the limit."""
        self.page_counts[host_id] += 1
        return self.page_counts[host_id] == self.max_pages

    def count_remaining(self, host_id: int) -> int:
        """Return how many URLs of a host may be leased now. Drops queued URLs of a full host."""
        if self.page_counts[host_id] >= self.max_pages:
            self.drop_queued(host_id)
            return 2**31  # the remaining URLs are stored already, or are not pages
        (leased,) = self.db.execute(
            "SELECT count(*) FROM leases AS l JOIN urls AS u ON u.id = l.url"
            f" WHERE l.host = ? AND u.role = 'page' AND NOT {IS_STORED}",
            (host_id,),
        ).fetchone()
        return self.max_pages - self.page_counts[host_id] - int(leased)

    def drop_queued(self, host_id: int) -> int:
        """Skip the queued new pages of a full host; return their number."""
        rows = self.db.execute(
            "SELECT u.id FROM queue AS q JOIN urls AS u ON u.id = q.url"
            f" WHERE q.host = ? AND u.role = 'page' AND NOT {IS_STORED}",
            (host_id,),
        ).fetchall()
        self.db.executemany("DELETE FROM queue WHERE url = ?", rows)
        self.db.executemany(
            "UPDATE urls SET state = ?, reason = ?, note = ? WHERE id = ?",
            [(str(UrlState.SKIPPED), str(Reason.HOST_LIMIT), f"{self.max_pages:,} pages of this host are stored", id_)
             for (id_,) in rows],
        )  # fmt: skip
        self.db.execute("UPDATE hosts SET waiting = waiting - ? WHERE id = ?", (len(rows), host_id))
        return len(rows)

"""So many pages of each host and no more: a budget that keeps one large site from taking all of a crawl.

What counts is what the collection holds, so a page that is visited again costs nothing. While the last pages of a host
are in somebody's hands nothing new of it goes out: one of them may turn out to be none.
"""

from collections import Counter

from sanderling.db.connection import Connection
from sanderling.models import Host, Reason, State

HELD = "EXISTS (SELECT 1 FROM pages AS p WHERE p.url = u.id AND p.status BETWEEN 200 AND 299)"


class Quota:
    """Counts the pages of each host; `most` is how many of one may be held."""

    def __init__(self, db: Connection, most: int) -> None:
        self.db = db
        self.most = most
        self.held: Counter[int] = Counter(
            dict(
                db.execute(
                    "SELECT u.host, count(*) FROM pages AS p JOIN urls AS u ON u.id = p.url"
                    " WHERE p.status BETWEEN 200 AND 299 AND u.role = 'page' GROUP BY u.host"
                ).fetchall()
            )
        )

    def full(self) -> list[Host]:
        """The hosts that have all their pages."""
        wanted = [host for host, held in self.held.items() if held >= self.most]
        names = (self.db.execute("SELECT name FROM hosts WHERE id = ?", (host,)).fetchone() for host in wanted)
        return [Host(name) for (name,) in names]

    def store(self, host: int) -> bool:
        """One more page of a host is held; True if it was the last."""
        self.held[host] += 1
        return self.held[host] == self.most

    def room(self, host: int) -> int:
        """How many URLs of a host may be handed out now."""
        if self.held[host] >= self.most:
            self.drop_waiting(host)
            return 2**31  # what is left is held already, or no page
        (new,) = self.db.execute(
            "SELECT count(*) FROM leases AS l JOIN urls AS u ON u.id = l.url"
            f" WHERE l.host = ? AND u.role = 'page' AND NOT {HELD}",
            (host,),
        ).fetchone()
        return self.most - self.held[host] - int(new)

    def drop_waiting(self, host: int) -> int:
        """Skip what waits of a host that has all its pages; say how many."""
        rows = self.db.execute(
            "SELECT u.id FROM queue AS q JOIN urls AS u ON u.id = q.url"
            f" WHERE q.host = ? AND u.role = 'page' AND NOT {HELD}",
            (host,),
        ).fetchall()
        self.db.executemany("DELETE FROM queue WHERE url = ?", rows)
        self.db.executemany(
            "UPDATE urls SET state = ?, reason = ?, note = ? WHERE id = ?",
            [(str(State.SKIPPED), str(Reason.HOST_LIMIT), f"{self.most:,} pages of its host are held", id_)
             for (id_,) in rows],
        )  # fmt: skip
        self.db.execute("UPDATE hosts SET waiting = waiting - ? WHERE id = ?", (len(rows), host))
        return len(rows)

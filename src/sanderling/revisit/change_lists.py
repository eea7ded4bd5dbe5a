"""Lists of changes that sites offer (publisher): what they named, and how often they were right.

The question to ask next stands in the book as the list's spelling on the wire: it carries LAST_VISIT, the server's own
time of its last answer. While a list is trusted, pages of its host are due only if it named them. It is put to the
test: pages it did not name are visited as well, a few of those whose time has come; one that changed was kept from us.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from sanderling.clock import http_time
from sanderling.db.connection import Connection
from sanderling.models import Visit

MOST_PARTS = 200  # pages of one answer that are followed
MARGIN = 60.0  # seconds asked for again, the first time
ASK_EVERY = 3600.0  # seconds, for a refresh that stays
TEST_WITHIN = 600.0  # seconds after an answer in which a page it did not name says something of it
SHARE, MOST_TESTS = 20, 20  # one of so many due pages is visited though not named; at most so many per host
LEAST_COMPLETE = 0.75  # share of tested pages that must be as the list said: what it keeps from us we never see
LEAST_RIGHT = 0.25  # share of named pages that must have changed: a false alarm costs a request only
PRIOR = 2.0  # tests and named pages a new list is credited with, all of them right
FADE = 0.98
DELETED = 2.0  # stands above every priority: a deletion is looked at whatever the threshold
UNSAID = 0.5  # the protocol's priority of a page without one
DATE = re.compile(rb"^date:[ \t]*([^\r\n]{1,60})", re.IGNORECASE | re.MULTILINE)
TRUSTED = (
    f"heard = 1 AND looked - missed + {PRIOR} >= {LEAST_COMPLETE} * (looked + {PRIOR})"
    f" AND confirmed + {PRIOR} >= {LEAST_RIGHT} * (named + {PRIOR})"
)


class Lists:
    """The lists of one collection; `threshold`: pages must have a priority above it, 0 for all."""

    def __init__(self, db: Connection, threshold: float = 0.0) -> None:
        self.db = db
        self.least = threshold if threshold > 0 else -1.0

    def wants(self, priority: float) -> bool:
        """Is a page of this priority worth a visit?"""
        return priority > self.least

    def open(self, url: int) -> None:
        """A site names its list; the first one of a host counts."""
        self.db.execute(
            "INSERT INTO lists (host, url) SELECT host, id FROM urls WHERE id = ? ON CONFLICT (host) DO NOTHING", (url,)
        )

    def is_open(self, url: int) -> bool:
        """Is this the list of its host?"""
        return self.db.execute("SELECT 1 FROM lists WHERE url = ?", (url,)).fetchone() is not None

    def is_closed(self, url: int) -> bool:
        """Was it given up, though it is named again?"""
        sql = "SELECT 1 FROM urls WHERE id = ? AND role = 'changes' AND state IN ('gone', 'failed', 'skipped')"
        return self.db.execute(sql, (url,)).fetchone() is not None

    def reopen(self, url: int, wire: str) -> None:
        """It will be asked again, from the start."""
        self.db.execute("UPDATE urls SET state = 'visited', wire = ? WHERE id = ?", (wire, url))

    def first_question(self, address: str, host: int, visit: Visit) -> str:
        """Ask for all since the oldest page we hold of a host, by the clock of the server that gave this visit."""
        from sanderling.publisher.http_dates import w3c_exact  # few sites offer a list

        row = self.db.execute(
            "SELECT min(p.last_visit) FROM pages AS p JOIN urls AS u ON u.id = p.url"
            " WHERE u.host = ? AND u.role = 'page'",
            (host,),
        ).fetchone()
        oldest = min(visit.at, row[0] if row[0] is not None else visit.at)
        since = oldest - visit.seconds - MARGIN + server_time(visit) - visit.at
        return _question(address, w3c_exact(max(0, int(since * 1000))))

    # Answers

    def forget_answers(self) -> None:
        """A run begins: every list must be heard anew before pages are passed over on its word."""
        self.db.execute("UPDATE lists SET heard = 0, parts = 0")

    def hear(self, visit: Visit, told: Sequence[tuple[int, float]], following: str, now: float) -> None:
        """Take one part of an answer: pages with priorities; `following` is where it goes on, empty at the end."""
        (parts, until, sure) = self.db.execute(
            "SELECT parts, until, sure FROM lists WHERE url = ?", (visit.id,)
        ).fetchone()
        until = until if parts and until else visit.list_until
        self._keep(told, sure, now)
        if following and parts + 1 >= MOST_PARTS:
            return self.lose(visit, now)
        wire = following or _question(visit.url, until)
        self.db.execute("UPDATE urls SET wire = ? WHERE id = ?", (wire, visit.id))
        self.db.execute(
            "UPDATE lists SET parts = ?, until = ?, heard = ?, asked_at = ?, sampled = 0, sure = ? WHERE url = ?",
            (parts + 1 if following else 0, until, int(not following), now, int(sure or not following), visit.id),
        )
        return None

    def _keep(self, told: Sequence[tuple[int, float]], sure: int, now: float) -> None:
        self.db.executemany(
            "INSERT INTO told SELECT id, ?, ? FROM urls WHERE id = ? AND role = 'page'"
            " AND state IN ('visited', 'gone', 'queued')"
            " ON CONFLICT (url) DO UPDATE SET priority = excluded.priority",
            [(priority, sure, url) for url, priority in told],
        )
        self.db.executemany(
            "INSERT INTO due (url, due_at, why, state)"
            " SELECT u.id, ?, 'the list of changes names it', ? FROM urls AS u WHERE u.id = ?"
            " AND u.role = 'page' AND u.state IN ('visited', 'gone')"
            " ON CONFLICT (url) DO UPDATE SET due_at = excluded.due_at, why = excluded.why",
            [(now, b"", url) for url, _ in told],
        )

    def goes_on(self, url: int) -> bool:
        """Is there more of this answer to ask for?"""
        return self.db.execute("SELECT 1 FROM lists WHERE url = ? AND parts > 0", (url,)).fetchone() is not None

    def lose(self, visit: Visit, now: float) -> None:
        """No answer, or none that can be read: go the ordinary way, and ask from the start the next time."""
        (host,) = self.db.execute("SELECT host FROM urls WHERE id = ?", (visit.id,)).fetchone()
        wire = self.first_question(visit.url, host, visit)
        self.db.execute("UPDATE urls SET wire = ? WHERE id = ?", (wire, visit.id))
        self.db.execute("UPDATE lists SET heard = 0, parts = 0, sure = 0, asked_at = ? WHERE url = ?", (now, visit.id))

    def wait(self, url: int, now: float) -> None:
        """It could not be asked; the same question will be tried again."""
        self.db.execute("UPDATE lists SET heard = 0, asked_at = ? WHERE url = ?", (now, url))

    # What to do with them

    def unread(self) -> list[int]:
        """Every list: a run that begins asks each."""
        return [id_ for (id_,) in self.db.execute("SELECT id FROM urls WHERE role = 'changes' AND state = 'visited'")]

    def stale(self, now: float) -> list[int]:
        """Lists that were asked long ago."""
        rows = self.db.execute(
            "SELECT l.url FROM lists AS l JOIN urls AS u ON u.id = l.url WHERE l.asked_at < ? AND u.state = 'visited'",
            (now - ASK_EVERY,),
        )
        return [url for (url,) in rows]

    def tests(self, now: float) -> list[int]:
        """A few pages that trusted lists did not name, though their time has come; once for each answer."""
        found: list[int] = []
        for (host,) in self.db.execute(f"SELECT host FROM lists WHERE sampled = 0 AND {TRUSTED}").fetchall():
            rows = self.db.execute(
                "SELECT d.url FROM due AS d JOIN urls AS u ON u.id = d.url LEFT JOIN told AS t ON t.url = d.url"
                " WHERE u.host = ? AND d.due_at <= ? AND u.state = 'visited' AND t.url IS NULL"
                " ORDER BY d.due_at LIMIT ?",
                (host, now, SHARE * MOST_TESTS),
            ).fetchall()
            found += [url for (url,) in rows[: -(-len(rows) // SHARE)]]
            self.db.execute("UPDATE lists SET sampled = 1 WHERE host = ?", (host,))
        return found

    def confirm(self, changed: Mapping[int, bool], now: float) -> None:
        """Visited pages, and whether they had changed: did the list say so?"""
        if self.db.execute("SELECT 1 FROM lists LIMIT 1").fetchone() is None:
            return
        for url, was in changed.items():
            row = self.db.execute("DELETE FROM told WHERE url = ? RETURNING sure", (url,)).fetchone()
            if row is None:
                self._score(url, "looked", "missed", was, now)
            elif row[0]:
                self._score(url, "named", "confirmed", was, now)

    def _score(self, url: int, all_: str, some: str, was: bool, now: float) -> None:
        self.db.execute(
            f"UPDATE lists SET {all_} = {all_} * {FADE} + 1, {some} = {some} * {FADE} + ?"
            " WHERE host = (SELECT host FROM urls WHERE id = ?) AND asked_at >= ? AND sure = 1 AND heard = 1",
            (float(was), url, now - TEST_WITHIN),
        )

    def leave(self, urls: Iterable[int]) -> None:
        """These pages are gone."""
        self.db.executemany("DELETE FROM told WHERE url = ?", [(url,) for url in urls])


def _question(address: str, since: str) -> str:
    from sanderling.publisher.changelist_parser import question  # few sites offer a list

    return question(address, since)


def is_answer(visit: Visit) -> bool:
    """Is this a list of changes, with a time to ask from the next time?"""
    from sanderling.publisher.http_dates import read_time

    return len(visit.list_until) < 64 and read_time(visit.list_until) is not None


def server_time(visit: Visit) -> float:
    """The time of an answer by the server's clock; by ours if it does not say."""
    found = DATE.search(visit.head)
    at = http_time(found[1].decode("latin-1")) if found else None
    return visit.at if at is None else at

"""Query past visits, and estimate how often pages change, appear, move, and disappear."""

import json
from collections.abc import Iterable, Iterator
from math import inf

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.discovery.changefreq import DEFAULT_CHANGEFREQ, classify_interval
from sanderling.models import Outcome
from sanderling.storage.catalog import MISSES_UNTIL_GONE

MIN_OBSERVED_SECONDS = 3600.0  # a shorter observation is no basis for an estimate
WEEK_SECONDS = 7 * 86_400.0  # minimum interval of a page without observed changes


# Only significant changes count, as listed by `sanderling changes`, not every difference of bytes.
COUNT_CHANGES_SQL = "(SELECT count(*) FROM changes AS c WHERE c.url = p.url AND c.kinds <> '')"
LAST_CHANGE_SQL = "coalesce((SELECT max(c.at) FROM changes AS c WHERE c.url = p.url AND c.kinds <> ''), p.first_seen)"


class PastVisit(Struct, frozen=True):
    at: float
    outcome: str
    reason: str
    status: int
    changed: bool  # significantly
    kinds: str  # kinds of a significant change
    size: int
    received_bytes: int
    duration_seconds: float
    digest: str
    stored: bool
    bytes_differ: bool = False  # from the last version; true for the first version


def load_visits(db: Connection, url_id: int) -> list[PastVisit]:
    """Return all visits of a URL, oldest first."""
    rows = db.execute(
        "SELECT v.at, v.outcome, v.reason, v.status, v.changed, coalesce(c.kinds, ''), v.size, v.wire_bytes, v.seconds,"
        " lower(hex(v.digest)), v.length > 0 FROM visits AS v LEFT JOIN changes AS c ON c.url = v.url AND c.at = v.at"
        " WHERE v.url = ? ORDER BY v.at, v.id",
        (url_id,),
    )
    return [PastVisit(at, outcome, reason, status, bool(kinds), kinds, size, wire, seconds, digest, bool(stored),
                 bool(differ))
            for at, outcome, reason, status, differ, kinds, size, wire, seconds, digest, stored in rows]  # fmt: skip


class PageObservation(Struct, frozen=True):
    """How long a page is known, and how often it changed significantly."""

    first_seen: float = 0.0
    last_visit: float = 0.0
    visits: int = 0
    changes: int = 0
    etag: str = ""
    last_modified: str = ""


def load_observation(db: Connection, url_id: int) -> PageObservation:
    """Return the observation of a page; empty if it is not stored."""
    row = db.execute(
        f"SELECT first_seen, last_visit, visits, {COUNT_CHANGES_SQL}, etag, last_modified"
        " FROM pages AS p WHERE url = ?",
        (url_id,),
    ).fetchone()
    return PageObservation(*row) if row else PageObservation()


class StoredVisit(Struct, frozen=True):
    """A visit, with the place of its body."""

    id: int
    url_id: int
    url: str
    at: float
    outcome: str
    status: int
    digest: bytes
    size: int
    file: str
    start: int
    length: int


SELECT_STORED_VISITS = """
    SELECT v.id, v.url, h.name || u.path, v.at, v.outcome, v.status, v.digest, v.size, coalesce(f.name, ''), v.start,
    v.length FROM visits AS v JOIN urls AS u ON u.id = v.url JOIN hosts AS h ON h.id = u.host
    LEFT JOIN files AS f ON f.id = v.file
"""


def load_visits_after(db: Connection, visit_id: int, limit: int) -> list[StoredVisit]:
    """Return the visits of pages stored after a visit, in the order of their ids."""
    sql = f"{SELECT_STORED_VISITS} WHERE v.id > ? AND u.role = 'page' ORDER BY v.id LIMIT ?"
    return [StoredVisit(*row) for row in db.execute(sql, (visit_id, limit))]


SELECT_PAGE_EVENTS = """
    SELECT v.id, v.url, h.name || u.path, v.at, v.outcome, v.changed FROM visits AS v JOIN urls AS u ON u.id = v.url
    JOIN hosts AS h ON h.id = u.host WHERE v.id > ? AND v.id <= ? AND u.role = 'page' ORDER BY v.id
"""


class PageEvent(Struct, frozen=True):
    """A visit that stored, changed, or removed a page, or found it as it was."""

    visit_id: int
    url_id: int
    url: str
    at: float
    outcome: str
    has_changed: bool

    @property
    def is_unchanged(self) -> bool:
        """Whether the visit changed nothing but the time of the last visit."""
        is_same_body = self.outcome == Outcome.FETCHED and not self.has_changed
        return is_same_body or self.outcome in (Outcome.NOT_MODIFIED, Outcome.FAILED, Outcome.RETRY)


def load_page_events(db: Connection, since: int, until: int) -> list[PageEvent]:
    """Return the visits of pages with ids in (since, until], in order."""
    rows = db.execute(SELECT_PAGE_EVENTS, (since, until))
    return [PageEvent(id_, url_id, url, at, outcome, bool(changed)) for id_, url_id, url, at, outcome, changed in rows]


def load_last_body_visit(db: Connection, url_id: int, before_id: int) -> StoredVisit | None:
    """Return the last successful visit with a body, before another visit."""
    sql = f"{SELECT_STORED_VISITS} WHERE v.url = ? AND v.id < ? AND v.outcome = 'fetched' AND v.length > 0"
    row = db.execute(f"{sql} AND v.status BETWEEN 200 AND 299 ORDER BY v.id DESC LIMIT 1", (url_id, before_id))
    found = row.fetchone()
    return StoredVisit(*found) if found else None


def load_visit(db: Connection, visit_id: int) -> StoredVisit | None:
    """Return a visit, or None if it was deleted."""
    row = db.execute(f"{SELECT_STORED_VISITS} WHERE v.id = ?", (visit_id,)).fetchone()
    return StoredVisit(*row) if row else None


def find_last_visit_id(db: Connection, until: float) -> int:
    """Return the last visit until a time; 0 if there is none. Reads the whole table."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM visits WHERE at <= ?", (until,)).fetchone()[0])


def find_former_urls(db: Connection, url: str, limit: int = 10) -> list[tuple[int, str]]:
    """Return the URLs that redirect here permanently after a move, nearest first."""
    found: list[tuple[int, str]] = []
    while len(found) < limit:
        row = db.execute(
            "SELECT p.url, h.name || u.path FROM pages AS p JOIN urls AS u ON u.id = p.url JOIN hosts AS h"
            " ON h.id = u.host WHERE p.location = ? AND p.status IN (301, 308) AND p.visits > 1 ORDER BY p.visits DESC",
            (url,),
        ).fetchone()
        if row is None or any(row[0] == url_id for url_id, _ in found):
            break
        found.append((row[0], row[1]))
        url = row[1]
    return found


def has_enough_history(first_seen: float, last_visit: float, visits: int) -> bool:
    """Return whether the visits of a page are sufficient to estimate how often it changes."""
    return visits > 1 and last_visit - first_seen >= MIN_OBSERVED_SECONDS


def estimate_change_class(
    first_seen: float, last_visit: float, visits: int, changes: int, sitemap_changefreq: str = ""
) -> str:
    """Return the change class of a page (MIG). The sitemap counts only without enough observations."""
    if not has_enough_history(first_seen, last_visit, visits):
        return sitemap_changefreq or DEFAULT_CHANGEFREQ
    span = last_visit - first_seen
    return classify_interval(span / changes if changes else max(2 * span, WEEK_SECONDS))


def load_change_classes(db: Connection) -> Iterator[tuple[str, str]]:
    """Yield URL and change class of every stored page."""
    rows = db.execute(
        f"SELECT h.name || u.path, p.first_seen, p.last_visit, p.visits, {COUNT_CHANGES_SQL},"
        " coalesce(t.changefreq, '') FROM pages AS p JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host"
        " LEFT JOIN sitemap_hints AS t ON t.url = p.url"
        " WHERE u.role = 'page' AND p.status BETWEEN 200 AND 299 ORDER BY p.url"
    )
    for url, first, last, visits, changes, sitemap_changefreq in rows:
        yield url, estimate_change_class(first, last, visits, changes, sitemap_changefreq)


SELECT_NEW_PAGES = """
    SELECT p.url, p.first_seen FROM pages AS p JOIN urls AS u ON u.id = p.url
    WHERE p.first_seen > ? AND p.status BETWEEN 200 AND 299 AND u.role = 'page' ORDER BY p.first_seen DESC, p.url
"""
SELECT_GONE_PAGES = """
    SELECT p.url FROM pages AS p JOIN urls AS u ON u.id = p.url
    WHERE p.last_visit >= ? AND p.status >= 400 AND length(p.digest) > 0 AND u.role = 'page'
"""
SELECT_MOVED_PAGES = """
    SELECT p.url FROM pages AS p JOIN urls AS u ON u.id = p.url
    WHERE p.last_visit >= ? AND p.status BETWEEN 300 AND 399 AND u.role = 'page'
"""
SELECT_RETURNED_PAGES = f"""
    SELECT p.url FROM pages AS p JOIN urls AS u ON u.id = p.url
    WHERE p.last_visit >= ? AND p.status BETWEEN 200 AND 299 AND u.role = 'page'
    AND EXISTS (SELECT 1 FROM visits AS v WHERE v.url = p.url AND v.outcome = '{Outcome.GONE}')
"""
SELECT_VISITS = "SELECT at, outcome FROM visits WHERE url = ? ORDER BY at DESC, id DESC"
REACHED_OUTCOMES = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT)
SELECT_UNSEEN_PAGES = f"""
    SELECT p.url FROM pages AS p JOIN urls AS u ON u.id = p.url WHERE u.role = 'page' AND NOT EXISTS
    (SELECT 1 FROM visits AS v WHERE v.url = p.url AND v.at >= ?
     AND v.outcome IN ({", ".join("?" * len(REACHED_OUTCOMES))}))
"""


class PageLifecycleEvent(Struct, frozen=True):
    """The appearance, removal, move, or return of a page, with the last time of its previous state."""

    url_id: int
    detected_at: float
    previous_state_at: float = 0.0


def find_first_complete_time(db: Connection) -> float:
    """Return when a crawl first completed, or infinity. Pages found before are not new."""
    for ended, summary in db.execute("SELECT ended, summary FROM runs WHERE finish_reason = 'done' ORDER BY id"):
        if summary and json.loads(summary).get("pages"):
            return float(ended)
    return inf


def find_new_pages(db: Connection, since: float) -> list[PageLifecycleEvent]:
    """Return present pages first seen since this time, newest first."""
    return [PageLifecycleEvent(url, at) for url, at in db.execute(SELECT_NEW_PAGES, (since,))]


def find_gone_pages(db: Connection, since: float) -> list[PageLifecycleEvent]:
    """Return pages detected as gone since this time, which takes two misses."""
    return _find_transitions(db, SELECT_GONE_PAGES, Outcome.GONE, MISSES_UNTIL_GONE, since)


def find_moved_pages(db: Connection, since: float) -> list[PageLifecycleEvent]:
    """Return pages that redirect since this time."""
    return _find_transitions(db, SELECT_MOVED_PAGES, Outcome.REDIRECT, 1, since)


def find_returned_pages(db: Connection, since: float) -> list[PageLifecycleEvent]:
    """Return pages that were gone and were reached again since this time, newest first."""
    found = (_find_return(db, url) for (url,) in db.execute(SELECT_RETURNED_PAGES, (since,)).fetchall())
    return _sort_events(found, since)


def find_pages_gone_since(db: Connection, cutoff: float) -> list[int]:
    """Return pages that are gone since this time or earlier."""
    return sorted(event.url_id for event in find_gone_pages(db, 0.0) if event.detected_at <= cutoff)


def find_pages_unseen_since(db: Connection, cutoff: float) -> list[int]:
    """Return pages that no visit has reached since this time."""
    return sorted(url for (url,) in db.execute(SELECT_UNSEEN_PAGES, (cutoff, *REACHED_OUTCOMES)))


def _find_transitions(
    db: Connection, sql: str, outcome: Outcome, confirmations: int, since: float
) -> list[PageLifecycleEvent]:
    transitions = (_find_transition(db, url, outcome, confirmations) for (url,) in db.execute(sql, (since,)).fetchall())
    return _sort_events(transitions, since)


def _sort_events(found: Iterable[PageLifecycleEvent | None], since: float) -> list[PageLifecycleEvent]:
    return sorted((e for e in found if e is not None and e.detected_at >= since), key=lambda e: -e.detected_at)


def _find_return(db: Connection, url_id: int) -> PageLifecycleEvent | None:
    """Return the first visit after the page was last gone, which takes two misses; None: it was not."""
    reached_at, missed_at, misses = 0.0, 0.0, 0
    for at, outcome in db.execute(SELECT_VISITS, (url_id,)):
        if outcome == Outcome.GONE:
            missed_at, misses = missed_at if misses else at, misses + 1
            if misses >= MISSES_UNTIL_GONE:
                return PageLifecycleEvent(url_id, reached_at, missed_at) if reached_at else None
        elif outcome in (Outcome.FETCHED, Outcome.NOT_MODIFIED):
            reached_at, misses = at, 0
    return None


def _find_transition(db: Connection, url_id: int, outcome: Outcome, confirmations: int) -> PageLifecycleEvent | None:
    """Return the confirming visit after the last successful visit.

    None: the page was never reached before.
    """
    detections: list[float] = []
    for at, seen_outcome in db.execute(SELECT_VISITS, (url_id,)):
        if seen_outcome == outcome:
            detections.append(at)
        elif seen_outcome in (Outcome.FETCHED, Outcome.NOT_MODIFIED):
            return PageLifecycleEvent(url_id, detections[-confirmations:][0], at) if detections else None
    return None

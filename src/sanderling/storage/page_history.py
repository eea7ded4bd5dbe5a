"""The history of pages: every visit as it was, and what it tells of how often a page changes."""

import json
from collections.abc import Iterator
from math import inf

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.discovery.changefreq import DEFAULT_CHANGEFREQ, classify_interval
from sanderling.models import Outcome
from sanderling.storage.catalog import MISSES_UNTIL_GONE

MIN_OBSERVED_SECONDS = 3600.0  # seconds of looking on that tell nothing
WEEK_SECONDS = 7 * 86_400.0  # a page not seen to change is weekly at first, then what its quiet time says


# A change is a difference that matters, as `sanderling changes` lists it. Bytes alone (a clock, a token) are none.
COUNT_CHANGES_SQL = "(SELECT count(*) FROM changes AS c WHERE c.url = p.url AND c.kinds <> '')"
LAST_CHANGE_SQL = "coalesce((SELECT max(c.at) FROM changes AS c WHERE c.url = p.url AND c.kinds <> ''), p.first_seen)"


class PastVisit(Struct, frozen=True):
    """One visit of the past."""

    at: float
    outcome: str
    reason: str
    status: int
    changed: bool  # in a way that matters
    kinds: str  # of the change, if it mattered
    size: int
    received_bytes: int
    duration_seconds: float
    digest: str
    stored: bool
    bytes_differ: bool = False  # from the last version; always so for the first


def load_visits(db: Connection, url_id: int) -> list[PastVisit]:
    """All visits of a URL, oldest first."""
    rows = db.execute(
        "SELECT v.at, v.outcome, v.reason, v.status, v.changed, coalesce(c.kinds, ''), v.size, v.wire_bytes, v.seconds,"
        " lower(hex(v.digest)), v.length > 0 FROM visits AS v LEFT JOIN changes AS c ON c.url = v.url AND c.at = v.at"
        " WHERE v.url = ? ORDER BY v.at, v.id",
        (url_id,),
    )
    return [PastVisit(at, outcome, reason, status, bool(kinds), kinds, size, wire, seconds, digest, bool(stored),
                 bool(differ))
            for at, outcome, reason, status, differ, kinds, size, wire, seconds, digest, stored in rows]  # fmt: skip


def find_former_urls(db: Connection, url: str, limit: int = 10) -> list[tuple[int, str]]:
    """The addresses from which a page moved here for good, nearest first."""
    found: list[tuple[int, str]] = []
    while len(found) < limit:
        row = db.execute(
            "SELECT p.url, h.name || u.path FROM pages AS p JOIN urls AS u ON u.id = p.url JOIN hosts AS h"
            " ON h.id = u.host WHERE p.location = ? AND p.status IN (301, 308) AND p.visits > 1 ORDER BY p.visits DESC",
            (url,),
        ).fetchone()
        if row is None or any(row[0] == known for known, _ in found):
            break
        found.append((row[0], row[1]))
        url = row[1]
    return found


def has_enough_history(first_seen: float, last_visit: float, visits: int) -> bool:
    """Do the visits of a page say how often it changes?"""
    return visits > 1 and last_visit - first_seen >= MIN_OBSERVED_SECONDS


def estimate_change_class(
    first_seen: float, last_visit: float, visits: int, changes: int, sitemap_changefreq: str = ""
) -> str:
    """The class of a page (MIG-3): by what was observed; a sitemap's word counts only while nothing was."""
    if not has_enough_history(first_seen, last_visit, visits):
        return sitemap_changefreq or DEFAULT_CHANGEFREQ
    span = last_visit - first_seen
    return classify_interval(span / changes if changes else max(2 * span, WEEK_SECONDS))


def load_change_classes(db: Connection) -> Iterator[tuple[str, str]]:
    """The URL and class of every stored page."""
    rows = db.execute(
        f"SELECT h.name || u.path, p.first_seen, p.last_visit, p.visits, {COUNT_CHANGES_SQL}, coalesce(t.changefreq, '')"
        " FROM pages AS p JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host"
        " LEFT JOIN hints AS t ON t.url = p.url WHERE u.role = 'page' AND p.status BETWEEN 200 AND 299 ORDER BY p.url"
    )
    for url, first, last, visits, changes, hint in rows:
        yield url, estimate_change_class(first, last, visits, changes, hint)


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
SELECT_VISITS = "SELECT at, outcome FROM visits WHERE url = ? ORDER BY at DESC, id DESC"


REACHED_OUTCOMES = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT)
SELECT_UNSEEN_PAGES = f"""
    SELECT p.url FROM pages AS p JOIN urls AS u ON u.id = p.url WHERE u.role = 'page' AND NOT EXISTS
    (SELECT 1 FROM visits AS v WHERE v.url = p.url AND v.at >= ? AND v.outcome IN ({", ".join("?" * len(REACHED_OUTCOMES))}))
"""


class PageLifecycleEvent(Struct, frozen=True):
    """A page that came or went, when that was seen, and when it was last seen to be otherwise."""

    url_id: int
    detected_at: float
    previous_state_at: float = 0.0


def find_first_complete_time(db: Connection) -> float:
    """When a crawl that found something was first complete: what it found is not new. Never: infinity."""
    for ended, summary in db.execute("SELECT ended, summary FROM runs WHERE finish_reason = 'done' ORDER BY id"):
        if summary and json.loads(summary).get("pages"):
            return float(ended)
    return inf


def find_new_pages(db: Connection, since: float) -> list[PageLifecycleEvent]:
    """Pages first seen since then that are there now, the latest first."""
    return [PageLifecycleEvent(url, at) for url, at in db.execute(SELECT_NEW_PAGES, (since,))]


def find_gone_pages(db: Connection, since: float) -> list[PageLifecycleEvent]:
    """Pages that were found to be gone since then; that takes two looks."""
    return _find_transitions(db, SELECT_GONE_PAGES, Outcome.GONE, MISSES_UNTIL_GONE, since)


def find_moved_pages(db: Connection, since: float) -> list[PageLifecycleEvent]:
    """Pages that have led elsewhere since then."""
    return _find_transitions(db, SELECT_MOVED_PAGES, Outcome.REDIRECT, 1, since)


def find_pages_gone_since(db: Connection, cutoff: float) -> list[int]:
    """Pages that were found to be gone before this time, and never there since."""
    return sorted(move.url_id for move in find_gone_pages(db, 0.0) if move.detected_at <= cutoff)


def find_pages_unseen_since(db: Connection, cutoff: float) -> list[int]:
    """Pages that no visit since this time found there, be it that there was none."""
    return sorted(url for (url,) in db.execute(SELECT_UNSEEN_PAGES, (cutoff, *REACHED_OUTCOMES)))


def _find_transitions(
    db: Connection, sql: str, outcome: Outcome, confirmations: int, since: float
) -> list[PageLifecycleEvent]:
    found = (_find_transition(db, url, outcome, confirmations) for (url,) in db.execute(sql, (since,)).fetchall())
    return sorted(
        (move for move in found if move is not None and move.detected_at >= since), key=lambda move: -move.detected_at
    )


def _find_transition(db: Connection, url_id: int, outcome: Outcome, confirmations: int) -> PageLifecycleEvent | None:
    """The look that settled it, after the last one when the page was there; None if it never was."""
    ends: list[float] = []
    for at, seen in db.execute(SELECT_VISITS, (url_id,)):
        if seen == outcome:
            ends.append(at)
        elif seen in (Outcome.FETCHED, Outcome.NOT_MODIFIED):
            return PageLifecycleEvent(url_id, ends[-confirmations:][0], at) if ends else None
    return None

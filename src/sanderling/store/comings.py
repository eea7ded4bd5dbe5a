"""Pages that came since a time, and pages that went: what comparing two versions of one page cannot tell."""

import json
from math import inf

from msgspec import Struct

from sanderling.database import Connection
from sanderling.records import Outcome
from sanderling.store.catalogue import LOOKS

CAME = """
    SELECT p.url, p.first_seen FROM pages AS p JOIN urls AS u ON u.id = p.url
    WHERE p.first_seen > ? AND p.status BETWEEN 200 AND 299 AND u.role = 'page' ORDER BY p.first_seen DESC, p.url
"""
WENT = """
    SELECT p.url FROM pages AS p JOIN urls AS u ON u.id = p.url
    WHERE p.last_visit >= ? AND p.status >= 400 AND length(p.digest) > 0 AND u.role = 'page'
"""
MOVED = """
    SELECT p.url FROM pages AS p JOIN urls AS u ON u.id = p.url
    WHERE p.last_visit >= ? AND p.status BETWEEN 300 AND 399 AND u.role = 'page'
"""
VISITS = "SELECT at, outcome FROM visits WHERE url = ? ORDER BY at DESC, id DESC"


SEEN = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT)
UNSEEN = f"""
    SELECT p.url FROM pages AS p JOIN urls AS u ON u.id = p.url WHERE u.role = 'page' AND NOT EXISTS
    (SELECT 1 FROM visits AS v WHERE v.url = p.url AND v.at >= ? AND v.outcome IN ({", ".join("?" * len(SEEN))}))
"""


class Move(Struct, frozen=True):
    """A page that came or went, when that was seen, and when it was last seen to be otherwise."""

    url: int
    at: float
    previous_at: float = 0.0


def first_complete(db: Connection) -> float:
    """When a crawl that found something was first complete: what it found is not new. Never: infinity."""
    for ended, summary in db.execute("SELECT ended, summary FROM runs WHERE finish_reason = 'done' ORDER BY id"):
        if summary and json.loads(summary).get("pages"):
            return float(ended)
    return inf


def came(db: Connection, since: float) -> list[Move]:
    """Pages first seen since then that are there now, the latest first."""
    return [Move(url, at) for url, at in db.execute(CAME, (since,))]


def went(db: Connection, since: float) -> list[Move]:
    """Pages that were found to be gone since then; that takes two looks."""
    return _since(db, WENT, Outcome.GONE, LOOKS, since)


def moved(db: Connection, since: float) -> list[Move]:
    """Pages that have led elsewhere since then."""
    return _since(db, MOVED, Outcome.REDIRECT, 1, since)


def gone_since(db: Connection, at: float) -> list[int]:
    """Pages that were found to be gone before this time, and never there since."""
    return sorted(move.url for move in went(db, 0.0) if move.at <= at)


def unseen_since(db: Connection, at: float) -> list[int]:
    """Pages that no visit since this time found there, be it that there was none."""
    return sorted(url for (url,) in db.execute(UNSEEN, (at, *SEEN)))


def _since(db: Connection, sql: str, outcome: Outcome, looks: int, since: float) -> list[Move]:
    found = (_turn(db, url, outcome, looks) for (url,) in db.execute(sql, (since,)).fetchall())
    return sorted((move for move in found if move is not None and move.at >= since), key=lambda move: -move.at)


def _turn(db: Connection, url: int, outcome: Outcome, looks: int) -> Move | None:
    """The look that settled it, after the last one when the page was there; None if it never was."""
    ends: list[float] = []
    for at, seen in db.execute(VISITS, (url,)):
        if seen == outcome:
            ends.append(at)
        elif seen in (Outcome.FETCHED, Outcome.NOT_MODIFIED):
            return Move(url, ends[-looks:][0], at) if ends else None
    return None

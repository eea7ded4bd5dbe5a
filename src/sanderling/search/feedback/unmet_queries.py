"""The loop closes: a search that did not satisfy becomes a brief, "more pages built like these" (MIG-11, MIG-13)."""

import json

from msgspec import Struct

from sanderling.search.feedback.event_log import Log, query_key
from sanderling.storage.signal_log import Signal

TOP_PAGES = 5  # whose structures are looked for
OPEN, TAKEN, ANSWERED = "open", "taken", "answered"


class Brief(Struct, frozen=True):
    """A request for pages built like these, because a question was not answered."""

    id: int
    query: str
    urls: tuple[str, ...]  # the pages that stood on top
    at: float
    state: str
    known: int  # results there were when it was asked
    found: int = 0  # new pages that came of it
    answered_at: float = 0.0


def not_satisfied(log: Log, query: str, urls: list[str], known: int, now: float) -> Brief:
    """Raise Low_Rating and crawl_more; the same question asked again joins the brief that is open."""
    key = query_key(query)
    log.signal(Signal.LOW_RATING, query, now)
    waiting = [brief for brief in briefs(log, key) if brief.state != ANSWERED]
    if waiting:
        return waiting[0]
    log.signal(Signal.CRAWL_MORE, query, now)
    with log.lock:
        row = log.db.execute(
            "INSERT INTO briefs (query, key, urls, at, state, known) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            (query, key, json.dumps(urls[:TOP_PAGES]), now, OPEN, known),
        ).fetchone()
    return Brief(row[0], query, tuple(urls[:TOP_PAGES]), now, OPEN, known)


def briefs(log: Log, key: str = "", most: int = 50) -> list[Brief]:
    """Briefs, newest first; those of one question if a key is given."""
    where, values = ("WHERE key = ?", (key,)) if key else ("", ())
    rows = log.db.execute(
        f"SELECT id, query, urls, at, state, known, found, answered_at FROM briefs {where} ORDER BY id DESC LIMIT ?",
        (*values, most),
    )
    return [Brief(id_, query, tuple(json.loads(urls)), *rest) for id_, query, urls, *rest in rows]


def take(log: Log) -> list[Brief]:
    """Hand out the open briefs, each once; for whoever sends specialised migrants."""
    with log.lock:
        waiting = [brief for brief in briefs(log) if brief.state == OPEN]
        log.db.executemany("UPDATE briefs SET state = ? WHERE id = ?", [(TAKEN, brief.id) for brief in waiting])
    return waiting


def reopen(log: Log) -> None:
    """What was taken and not answered is open again: whoever took it is gone."""
    with log.lock:
        log.db.execute("UPDATE briefs SET state = ? WHERE state = ?", (OPEN, TAKEN))


def answer(log: Log, brief: int, found: int, now: float) -> None:
    """Say how many new pages came of a brief; the search page tells the user."""
    with log.lock:
        log.db.execute(
            "UPDATE briefs SET state = ?, found = ?, answered_at = ? WHERE id = ?", (ANSWERED, found, now, brief)
        )
    log.signal(Signal.DONE, f"{found} new pages for brief {brief}", now)

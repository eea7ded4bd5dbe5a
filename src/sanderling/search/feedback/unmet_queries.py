"""The loop closes: a search that did not satisfy becomes a brief, "more pages built like these" (MIG-11, MIG-13)."""

import json

from msgspec import Struct

from sanderling.search.feedback.event_log import EventLog, build_query_key
from sanderling.storage.signal_log import Signal

TOP_PAGES = 5  # whose structures are looked for
OPEN, CLAIMED, ANSWERED = "open", "taken", "answered"


class UnmetQuery(Struct, frozen=True):
    """A request for pages built like these, because a question was not answered."""

    id: int
    query: str
    urls: tuple[str, ...]  # the pages that stood on top
    created_at: float
    state: str
    result_count: int  # results there were when it was asked
    new_page_count: int = 0  # new pages that came of it
    answered_at: float = 0.0


def add_unmet_query(log: EventLog, query: str, urls: list[str], result_count: int, now: float) -> UnmetQuery:
    """Raise Low_Rating and crawl_more; the same question asked again joins the brief that is open."""
    key = build_query_key(query)
    log.raise_signal(Signal.LOW_RATING, query, now)
    waiting = [brief for brief in list_unmet_queries(log, key) if brief.state != ANSWERED]
    if waiting:
        return waiting[0]
    log.raise_signal(Signal.CRAWL_MORE, query, now)
    with log.lock:
        row = log.db.execute(
            "INSERT INTO briefs (query, key, urls, at, state, known) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            (query, key, json.dumps(urls[:TOP_PAGES]), now, OPEN, result_count),
        ).fetchone()
    return UnmetQuery(row[0], query, tuple(urls[:TOP_PAGES]), now, OPEN, result_count)


def list_unmet_queries(log: EventLog, key: str = "", limit: int = 50) -> list[UnmetQuery]:
    """Briefs, newest first; those of one question if a key is given."""
    where, values = ("WHERE key = ?", (key,)) if key else ("", ())
    rows = log.db.execute(
        f"SELECT id, query, urls, at, state, known, found, answered_at FROM briefs {where} ORDER BY id DESC LIMIT ?",
        (*values, limit),
    )
    return [UnmetQuery(id_, query, tuple(json.loads(urls)), *rest) for id_, query, urls, *rest in rows]


def claim_unmet_queries(log: EventLog) -> list[UnmetQuery]:
    """Hand out the open briefs, each once; for whoever sends specialised migrants."""
    with log.lock:
        waiting = [brief for brief in list_unmet_queries(log) if brief.state == OPEN]
        log.db.executemany("UPDATE briefs SET state = ? WHERE id = ?", [(CLAIMED, brief.id) for brief in waiting])
    return waiting


def release_unmet_queries(log: EventLog) -> None:
    """What was taken and not answered is open again: whoever took it is gone."""
    with log.lock:
        log.db.execute("UPDATE briefs SET state = ? WHERE state = ?", (OPEN, CLAIMED))


def complete_unmet_query(log: EventLog, unmet_query_id: int, new_page_count: int, now: float) -> None:
    """Say how many new pages came of a brief; the search page tells the user."""
    with log.lock:
        log.db.execute(
            "UPDATE briefs SET state = ?, found = ?, answered_at = ? WHERE id = ?",
            (ANSWERED, new_page_count, now, unmet_query_id),
        )
    log.raise_signal(Signal.DONE, f"{new_page_count} new pages for brief {unmet_query_id}", now)

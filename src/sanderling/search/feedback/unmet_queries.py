"""Unmet queries, for which workers crawl similar pages (MIG)."""

import json

from msgspec import Struct

from sanderling.search.feedback.event_log import EventLog, build_query_key
from sanderling.storage.signal_log import Signal

TOP_PAGES = 5  # sample pages stored per query
OPEN, CLAIMED, ANSWERED = "open", "taken", "answered"


class UnmetQuery(Struct, frozen=True):
    """A request for pages similar to the top results of a query."""

    id: int
    query: str
    urls: tuple[str, ...]  # the top results
    created_at: float
    state: str
    result_count: int  # results at the time of the request
    new_page_count: int = 0  # pages crawled for it
    answered_at: float = 0.0


def add_unmet_query(log: EventLog, query: str, urls: list[str], result_count: int, now: float) -> UnmetQuery:
    """Store an unmet query. Returns an equivalent waiting query instead, if any."""
    key = build_query_key(query)
    log.raise_signal(Signal.LOW_RATING, query, now)
    waiting = [unmet for unmet in list_unmet_queries(log, key) if unmet.state != ANSWERED]
    if waiting:
        return waiting[0]
    log.raise_signal(Signal.CRAWL_MORE, query, now)
    with log.lock:
        row = log.db.execute(
            "INSERT INTO unmet_queries (query, key, urls, at, state, known) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            (query, key, json.dumps(urls[:TOP_PAGES]), now, OPEN, result_count),
        ).fetchone()
    return UnmetQuery(row[0], query, tuple(urls[:TOP_PAGES]), now, OPEN, result_count)


def list_unmet_queries(log: EventLog, key: str = "", limit: int = 50) -> list[UnmetQuery]:
    """Return unmet queries (of a key), newest first."""
    where, values = ("WHERE key = ?", (key,)) if key else ("", ())
    rows = log.db.execute(
        "SELECT id, query, urls, at, state, known, found, answered_at"
        f" FROM unmet_queries {where} ORDER BY id DESC LIMIT ?",
        (*values, limit),
    )
    return [UnmetQuery(id_, query, tuple(json.loads(urls)), *rest) for id_, query, urls, *rest in rows]


def count_open_queries(log: EventLog) -> int:
    return int(log.db.execute("SELECT count(*) FROM unmet_queries WHERE state <> 'answered'").fetchone()[0])


def claim_unmet_queries(log: EventLog) -> list[UnmetQuery]:
    with log.lock:
        waiting = [unmet for unmet in list_unmet_queries(log) if unmet.state == OPEN]
        log.db.executemany(
            "UPDATE unmet_queries SET state = ? WHERE id = ?", [(CLAIMED, unmet.id) for unmet in waiting]
        )
    return waiting


def release_unmet_queries(log: EventLog) -> None:
    """Reopen claimed queries whose crawl has ended."""
    with log.lock:
        log.db.execute("UPDATE unmet_queries SET state = ? WHERE state = ?", (OPEN, CLAIMED))


def complete_unmet_query(log: EventLog, unmet_query_id: int, new_page_count: int, now: float) -> None:
    """Store the number of new pages and raise Done."""
    with log.lock:
        log.db.execute(
            "UPDATE unmet_queries SET state = ?, found = ?, answered_at = ? WHERE id = ?",
            (ANSWERED, new_page_count, now, unmet_query_id),
        )
    log.raise_signal(Signal.DONE, f"{new_page_count} new pages for unmet query {unmet_query_id}", now)

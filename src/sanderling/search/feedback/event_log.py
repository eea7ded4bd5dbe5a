"""The event log: rankings and user actions, with retention, export and erasure."""

import contextlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from sanderling.db.connection import Connection, apply_migrations, connect_private_sqlite
from sanderling.db.schema.feedback import MIGRATIONS
from sanderling.search.feedback.events import ShownRanking, UserAction, UserEvent
from sanderling.search.query import parse_query
from sanderling.search.tokenizer import is_stop_word, stem_text
from sanderling.storage.signal_log import Signal, SignalEvent, append_events

DATABASE = "feedback.db"
RETENTION_DAYS = 90
MAX_TEXT_LENGTH = 2_000
MAX_EVENTS_PER_MINUTE = 240  # per client; the rest is dropped, since no human reader is that fast


class EventCount(Struct, frozen=True):
    name: str
    count: int
    clients: int
    seconds: float = 0.0


class EventLog:
    """Writes and reads user events over a single connection."""

    def __init__(self, db: Connection, signal_folder: Path | None = None) -> None:
        self.db = db
        self.signal_folder = signal_folder  # of signals.log; None: not written
        self.lock = threading.Lock()

    def record_ranking(self, ranking: ShownRanking) -> None:
        row = (
            ranking.query_id,
            ranking.client_id,
            ranking.query[:MAX_TEXT_LENGTH],
            build_query_key(ranking.query),
            ranking.timestamp,
            ranking.first_position,
            json.dumps(ranking.urls),
        )
        with self.lock:
            self.db.execute("INSERT OR IGNORE INTO rankings VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def record_events(self, events: Sequence[UserEvent]) -> int:
        """Record events within the rate limit. Returns the number accepted."""
        rows = []
        with self.lock:
            remaining = {
                client: MAX_EVENTS_PER_MINUTE - self._count_recent(client, events)
                for client in {e.client_id for e in events}
            }
            for event in events:
                if remaining[event.client_id] > 0:
                    remaining[event.client_id] -= 1
                    rows.append(_build_event_row(event))
            self.db.executemany(
                "INSERT INTO events (client_id, query_id, object_id, object_id_field, action_name, position, at,"
                " count, value, attributes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
        return len(rows)

    def _count_recent(self, client: str, events: Sequence[UserEvent]) -> int:
        since = min(event.timestamp for event in events) - 60
        sql = "SELECT count(*) FROM events WHERE client_id = ? AND at > ?"
        return int(self.db.execute(sql, (client, since)).fetchone()[0])

    def raise_signal(self, signal: Signal, detail: str, now: float) -> None:
        """Record a signal. Its detail stays here, where it can be erased."""
        with self.lock:
            self.db.execute("INSERT INTO signals (at, name, detail) VALUES (?, ?, ?)", (now, signal, detail))
        if self.signal_folder is not None:
            append_events(self.signal_folder, [SignalEvent(now, signal, 1)])

    def list_signals(self, limit: int = 50) -> list[SignalEvent]:
        """Return signals, newest first."""
        sql = "SELECT at, name, detail FROM signals ORDER BY id DESC LIMIT ?"
        return [SignalEvent(at, Signal(name), 1, detail) for at, name, detail in self.db.execute(sql, (limit,))]

    def load_ranking(self, query_id: str) -> tuple[str, list[str]]:
        """Return query and URLs of a shown ranking; both empty if it is unknown."""
        row = self.db.execute("SELECT query, urls FROM rankings WHERE query_id = ?", (query_id,)).fetchone()
        return (row[0], json.loads(row[1])) if row else ("", [])

    def is_query_of(self, query_id: str, client: str) -> bool:
        sql = "SELECT 1 FROM rankings WHERE query_id = ? AND client_id = ?"
        return self.db.execute(sql, (query_id, client)).fetchone() is not None

    def find_last_query(self, client: str, since: float) -> tuple[str, str] | None:
        """Return id and key of the client's last search since a time, or None."""
        row = self.db.execute(
            "SELECT query_id, key FROM rankings WHERE client_id = ? AND at > ? AND first_position = 1"
            " ORDER BY at DESC LIMIT 1",
            (client, since),
        ).fetchone()
        return (str(row[0]), row[1]) if row else None

    def has_response(self, query_id: str) -> bool:
        """Return whether a result of this search was clicked or rated."""
        sql = "SELECT 1 FROM events WHERE query_id = ? AND action_name IN ('click', 'rating') LIMIT 1"
        return self.db.execute(sql, (query_id,)).fetchone() is not None

    def count_bad_ratings(self, client: str, since: float) -> int:
        sql = "SELECT count(*) FROM events WHERE client_id = ? AND action_name = 'rating' AND value < 3 AND at > ?"
        return int(self.db.execute(sql, (client, since)).fetchone()[0])

    def delete_expired(self, now: float, days: float = RETENTION_DAYS) -> int:
        """Delete rows older than the retention period. Returns their number."""
        before = now - days * 86400
        with self.lock:
            return sum(
                self.db.execute(f"DELETE FROM {table} WHERE at < ?", (before,)).rowcount
                for table in ("rankings", "events", "signals", "unmet_queries")
            )

    def erase(self, client: str = "") -> int:
        """Erase a client (empty: all) and all learned weights. Returns the number of rows."""
        with self.lock:
            deleted = 0
            for table in ("rankings", "events"):
                where, values = ("WHERE client_id = ?", (client,)) if client else ("", ())
                deleted += self.db.execute(f"DELETE FROM {table} {where}", values).rowcount
            self.db.execute("DELETE FROM weights")
            if not client:
                self.db.execute("DELETE FROM unmet_queries")
                self.db.execute("DELETE FROM signals")
            with contextlib.suppress(sqlite3.OperationalError):  # an export may be reading; free pages are reused
                self.db.execute("VACUUM")
        return deleted

    def export(self, client: str = "") -> Iterator[dict[str, object]]:
        """Yield rankings and events of a client (empty: all) in the UBI formats."""
        where, values = ("WHERE client_id = ?", (client,)) if client else ("", ())
        for id_, client_id, query, at, first, urls in self.db.execute(
            f"SELECT query_id, client_id, query, at, first_position, urls FROM rankings {where} ORDER BY at", values
        ):
            yield {"type": "query", "query_id": id_, "client_id": client_id, "user_query": query, "timestamp": at,
                   "first_position": first, "query_response_hit_ids": json.loads(urls)}  # fmt: skip
        names = "client_id, query_id, object_id, object_id_field, action_name, position, at, count, value, attributes"
        for row in self.db.execute(f"SELECT {names} FROM events {where} ORDER BY at", values):
            event = dict(zip(names.replace(" at,", " timestamp,").split(", "), row, strict=True))
            yield {"type": "event", **event, "attributes": json.loads(event["attributes"])}

    def count_events(self, group_by: str, since: float = 0.0, limit: int = 50) -> list[EventCount]:
        """Count by action, page, day or query."""
        column = {
            "action": "action_name", "page": "object_id", "day": "strftime('%Y-%m-%d', e.at, 'unixepoch')",
            "query": "coalesce((SELECT query FROM rankings AS r WHERE r.query_id = e.query_id), '')",
        }[group_by]  # fmt: skip
        dwell = f"sum(CASE action_name WHEN '{UserAction.DWELL}' THEN value ELSE 0 END)"
        order = "1 DESC" if group_by == "day" else "2 DESC"
        rows = self.db.execute(
            f"SELECT {column}, sum(count), count(DISTINCT client_id), {dwell} FROM events AS e WHERE at >= ?"
            f" GROUP BY 1 HAVING {column} <> '' ORDER BY {order} LIMIT ?",
            (since, limit),
        )
        return [EventCount(*row) for row in rows]

    def close(self) -> None:
        self.db.close()


def open_event_log(folder: Path) -> EventLog:
    db = connect_private_sqlite(folder / DATABASE)
    apply_migrations(db, {"feedback": MIGRATIONS})
    return EventLog(db, folder / "logs")


def build_query_key(text: str) -> str:
    """Return sorted stems without filters and stop words."""
    query = parse_query(text, 0.0)
    words = " ".join(t.text for group in query.term_groups for t in group if not is_stop_word(t.text, "en"))
    return " ".join(sorted(set(stem_text(words, "en").split())))[:MAX_TEXT_LENGTH]


def _build_event_row(event: UserEvent) -> tuple[object, ...]:
    return (
        event.client_id, event.query_id, event.object_id[:MAX_TEXT_LENGTH], event.object_id_field, event.action_name,
        event.position, event.timestamp, max(1, min(event.count, 10_000)), event.value, json.dumps(event.attributes),
    )  # fmt: skip

"""The behaviour log: what was shown, what was done. Kept for a while, then forgotten; exportable and erasable."""

import contextlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from sanderling.db.connection import Connection, connect_private, migrate
from sanderling.db.schema.feedback import MIGRATIONS
from sanderling.search.feedback.events import Action, Event, Shown
from sanderling.search.query import understand
from sanderling.search.tokenizer import is_stop_word, stems
from sanderling.storage.signal_log import Raised, Signal, append

DATABASE = "feedback.db"
RETENTION_DAYS = 90
LONGEST_TEXT = 2_000
PER_MINUTE = 240  # events of one client that are taken; what comes faster is no reader


class Tally(Struct, frozen=True):
    """How often something was done, by how many, for how long."""

    name: str
    count: int
    clients: int
    seconds: float = 0.0


class Log:
    """Writes and reads the behaviour of users. One connection, one writer at a time."""

    def __init__(self, db: Connection, notes: Path | None = None) -> None:
        self.db = db
        self.notes = notes  # the folder of the signals' log, if they are to be told there too
        self.lock = threading.Lock()

    def show(self, shown: Shown) -> None:
        """Log a ranking as it was shown."""
        row = (
            shown.query_id, shown.client_id, shown.query[:LONGEST_TEXT], query_key(shown.query), shown.timestamp,
            shown.first_position, json.dumps(shown.urls),
        )  # fmt: skip
        with self.lock:
            self.db.execute("INSERT OR IGNORE INTO rankings VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def record(self, events: Sequence[Event]) -> int:
        """Log what was done; returns how much of it was taken: a client that floods is cut off."""
        taken = []
        with self.lock:
            room = {client: PER_MINUTE - self._recent(client, events) for client in {e.client_id for e in events}}
            for event in events:
                if room[event.client_id] > 0:
                    room[event.client_id] -= 1
                    taken.append(_row(event))
            self.db.executemany(
                "INSERT INTO events (client_id, query_id, object_id, object_id_field, action_name, position, at,"
                " count, value, attributes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                taken,
            )
        return len(taken)

    def _recent(self, client: str, events: Sequence[Event]) -> int:
        since = min(event.timestamp for event in events) - 60
        sql = "SELECT count(*) FROM events WHERE client_id = ? AND at > ?"
        return int(self.db.execute(sql, (client, since)).fetchone()[0])

    def signal(self, signal: Signal, detail: str, now: float) -> None:
        """Raise a signal; what users typed is kept here, where it can be erased, and not in the log of signals."""
        with self.lock:
            self.db.execute("INSERT INTO signals (at, name, detail) VALUES (?, ?, ?)", (now, signal, detail))
        if self.notes is not None:
            append(self.notes, [Raised(now, signal, 1)])

    def signals(self, most: int = 50) -> list[Raised]:
        """The last signals of users, newest first."""
        sql = "SELECT at, name, detail FROM signals ORDER BY id DESC LIMIT ?"
        return [Raised(at, Signal(name), 1, detail) for at, name, detail in self.db.execute(sql, (most,))]

    def forget(self, now: float, days: float = RETENTION_DAYS) -> int:
        """Drop what is older than the retention; returns how many rows went."""
        before = now - days * 86400
        with self.lock:
            return sum(
                self.db.execute(f"DELETE FROM {table} WHERE at < ?", (before,)).rowcount
                for table in ("rankings", "events", "signals", "briefs")
            )

    def erase(self, client: str = "") -> int:
        """Erase one client, or everybody; what was learned is erased with it and learned anew from the rest."""
        with self.lock:
            gone = 0
            for table in ("rankings", "events"):
                where, values = ("WHERE client_id = ?", (client,)) if client else ("", ())
                gone += self.db.execute(f"DELETE FROM {table} {where}", values).rowcount
            self.db.execute("DELETE FROM weights")
            if not client:
                self.db.execute("DELETE FROM briefs")
                self.db.execute("DELETE FROM signals")
            with contextlib.suppress(sqlite3.OperationalError):  # an export may be reading; what is free is used again
                self.db.execute("VACUUM")
        return gone

    def export(self, client: str = "") -> Iterator[dict[str, object]]:
        """Everything, or everything of one client, as objects in UBI's two shapes: queries and events."""
        where, values = ("WHERE client_id = ?", (client,)) if client else ("", ())
        for id_, who, query, at, first, urls in self.db.execute(
            f"SELECT query_id, client_id, query, at, first_position, urls FROM rankings {where} ORDER BY at", values
        ):
            yield {"type": "query", "query_id": id_, "client_id": who, "user_query": query, "timestamp": at,
                   "first_position": first, "query_response_hit_ids": json.loads(urls)}  # fmt: skip
        names = "client_id, query_id, object_id, object_id_field, action_name, position, at, count, value, attributes"
        for row in self.db.execute(f"SELECT {names} FROM events {where} ORDER BY at", values):
            event = dict(zip(names.replace(" at,", " timestamp,").split(", "), row, strict=True))
            yield {"type": "event", **event, "attributes": json.loads(event["attributes"])}

    def tallies(self, by: str, since: float = 0.0, most: int = 50) -> list[Tally]:
        """Sum up per action_name, object_id, query or day."""
        what = {
            "action": "action_name", "page": "object_id", "day": "strftime('%Y-%m-%d', e.at, 'unixepoch')",
            "query": "coalesce((SELECT query FROM rankings AS r WHERE r.query_id = e.query_id), '')",
        }[by]  # fmt: skip
        timed = f"sum(CASE action_name WHEN '{Action.DWELL}' THEN value ELSE 0 END)"
        order = "1 DESC" if by == "day" else "2 DESC"
        rows = self.db.execute(
            f"SELECT {what}, sum(count), count(DISTINCT client_id), {timed} FROM events AS e WHERE at >= ?"
            f" GROUP BY 1 HAVING {what} <> '' ORDER BY {order} LIMIT ?",
            (since, most),
        )
        return [Tally(*row) for row in rows]

    def close(self) -> None:
        """Close the database."""
        self.db.close()


def open_log(folder: Path) -> Log:
    """Open the log of a collection, making it if there is none."""
    db = connect_private(folder / DATABASE)
    migrate(db, {"feedback": MIGRATIONS})
    return Log(db, folder / "logs")


def query_key(text: str) -> str:
    """One key for questions that ask the same: their stems in alphabetical order, conditions left out."""
    question = understand(text, 0.0)
    words = " ".join(t.text for group in question.wanted for t in group if not is_stop_word(t.text, "en"))
    return " ".join(sorted(set(stems(words, "en").split())))[:LONGEST_TEXT]


def _row(event: Event) -> tuple[object, ...]:
    return (
        event.client_id, event.query_id, event.object_id[:LONGEST_TEXT], event.object_id_field, event.action_name,
        event.position, event.timestamp, max(1, min(event.count, 10_000)), event.value, json.dumps(event.attributes),
    )  # fmt: skip

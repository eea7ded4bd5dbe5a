"""Stores watches, the state of their pages, values, and events in `watch.db`.

Only its owner may read the file: it contains addresses of notification services.
"""

import secrets
from base64 import b64encode
from pathlib import Path

from msgspec import Struct, json

from sanderling.changes.feed import ReportedChange
from sanderling.db.connection import apply_migrations, connect_private_sqlite, transaction
from sanderling.db.schema.monitor import MIGRATIONS
from sanderling.errors import UsageError
from sanderling.monitor.watch import Watch, validate_watch

DATABASE = "watch.db"
MAX_EVENTS = 1_000  # per watch
MAX_LOADED_EVENTS = 10_000
MAX_VALUES = 5_000  # per watch and page
HELD = 2  # `is_pending` of a minor change that is reported only if other pages share it


class PageWatchState(Struct, omit_defaults=True):
    """The last good version of a page, as a watch saw it."""

    visit_id: int = 0
    number: float | None = None
    low: float | None = None  # of all versions
    high: float | None = None
    reported: float | None = None  # the number when the watch last fired
    is_gone: bool = False
    is_missing: bool = False  # the watched part was not found
    is_moved: bool = False
    awaits_baseline: bool = False  # the page was stored once
    pending: tuple[int, ...] = ()  # visits since the last good version whose change is not decided
    moving: tuple[int, ...] = ()  # places of short changes at the last check


class WatchDigest(Struct, frozen=True):
    """A message about the changes of all watches, sent from time to time."""

    every: float
    notify: tuple[str, ...]
    last_event: int = 0
    next_at: float = 0.0


class WatchEvent(Struct, frozen=True):
    id: int
    watch_id: int
    ready_at: float
    change: ReportedChange


def has_watches(folder: Path) -> bool:
    return (folder / DATABASE).is_file()


class WatchStore:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.db = connect_private_sqlite(folder / DATABASE)
        self._last_rows: list[tuple[int, bytes]] = []
        apply_migrations(self.db, {"monitor": MIGRATIONS})
        with transaction(self.db):
            self.db.execute(
                "INSERT INTO watch_progress VALUES (1, 0, 0, ?) ON CONFLICT (id) DO NOTHING",
                (f"whsec_{b64encode(secrets.token_bytes(24)).decode()}",),
            )

    def close(self) -> None:
        self.db.close()

    # Watches

    def load_watches(self) -> dict[int, Watch]:
        rows = self._last_rows = self.db.execute("SELECT id, definition FROM watches ORDER BY id").fetchall()
        return {id_: json.decode(definition, type=Watch) for id_, definition in rows}

    def have_watches_changed(self) -> bool:
        """Return whether watches differ from those loaded last. Cheaper than loading thousands of them."""
        return bool(self.db.execute("SELECT id, definition FROM watches ORDER BY id").fetchall() != self._last_rows)

    def save_watch(self, watch: Watch) -> int:
        """Add a watch, or replace the watch of that name. Returns its id."""
        validate_watch(watch)
        with transaction(self.db):
            row = self.db.execute(
                "INSERT INTO watches (name, definition) VALUES (?, ?)"
                " ON CONFLICT (name) DO UPDATE SET definition = excluded.definition RETURNING id",
                (watch.name, json.encode(watch)),
            ).fetchone()
        return int(row[0])

    def find_watch(self, text: str) -> tuple[int, Watch]:
        """Find a watch by number, name, or URL. Raises UsageError."""
        for id_, watch in self.load_watches().items():
            if text in (str(id_), watch.name, *watch.urls, *watch.sites):
                return id_, watch
        raise UsageError(f"there is no watch {text!r}; sanderling watch --list lists them")

    def delete_watch(self, watch_id: int) -> None:
        """Delete a watch with its history and unsent messages."""
        with transaction(self.db):
            for table in ("watch_states", "watch_values", "watch_events", "shared_texts", "messages"):
                self.db.execute(f"DELETE FROM {table} WHERE watch = ?", (watch_id,))
            self.db.execute("DELETE FROM watches WHERE id = ?", (watch_id,))

    def get_version(self) -> int:
        """Return a number that changes when another process changes the database."""
        return int(self.db.execute("PRAGMA data_version").fetchone()[0])

    def get_webhook_key(self) -> str:
        return str(self.db.execute("SELECT webhook_key FROM watch_progress").fetchone()[0])

    # Progress and state

    def load_progress(self) -> tuple[int, float]:
        """Return id and time of the last visit that was evaluated."""
        last_visit, at = self.db.execute("SELECT last_visit, last_visit_at FROM watch_progress").fetchone()
        return int(last_visit), float(at)

    def save_progress(self, visit_id: int, at: float) -> None:
        self.db.execute("UPDATE watch_progress SET last_visit = ?, last_visit_at = ?", (visit_id, at))

    def load_state(self, watch_id: int, url_id: int) -> PageWatchState | None:
        row = self.db.execute(
            "SELECT state FROM watch_states WHERE watch = ? AND url = ?", (watch_id, url_id)
        ).fetchone()
        return json.decode(row[0], type=PageWatchState) if row else None

    def save_state(self, watch_id: int, url_id: int, state: PageWatchState) -> None:
        self.db.execute(
            "INSERT INTO watch_states VALUES (?, ?, ?) ON CONFLICT (watch, url) DO UPDATE SET state = excluded.state",
            (watch_id, url_id, json.encode(state)),
        )

    # Control fetches

    def request_control(self, url_id: int, url: str, at: float) -> None:
        """Ask for another fetch of a page."""
        self.db.execute(
            "INSERT INTO control_fetches VALUES (?, ?, ?, 0) ON CONFLICT (url)"
            " DO UPDATE SET at = excluded.at, is_queued = 0",
            (url_id, url, at),
        )

    def take_control_requests(self) -> dict[int, str]:
        """Return id and URL of the pages to fetch again that are not queued yet, and mark them as queued."""
        rows = self.db.execute("SELECT url, address FROM control_fetches WHERE is_queued = 0").fetchall()
        if rows:
            with transaction(self.db):
                self.db.execute("UPDATE control_fetches SET is_queued = 1 WHERE is_queued = 0")
        return dict(rows)

    def end_control(self, url_id: int, at: float) -> None:
        """Forget the request for a page that was visited since."""
        self.db.execute("DELETE FROM control_fetches WHERE url = ? AND at < ?", (url_id, at))

    def load_overdue_controls(self, before: float) -> list[tuple[int, str]]:
        """Return id and URL of pages that were not fetched again in time."""
        return self.db.execute("SELECT url, address FROM control_fetches WHERE at < ?", (before,)).fetchall()

    def load_volatile_places(self, site: str) -> bytes:
        row = self.db.execute("SELECT state FROM volatile_places WHERE site = ?", (site,)).fetchone()
        return bytes(row[0]) if row else b""

    def save_volatile_places(self, site: str, state: bytes) -> None:
        self.db.execute(
            "INSERT INTO volatile_places VALUES (?, ?) ON CONFLICT (site) DO UPDATE SET state = excluded.state",
            (site, state),
        )

    # Values

    def add_value(self, watch_id: int, url_id: int, at: float, value: float, unit: str) -> None:
        self.db.execute(
            "INSERT INTO watch_values VALUES (?, ?, ?, ?, ?) ON CONFLICT (watch, url, at) DO NOTHING",
            (watch_id, url_id, at, value, unit),
        )
        self.db.execute(
            "DELETE FROM watch_values WHERE watch = ? AND url = ? AND at < (SELECT at FROM watch_values"
            " WHERE watch = ? AND url = ? ORDER BY at DESC LIMIT 1 OFFSET ?)",
            (watch_id, url_id, watch_id, url_id, MAX_VALUES),
        )

    def load_values(self, watch_id: int) -> list[tuple[int, float, float, str]]:
        """Return page id, time, value and unit, oldest first."""
        sql = "SELECT url, at, value, unit FROM watch_values WHERE watch = ? ORDER BY at"
        return [tuple(row) for row in self.db.execute(sql, (watch_id,))]

    # Events

    def add_event(self, watch_id: int, url_id: int, visit_id: int, ready_at: float, change: ReportedChange) -> bool:
        """Store an event, once for each visit. Returns whether it is new."""
        row = self.db.execute(
            "INSERT INTO watch_events (watch, url, visit, at, ready_at, is_pending, event) VALUES (?, ?, ?, ?, ?, 1, ?)"
            " ON CONFLICT (watch, url, visit) DO NOTHING RETURNING id",
            (watch_id, url_id, visit_id, change.seen_at, ready_at, json.encode(change)),
        ).fetchone()
        return row is not None

    def hold_event(self, watch_id: int, url_id: int, visit_id: int, change: ReportedChange) -> None:
        """Store a minor change that is reported only if other pages share it."""
        self.db.execute(
            "INSERT INTO watch_events (watch, url, visit, at, ready_at, is_pending, event) VALUES (?, ?, ?, ?, 0, ?, ?)"
            " ON CONFLICT (watch, url, visit) DO NOTHING",
            (watch_id, url_id, visit_id, change.seen_at, HELD, json.encode(change)),
        )

    def load_held_events(self) -> list[tuple[int, int, int, ReportedChange]]:
        """Return watch, page, visit, and change of all minor changes that are held."""
        sql = "SELECT watch, url, visit, event FROM watch_events WHERE is_pending = ? ORDER BY id"
        rows = self.db.execute(sql, (HELD,)).fetchall()
        return [(watch, url, visit, json.decode(event, type=ReportedChange)) for watch, url, visit, event in rows]

    def drop_held_event(self, watch_id: int, url_id: int, visit_id: int) -> None:
        """Forget a minor change before it is reported: its event gets a new number."""
        sql = "DELETE FROM watch_events WHERE watch = ? AND url = ? AND visit = ? AND is_pending = ?"
        self.db.execute(sql, (watch_id, url_id, visit_id, HELD))

    def drop_held_events_before(self, at: float) -> None:
        """Forget minor changes that no other page shared in time."""
        self.db.execute("DELETE FROM watch_events WHERE is_pending = ? AND at < ?", (HELD, at))

    def count_pages(self, watch_id: int) -> int:
        """Return the number of pages of a watch that were seen."""
        return int(self.db.execute("SELECT count(*) FROM watch_states WHERE watch = ?", (watch_id,)).fetchone()[0])

    def load_ready_events(self, now: float) -> dict[int, list[WatchEvent]]:
        """Return all events that are in no message yet of watches whose first event is ready, in their order."""
        ready = "SELECT watch FROM watch_events WHERE is_pending = 1 GROUP BY watch HAVING min(ready_at) <= ?"
        sql = (
            "SELECT id, watch, ready_at, event FROM watch_events WHERE is_pending = 1 AND watch = ? ORDER BY id LIMIT ?"
        )
        return {
            watch_id: list(map(_decode_event, self.db.execute(sql, (watch_id, MAX_LOADED_EVENTS)).fetchall()))
            for (watch_id,) in self.db.execute(ready, (now,)).fetchall()
        }

    def finish_events(self, watch_id: int, last_event_id: int) -> None:
        """Mark events as part of a message, and delete the oldest beyond the limit."""
        self.db.execute(
            "UPDATE watch_events SET is_pending = 0 WHERE watch = ? AND id <= ? AND is_pending = 1",
            (watch_id, last_event_id),
        )
        self.db.execute(
            "DELETE FROM watch_events WHERE watch = ? AND is_pending = 0 AND id <= (SELECT id FROM watch_events"
            " WHERE watch = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
            (watch_id, watch_id, MAX_EVENTS),
        )

    def load_events(self, watch_id: int, limit: int) -> list[ReportedChange]:
        """Return the last events of a watch, newest first."""
        sql = "SELECT event FROM watch_events WHERE watch = ? AND is_pending != ? ORDER BY id DESC LIMIT ?"
        return [json.decode(row[0], type=ReportedChange) for row in self.db.execute(sql, (watch_id, HELD, limit))]

    def load_events_after(self, event_id: int) -> list[WatchEvent]:
        """Return events of all watches, oldest first."""
        sql = "SELECT id, watch, ready_at, event FROM watch_events WHERE id > ? AND is_pending != ? ORDER BY id LIMIT ?"
        return list(map(_decode_event, self.db.execute(sql, (event_id, HELD, MAX_LOADED_EVENTS)).fetchall()))

    def load_digest(self) -> WatchDigest | None:
        """Load the digest of all watches; None: there is none."""
        row = self.db.execute("SELECT definition FROM watch_digest").fetchone()
        return json.decode(row[0], type=WatchDigest) if row else None

    def save_digest(self, digest: WatchDigest | None) -> None:
        """Replace the digest of all watches; None removes it."""
        with transaction(self.db):
            self.db.execute("DELETE FROM watch_digest")
            if digest is not None:
                self.db.execute("INSERT INTO watch_digest VALUES (1, ?)", (json.encode(digest),))

    def set_digest(self, every: float, notify: tuple[str, ...], now: float) -> None:
        """Set interval and targets of the digest of all watches. Reported changes stay reported."""
        before = self.load_digest()
        last_event = before.last_event if before else self.find_last_event_id()
        if before is None or (before.every, before.notify) != (every, notify):
            self.save_digest(WatchDigest(every, notify, last_event, now + every))

    def find_last_event_id(self) -> int:
        return int(self.db.execute("SELECT coalesce(max(id), 0) FROM watch_events").fetchone()[0])

    def count_events(self, watch_id: int) -> tuple[int, float]:
        """Return the number of stored events, and the time of the last."""
        sql = "SELECT count(*), coalesce(max(at), 0) FROM watch_events WHERE watch = ? AND is_pending != ?"
        count, at = self.db.execute(sql, (watch_id, HELD)).fetchone()
        return int(count), float(at)


def _decode_event(row: tuple[int, int, float, bytes]) -> WatchEvent:
    id_, watch_id, ready_at, event = row
    return WatchEvent(id_, watch_id, ready_at, json.decode(event, type=ReportedChange))

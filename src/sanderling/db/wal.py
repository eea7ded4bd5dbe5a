"""Checkpoint the write-ahead log of SQLite in a background thread.

Otherwise the committing connection waits for the disk; it still does if the thread fails (disk full).
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from sanderling.db.connection import Connection, connect_sqlite

TARGET_PAGES = 3_000  # pages per checkpoint
INITIAL_WAIT, MIN_WAIT, MAX_WAIT = 1.0, 0.2, 30.0  # seconds between two checkpoints
BUSY_TIMEOUT_MS = 50  # wait for other connections before truncating


@contextmanager
def run_checkpoints(database: Path) -> Iterator[Callable[[], None]]:
    """Checkpoint a database during the block; no effect without a file (PostgreSQL).

    The block receives a function that starts the final truncation.
    """
    if not database.is_file():
        yield lambda: None
        return
    stop_event = Event()
    with closing(connect_sqlite(database)) as db:
        thread = Thread(target=_run_checkpoint_loop, args=(db, stop_event), name="checkpoints", daemon=True)
        thread.start()
        try:
            yield stop_event.set
        finally:
            stop_event.set()
            thread.join()


def _run_checkpoint_loop(db: Connection, stop_event: Event) -> None:
    wait, previous_length = INITIAL_WAIT, 0
    with suppress(sqlite3.OperationalError):
        while not stop_event.wait(wait):
            length = checkpoint_wal(db)
            wait = compute_next_wait(wait, compute_growth(previous_length, length))
            previous_length = length
        truncate_wal(db)


def checkpoint_wal(db: Connection) -> int:
    """Checkpoint without blocking; returns the length of the log in pages."""
    return int(db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])


def truncate_wal(db: Connection) -> None:
    """Truncate the log, as far as active readers and writers allow."""
    checkpoint_wal(db)  # does not block, so the truncation below blocks writers only briefly
    db.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def compute_growth(before: int, length: int) -> int:
    """Return the growth of the log in pages; a shorter log was restarted."""
    return length - before if length >= before else length


def compute_next_wait(wait: float, pages: int) -> float:
    """Return the wait for about `TARGET_PAGES`."""
    return min(MAX_WAIT, max(MIN_WAIT, wait * min(2.0, max(0.5, TARGET_PAGES / max(1, pages)))))

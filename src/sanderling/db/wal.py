"""The log of a SQLite database is written back into its file by a thread of its own, while the crawl goes on.

SQLite would have the one who commits do it, every so many pages, and wait for the disk. Here that one finds little left
to do. What this thread cannot do, on a full disk say, waits for the one who commits, who can tell a person. When the
crawl is nearly over, the thread is told to empty the log: so the one who closes the database does not wait either.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from sanderling.db.connection import Connection, connect_sqlite

TARGET_PAGES = 3_000  # pages of the log that are worth a look
INITIAL_WAIT, MIN_WAIT, MAX_WAIT = 1.0, 0.2, 30.0  # seconds between two looks
BUSY_TIMEOUT_MS = 50  # milliseconds: so long others are waited for when the log is emptied


@contextmanager
def run_checkpoints(database: Path) -> Iterator[Callable[[], None]]:
    """Have the log of a database written back until the block ends; no such file is no SQLite, and needs nothing.

    What the block is given empties the log for the last time, and does not wait for that.
    """
    if not database.is_file():
        yield lambda: None
        return
    ended = Event()
    with closing(connect_sqlite(database)) as db:
        thread = Thread(target=_run_checkpoint_loop, args=(db, ended), name="checkpoints", daemon=True)
        thread.start()
        try:
            yield ended.set
        finally:
            ended.set()
            thread.join()


def _run_checkpoint_loop(db: Connection, stop_event: Event) -> None:
    wait, before = INITIAL_WAIT, 0
    with suppress(sqlite3.OperationalError):
        while not stop_event.wait(wait):
            length = checkpoint_wal(db)
            wait, before = compute_next_wait(wait, compute_growth(before, length)), length
        truncate_wal(db)


def checkpoint_wal(db: Connection) -> int:
    """Write back what no reader stands in the way of; say how many pages the log has."""
    return int(db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])


def truncate_wal(db: Connection) -> None:
    """Write back all of the log and let it begin anew; where somebody writes or reads for long, as much as can be."""
    checkpoint_wal(db)  # first what keeps nobody waiting: emptying keeps out who commits for as long as it takes
    db.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def compute_growth(before: int, length: int) -> int:
    """By how much a log grew that was so long; a shorter one began anew."""
    return length - before if length >= before else length


def compute_next_wait(wait: float, pages: int) -> float:
    """How long to wait for as many pages as are wanted, when so many came in the last wait."""
    return min(MAX_WAIT, max(MIN_WAIT, wait * min(2.0, max(0.5, TARGET_PAGES / max(1, pages)))))

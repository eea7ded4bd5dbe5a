"""The log of a SQLite database is written back into its file by a thread of its own, while the crawl goes on.

SQLite would have the one who commits do it, every so many pages, and wait for the disk. Here that one finds little left
to do. What this thread cannot do, on a full disk say, waits for the one who commits, who can tell a person.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread

from sanderling.database import Connection, connect

WANTED = 3_000  # pages of the log that are worth a look
FIRST, SHORTEST, LONGEST = 1.0, 0.2, 30.0  # seconds between two looks


@contextmanager
def written_back(database: Path) -> Iterator[None]:
    """Have the log of a database written back until the block ends; no such file is no SQLite, and needs nothing."""
    if not database.is_file():
        yield
        return
    ended = Event()
    with closing(connect(database)) as db:
        thread = Thread(target=_watch, args=(db, ended), name="checkpoints", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def _watch(db: Connection, ended: Event) -> None:
    wait, before = FIRST, 0
    while not ended.wait(wait):
        try:
            length = write_back(db)
        except sqlite3.OperationalError:
            return
        wait, before = next_wait(wait, grown(before, length)), length


def write_back(db: Connection) -> int:
    """Write back what no reader stands in the way of; say how many pages the log has."""
    return int(db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])


def grown(before: int, length: int) -> int:
    """By how much a log grew that was so long; a shorter one began anew."""
    return length - before if length >= before else length


def next_wait(wait: float, pages: int) -> float:
    """How long to wait for as many pages as are wanted, when so many came in the last wait."""
    return min(LONGEST, max(SHORTEST, wait * min(2.0, max(0.5, WANTED / max(1, pages)))))

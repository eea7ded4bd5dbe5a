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

from sanderling.db.connection import Connection, connect

WANTED = 3_000  # pages of the log that are worth a look
FIRST, SHORTEST, LONGEST = 1.0, 0.2, 30.0  # seconds between two looks
MOMENT = 50  # milliseconds: so long others are waited for when the log is emptied


@contextmanager
def written_back(database: Path) -> Iterator[Callable[[], None]]:
    """Have the log of a database written back until the block ends; no such file is no SQLite, and needs nothing.

    What the block is given empties the log for the last time, and does not wait for that.
    """
    if not database.is_file():
        yield lambda: None
        return
    ended = Event()
    with closing(connect(database)) as db:
        thread = Thread(target=_watch, args=(db, ended), name="checkpoints", daemon=True)
        thread.start()
        try:
            yield ended.set
        finally:
            ended.set()
            thread.join()


def _watch(db: Connection, ended: Event) -> None:
    wait, before = FIRST, 0
    with suppress(sqlite3.OperationalError):
        while not ended.wait(wait):
            length = write_back(db)
            wait, before = next_wait(wait, grown(before, length)), length
        empty(db)


def write_back(db: Connection) -> int:
    """Write back what no reader stands in the way of; say how many pages the log has."""
    return int(db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])


def empty(db: Connection) -> None:
    """Write back all of the log and let it begin anew; where somebody writes or reads for long, as much as can be."""
    write_back(db)  # first what keeps nobody waiting: emptying keeps out who commits for as long as it takes
    db.execute(f"PRAGMA busy_timeout={MOMENT}")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def grown(before: int, length: int) -> int:
    """By how much a log grew that was so long; a shorter one began anew."""
    return length - before if length >= before else length


def next_wait(wait: float, pages: int) -> float:
    """How long to wait for as many pages as are wanted, when so many came in the last wait."""
    return min(LONGEST, max(SHORTEST, wait * min(2.0, max(0.5, WANTED / max(1, pages)))))

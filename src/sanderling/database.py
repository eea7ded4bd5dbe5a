"""The one database of a collection: opened here, its shape raised here, used by every room that stores.

Rooms speak one SQL: that of SQLite, as far as PostgreSQL understands it too (postgres.py spells the few words that
differ). What they hold is a `Connection` as drawn below, whichever database is behind it.

Each room that keeps tables has a `schema.py` with `MIGRATIONS`: a list of SQL scripts, only ever appended to. The
number of those applied is kept per room, so a changed shape is one more script, run once.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from sanderling.errors import DiskFull, StoreUnavailable

NO_ROOM = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_TRUNCATE,
     sqlite3.SQLITE_IOERR_SHMSIZE}
)  # fmt: skip


class Cursor(Protocol):
    """Rows that a statement gave."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...
    @property
    def rowcount(self) -> int: ...


class Connection(Protocol):
    """An open database."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Cursor: ...
    def executemany(self, sql: str, parameters: Any, /) -> object: ...
    def close(self) -> None: ...
    @property
    def in_transaction(self) -> bool: ...


def connect(path: Path, *, read_only: bool = False) -> Connection:
    """Open the SQLite file with the settings every room relies on: WAL, no implicit transactions."""
    uri = f"file:{str(path).replace('?', '%3f').replace('#', '%23')}" + ("?mode=ro" if read_only else "")
    db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30, check_same_thread=False)
    db.execute("PRAGMA foreign_keys=OFF")
    db.execute("PRAGMA temp_store=MEMORY")
    db.execute("PRAGMA mmap_size=0")
    db.execute("PRAGMA cache_size=-65536")
    if not read_only:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")  # a power cut may cost the last batch, never consistency
    return db


@contextmanager
def transaction(db: Connection) -> Iterator[None]:
    """All of it or nothing; a full disk is named as such."""
    try:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("COMMIT")
    except BaseException as error:
        if db.in_transaction and not isinstance(error, StoreUnavailable):
            db.execute("ROLLBACK")
        if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode in NO_ROOM:
            raise DiskFull(
                "no space left for the database; what was stored before stays readable."
                " Make room, then give the same command again: it resumes."
            ) from error
        raise


def migrate(db: Connection, rooms: Mapping[str, Sequence[str]]) -> None:
    """Bring every room's tables to the newest shape, each script in one transaction."""
    db.execute("CREATE TABLE IF NOT EXISTS migrations (room TEXT PRIMARY KEY, applied INTEGER NOT NULL)")
    for room, scripts in rooms.items():
        row = db.execute("SELECT applied FROM migrations WHERE room = ?", (room,)).fetchone()
        done = row[0] if row else 0
        for number, script in enumerate(scripts[done:], done + 1):
            with transaction(db):
                for statement in script.split(";"):
                    if statement.strip():
                        db.execute(statement)
                db.execute(
                    "INSERT INTO migrations VALUES (?, ?) ON CONFLICT (room) DO UPDATE SET applied = excluded.applied",
                    (room, number),
                )

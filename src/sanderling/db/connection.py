"""The one database of a collection: opened here, its shape raised here, used by every room that stores.

Rooms speak one SQL: that of SQLite, as far as PostgreSQL understands it too (db/postgres.py spells the few words that
differ). What they hold is a `Connection` as drawn below, whichever database is behind it.

Each room that keeps tables has a `schema.py` with `MIGRATIONS`: a list of SQL scripts, only ever appended to. The
number of those applied is kept per room, so a changed shape is one more script, run once.
"""

import json
import os
import sqlite3
import struct
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote_from_bytes

import msgspec

from sanderling.errors import CollectionError, DatabaseUnavailable, DiskFull

DISK_FULL_CODES = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_TRUNCATE,
     sqlite3.SQLITE_IOERR_SHMSIZE}
)  # fmt: skip

CORRUPTION_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
DECODE_ERRORS = (msgspec.DecodeError, json.JSONDecodeError, zlib.error, struct.error)  # what a room packed into a row

ID_BATCH_SIZES = (1, 8, 24, 48, 72, 96, 128, 160, 192, 224, 256, 320, 400)  # ids that one question names
CACHED_STATEMENTS = 512  # kept ready; each question of many ids is as many as there are sizes


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


def connect_sqlite(path: Path, *, read_only: bool = False) -> Connection:
    """Open the SQLite file with the settings every room relies on: WAL, no implicit transactions."""
    try:
        return _open_sqlite(path, "?mode=ro" + "&immutable=1" * _is_immutable(path) if read_only else "")
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode in DISK_FULL_CODES:
            raise DiskFull(f"no space left for {path}; make room, then give the same command again") from None
        if not os.access(path.parent, os.W_OK):
            raise CollectionError(f"{path} cannot be opened: {path.parent} cannot be written to") from None
        raise CollectionError(f"{path} cannot be opened: {error}; use another -C, or --clean to start over") from None


def connect_private_sqlite(path: Path) -> Connection:
    """Open a SQLite file that only its owner may read, whatever the umask; an existing file is restricted, too.

    SQLite gives its side files (`-wal`, `-shm`) the permissions of the database, so those are set before it is opened.
    """
    with suppress(OSError):  # of another user, or on a read-only disk: whether it can be opened is found out below
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            if file.exists() and file.stat().st_mode & 0o077:
                file.chmod(0o600)
    return connect_sqlite(path)


def open_memory_copy(path: Path) -> Connection:
    """Open a copy in memory of what cannot be written to, to be brought up to date for once; empty if there is none."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    if path.is_file():
        with closing(connect_sqlite(path, read_only=True)) as source:
            assert isinstance(source, sqlite3.Connection)
            source.backup(db)
    return db


def is_corruption(error: BaseException | None) -> bool:
    """Was something read that nobody wrote? A place that fails may show itself long after it was opened.

    Who decodes anything that does not come from the database catches these errors where it does so.
    """
    if isinstance(error, DECODE_ERRORS):
        return True
    return isinstance(error, sqlite3.DatabaseError) and getattr(error, "sqlite_errorcode", 0) & 0xFF in CORRUPTION_CODES


def _is_immutable(path: Path) -> bool:
    """Does a database lie where nobody may write? SQLite would want to keep a file beside it even to read."""
    wal = path.with_name(path.name + "-wal")
    return not os.access(path.parent, os.W_OK) and not (wal.is_file() and wal.stat().st_size)


def _open_sqlite(path: Path, mode: str) -> Connection:
    uri = f"file:{quote_from_bytes(os.fsencode(path))}{mode}"
    db = sqlite3.connect(
        uri, uri=True, isolation_level=None, timeout=30, check_same_thread=False, cached_statements=CACHED_STATEMENTS
    )
    try:
        _configure(db, writable=not mode)
    except BaseException:
        db.close()
        raise
    return db


def _configure(db: sqlite3.Connection, *, writable: bool) -> None:
    db.execute("PRAGMA foreign_keys=OFF")
    db.execute("PRAGMA temp_store=MEMORY")
    db.execute("PRAGMA mmap_size=0")
    db.execute("PRAGMA cache_size=-40960")
    if writable:
        db.execute("PRAGMA secure_delete=OFF")  # some systems wipe what is deleted, at every step of the queue
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA wal_autocheckpoint=16000")  # pages, 66 MB: many are written again before that
        db.execute("PRAGMA synchronous=NORMAL")  # a power cut may cost the last batch, never consistency


def close_on_finalize(owner: object, db: Connection) -> None:
    """Close a connection when its owner is collected or the program ends; Python 3.13 warns of unclosed ones."""
    weakref.finalize(owner, db.close)


@contextmanager
def convert_disk_full() -> Iterator[None]:
    """Name a full disk as such; to look something up may need room too."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode not in DISK_FULL_CODES:
            raise
        raise DiskFull(
            "no space left for the database; what was stored before stays readable."
            " Make room, then give the same command again: it resumes."
        ) from error


@contextmanager
def transaction(db: Connection) -> Iterator[None]:
    """All of it or nothing; while another is open, it is part of that one."""
    if db.in_transaction:
        with convert_disk_full():
            yield
        return
    with begin_transaction(db):
        yield
        db.execute("COMMIT")


@contextmanager
def begin_transaction(db: Connection) -> Iterator[None]:
    """Begin a transaction that stays open, to be ended by `committed`; what goes wrong meanwhile undoes it."""
    with _rollback_on_error(db):
        db.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def commit_transaction(db: Connection) -> Iterator[None]:
    """End the transaction that is open."""
    with _rollback_on_error(db):
        yield
        db.execute("COMMIT")


@contextmanager
def _rollback_on_error(db: Connection) -> Iterator[None]:
    with convert_disk_full():
        try:
            yield
        except BaseException as error:
            if not isinstance(error, DatabaseUnavailable):
                rollback(db)
            raise


def rollback(db: Connection) -> None:
    """Take back what is not committed."""
    if db.in_transaction:
        db.execute("ROLLBACK")


def select_by_ids(db: Connection, sql: str, ids: Sequence[int]) -> Iterator[Any]:
    """Ask for the rows of some ids, `{}` in the question; some are named twice, so that few questions are prepared."""
    for start in range(0, len(ids), ID_BATCH_SIZES[-1]):
        part = list(ids[start : start + ID_BATCH_SIZES[-1]])
        part += part[-1:] * (next(size for size in ID_BATCH_SIZES if size >= len(part)) - len(part))
        yield from db.execute(sql.format(",".join("?" * len(part))), part).fetchall()


def apply_migrations(db: Connection, migrations: Mapping[str, Sequence[str]]) -> None:
    """Bring every room's tables to the newest shape, each script in one transaction."""
    db.execute("CREATE TABLE IF NOT EXISTS migrations (room TEXT PRIMARY KEY, applied INTEGER NOT NULL)")
    applied = _load_applied_counts(db)
    is_schema_current(db, migrations)
    for room, scripts in migrations.items():
        done = applied.get(room, 0)
        for number, script in enumerate(scripts[done:], done + 1):
            with transaction(db):
                for statement in script.split(";"):
                    if statement.strip():
                        db.execute(statement)
                db.execute(
                    "INSERT INTO migrations VALUES (?, ?) ON CONFLICT (room) DO UPDATE SET applied = excluded.applied",
                    (room, number),
                )


def is_schema_current(db: Connection, migrations: Mapping[str, Sequence[str]]) -> bool:
    """Have these rooms their newest shape? What a newer version of this program wrote is not touched."""
    applied = _load_applied_counts(db)
    newer = [room for room, scripts in migrations.items() if applied.get(room, 0) > len(scripts)]
    if newer:
        raise CollectionError(
            f"the collection was written by a newer version of this program (its {', '.join(newer)});"
            " use that version, or another -C"
        )
    return all(applied.get(room, 0) == len(scripts) for room, scripts in migrations.items())


def _load_applied_counts(db: Connection) -> dict[str, int]:
    """How many scripts of each room were run; none in a database that was never used."""
    try:
        return dict(db.execute("SELECT room, applied FROM migrations").fetchall())
    except sqlite3.OperationalError:  # there is no such table
        return {}

"""Open databases, run transactions, and apply migrations.

SQL is written for SQLite; db/postgres.py translates it. Each package has an append-only list `MIGRATIONS` in
`db/schema`.
"""

import json
import os
import sqlite3
import struct
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
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
DECODE_ERRORS = (msgspec.DecodeError, json.JSONDecodeError, zlib.error, struct.error)  # of values encoded in a column

ID_BATCH_SIZES = (1, 8, 24, 48, 72, 96, 128, 160, 192, 224, 256, 320, 400)  # number of ids in a statement
RENAMED_COMPONENTS = {
    "store": "storage", "dedupe": "dedup", "refresh": "revisit", "structure": "templates", "serve": "web",
}  # fmt: skip
CACHED_STATEMENTS = 512  # each `select_by_ids` statement takes one entry per batch size


class Cursor(Protocol):
    """Result of a statement (subset of DB-API 2.0)."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...
    @property
    def rowcount(self) -> int: ...


class Connection(Protocol):
    """Open database (subset of DB-API 2.0)."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Cursor: ...
    def executemany(self, sql: str, parameters: Any, /) -> object: ...
    def close(self) -> None: ...
    @property
    def in_transaction(self) -> bool: ...


Migration = str | Callable[[Connection], None]
"""Statements separated by semicolons, or a function that changes stored values."""


def connect_sqlite(path: Path, *, read_only: bool = False) -> Connection:
    """Open a SQLite file in WAL mode without implicit transactions."""
    try:
        return _open_sqlite(path, "?mode=ro" + "&immutable=1" * _is_immutable(path) if read_only else "")
    except UnicodeDecodeError as error:  # SQLite quotes the damaged schema in its message
        raise CollectionError(f"{path} cannot be opened: {error}; use another -C, or --clean to start over") from None
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode in DISK_FULL_CODES:
            raise DiskFull(f"no space left for {path}; free some disk space, then run the same command again") from None
        if not os.access(path.parent, os.W_OK):
            raise CollectionError(f"{path} cannot be opened: {path.parent} is not writable") from None
        raise CollectionError(f"{path} cannot be opened: {error}; use another -C, or --clean to start over") from None


def connect_private_sqlite(path: Path) -> Connection:
    """Open a SQLite file with permissions 0600.

    SQLite copies them to `-wal` and `-shm`. An existing file is not opened here: closing it would release the locks of
    other connections in this process, and another process would then delete their `-wal`.
    """
    with suppress(OSError):  # it exists, or is owned by another user, or the disk is read-only: connecting reports it
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with suppress(OSError):
        for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            if file.exists() and file.stat().st_mode & 0o077:
                file.chmod(0o600)
    return connect_sqlite(path)


def open_united_sqlite(paths: Sequence[Path]) -> Connection:
    """Attach SQLite files read-only, as `s0`, `s1` and so on."""
    db = sqlite3.connect(":memory:", isolation_level=None, timeout=30, check_same_thread=False, uri=True)
    _configure(db, writable=False)
    for number, path in enumerate(paths):
        mode = "?mode=ro" + "&immutable=1" * _is_immutable(path)
        db.execute(f"ATTACH ? AS s{number}", (f"file:{quote_from_bytes(os.fsencode(path.resolve()))}{mode}",))
    return db


def open_memory_copy(path: Path) -> Connection:
    """Open an in-memory copy of a read-only database, for migration."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    if path.is_file():
        with closing(connect_sqlite(path, read_only=True)) as source:
            assert isinstance(source, sqlite3.Connection)
            source.backup(db)
    return db


def is_corruption(error: BaseException | None) -> bool:
    """Return whether an error means a damaged database."""
    if isinstance(error, DECODE_ERRORS):
        return True
    return isinstance(error, sqlite3.DatabaseError) and getattr(error, "sqlite_errorcode", 0) & 0xFF in CORRUPTION_CODES


def _is_immutable(path: Path) -> bool:
    """Return whether the folder is read-only: then SQLite cannot create `-shm`, which reading needs."""
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
        db.execute("PRAGMA secure_delete=OFF")  # on by default in some builds; would overwrite every dequeued row
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA wal_autocheckpoint=16000")  # pages, 66 MB: many pages are rewritten before a checkpoint
        db.execute("PRAGMA synchronous=NORMAL")  # a power failure may lose the last batch but never corrupts


def close_on_finalize(owner: object, db: Connection) -> None:
    """Close a connection when its owner is garbage-collected."""
    weakref.finalize(owner, db.close)


@contextmanager
def convert_disk_full() -> Iterator[None]:
    """Convert disk-full errors of SQLite, which reading can cause, too."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode not in DISK_FULL_CODES:
            raise
        raise DiskFull(
            "no space left for the database; data stored before stays readable."
            " Free some disk space, then run the same command again: it resumes."
        ) from error


@contextmanager
def transaction(db: Connection) -> Iterator[None]:
    """Run a block in a new or the open transaction."""
    if db.in_transaction:
        with convert_disk_full():
            yield
        return
    with begin_transaction(db):
        yield
        db.execute("COMMIT")


@contextmanager
def begin_transaction(db: Connection) -> Iterator[None]:
    """Begin a transaction that stays open until `commit_transaction`."""
    with _rollback_on_error(db):
        db.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def commit_transaction(db: Connection) -> Iterator[None]:
    """Commit the open transaction after the block; an exception undoes it."""
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
    """Undo the open transaction, if any."""
    if db.in_transaction:
        db.execute("ROLLBACK")


def select_by_ids(db: Connection, sql: str, ids: Sequence[int]) -> Iterator[Any]:
    """Yield the rows of some ids; `{}` in the statement is replaced by placeholders.

    Batches are padded to a few sizes, so that few statements are prepared.
    """
    for start in range(0, len(ids), ID_BATCH_SIZES[-1]):
        batch = list(ids[start : start + ID_BATCH_SIZES[-1]])
        batch += batch[-1:] * (next(size for size in ID_BATCH_SIZES if size >= len(batch)) - len(batch))
        yield from db.execute(sql.format(",".join("?" * len(batch))), batch).fetchall()


def apply_migrations(db: Connection, migrations: Mapping[str, Sequence[Migration]]) -> None:
    """Apply pending migrations, each in a transaction."""
    if not has_table(db, "schema_versions"):
        _create_schema_versions(db)
    applied = load_schema_versions(db)
    is_schema_current(db, migrations)
    for component, scripts in migrations.items():
        done = applied.get(component, 0)
        for number, script in enumerate(scripts[done:], done + 1):
            with transaction(db):
                _apply_migration(db, script)
                db.execute(
                    "INSERT INTO schema_versions VALUES (?, ?)"
                    " ON CONFLICT (component) DO UPDATE SET applied = excluded.applied",
                    (component, number),
                )


def _apply_migration(db: Connection, migration: Migration) -> None:
    if callable(migration):
        migration(db)
        return
    for statement in filter(str.strip, migration.split(";")):
        db.execute(statement)


def _create_schema_versions(db: Connection) -> None:
    versions = _load_old_versions(db)
    with transaction(db):
        db.execute("CREATE TABLE schema_versions (component TEXT PRIMARY KEY, applied INTEGER NOT NULL)")
        db.executemany("INSERT INTO schema_versions VALUES (?, ?)", list(versions.items()))
        db.execute("DROP TABLE IF EXISTS migrations")


def is_schema_current(db: Connection, migrations: Mapping[str, Sequence[Migration]]) -> bool:
    """Return whether all migrations are applied. Raises CollectionError if a newer version wrote it."""
    applied = load_schema_versions(db)
    newer = [component for component, scripts in migrations.items() if applied.get(component, 0) > len(scripts)]
    if newer:
        raise CollectionError(
            f"the collection was written by a newer version of sanderling (tables of {', '.join(newer)});"
            " use that version, or another -C"
        )
    return all(applied.get(component, 0) == len(scripts) for component, scripts in migrations.items())


def load_schema_versions(db: Connection) -> dict[str, int]:
    """Return the number of applied migrations by component; empty for a new database."""
    if has_table(db, "schema_versions"):
        return dict(db.execute("SELECT component, applied FROM schema_versions").fetchall())
    return _load_old_versions(db)


def _load_old_versions(db: Connection) -> dict[str, int]:
    """Load the counts from `migrations`, the table before components had the names of their packages."""
    if not has_table(db, "migrations"):
        return {}
    rows = db.execute("SELECT room, applied FROM migrations").fetchall()
    return {RENAMED_COMPONENTS.get(name, name): applied for name, applied in rows}


def has_table(db: Connection, name: str) -> bool:
    """Return whether a table exists, or a view that unites the tables of shards."""
    sql = (
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        " UNION ALL SELECT 1 FROM sqlite_temp_master WHERE name = ?"
    )
    return db.execute(sql, (name, name)).fetchone() is not None

"""A collection: one folder with the database, the archive, indexes and logs; written by one process at a time."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sanderling.config.redact import hide_password
from sanderling.db.connection import Connection, connect, is_current, is_damage, migrate
from sanderling.db.schema.changes import MIGRATIONS as CHANGES
from sanderling.db.schema.dedup import MIGRATIONS as DEDUPE
from sanderling.db.schema.frontier import MIGRATIONS as FRONTIER
from sanderling.db.schema.storage import MIGRATIONS as STORE
from sanderling.errors import CollectionError, UsageError, unwritten
from sanderling.fetch.fetch_settings import product_token
from sanderling.urls.normalize import SCHEME_VERSION

ROOMS: Mapping[str, Sequence[str]] = {"frontier": FRONTIER, "store": STORE, "changes": CHANGES, "dedupe": DEDUPE}
DATABASE = "sanderling.db"
LEAVING = DATABASE + "-leaving"  # the same while a collection is being deleted
FOLDERS = ("archive", "control", "hosts", "index", "indexes", "logs", "migrants", "reports")  # that go with --clean
STORE_FILE = "store"  # where the catalogue is, when it is not here


class Collection:
    """An open collection; use `open_collection`."""

    def __init__(self, folder: Path, db: Connection, lock: int) -> None:
        self.folder = folder
        self.db = db
        self.lock = lock

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    @property
    def indexes(self) -> Path:
        return self.folder / "indexes"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def close(self) -> None:
        """Close the database and let others write."""
        self.db.close()
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if is_damage(error):
            raise _damaged(self.folder, error) from None


def exists(folder: Path) -> bool:
    """Is there a collection in this folder?"""
    return (folder / DATABASE).is_file() or (folder / STORE_FILE).is_file()


def store_of(folder: Path) -> str:
    """The PostgreSQL a collection was made with; empty for SQLite, or where there is none yet."""
    return (folder / STORE_FILE).read_text().strip() if (folder / STORE_FILE).is_file() else ""


def open_database(folder: Path, store: str = "", *, read_only: bool = False) -> Connection:
    """The database of a collection: the SQLite file in its folder, or the PostgreSQL it was made with."""
    known = store_of(folder)
    if store and not known:
        if (folder / DATABASE).is_file():
            raise CollectionError(f"{folder} keeps its catalogue in SQLite; use another -C for {hide_password(store)}")
        return _first_time(folder, store)
    if store and store != known:
        raise CollectionError(f"{folder} belongs to another store: {hide_password(known)}")
    if store or known:
        return _shared(store or known, read_only)
    return connect(folder / DATABASE, read_only=read_only)


def _first_time(folder: Path, store: str) -> Connection:
    """The store of a new collection; it is remembered once it has answered, so that a slip of the pen is not."""
    db = new_store(store)
    (folder / STORE_FILE).touch(mode=0o600)
    (folder / STORE_FILE).write_text(store)
    return db


def new_store(store: str) -> Connection:
    """Open a store that has to be there. It belongs to the folder with its archive: two crawls must not be mixed."""
    from sanderling.db import postgres

    check_store(store)
    db = postgres.connect(store)
    postgres.own(db)
    if postgres.has_table(db, "files") and db.execute("SELECT 1 FROM files LIMIT 1").fetchone():
        db.close()
        shown = hide_password(store)
        raise CollectionError(f"{shown} holds the collection of another folder: use that one, or an empty database")
    return db


def check_store(store: str) -> None:
    """Say what is wrong with the address of a store; none is fine."""
    if store and not store.startswith(("postgresql://", "postgres://")):
        raise UsageError(f"{hide_password(store)!r} is no store; write postgresql://user@host/database")


def _shared(store: str, read_only: bool) -> Connection:
    from sanderling.db import postgres

    db = postgres.connect(store, 0.0 if read_only else postgres.PATIENCE_SECONDS)
    if not read_only:
        postgres.own(db)
    return db


def open_collection(folder: Path, store: str = "") -> Collection:
    """Open a collection to write, making it if there is none."""
    lock = _take_lock(folder)
    try:
        if (folder / LEAVING).exists():
            _sweep(folder)
        db = open_database(folder, store)
        with _told(folder, db):
            migrate(db, ROOMS)
            _check_scheme(db, folder)
        for name in ("archive", "indexes", "logs"):
            (folder / name).mkdir(exist_ok=True)
    except OSError as error:
        os.close(lock)
        raise unwritten(f"a collection in {folder}", error) from None
    except BaseException:
        os.close(lock)
        raise
    return Collection(folder, db, lock)


@contextmanager
def _told(folder: Path, db: Connection) -> Iterator[None]:
    """Close a database that cannot be used, and say so where it is damaged."""
    try:
        yield
    except BaseException as error:
        db.close()
        if is_damage(error):
            raise _damaged(folder, error) from None
        raise


def _damaged(folder: Path, error: BaseException | None) -> CollectionError:
    return CollectionError(
        f"{folder / DATABASE} is damaged: {error}; take it from a backup, use another -C, or --clean to start over"
        f" (the pages in {folder / 'archive'} stay readable for other tools)"
    )


def _take_lock(folder: Path) -> int:
    """Be the one who writes here; an open file that holds the lock."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise unwritten(f"a collection in {folder}", error) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(lock, 32).decode(errors="replace").strip()
        os.close(lock)
        raise CollectionError(
            f"{folder} is in use by process {holder or 'unknown'}; wait for it, or use another -C"
        ) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    return lock


def read_collection(folder: Path) -> Collection:
    """Open an existing collection to look at it; a crawl may go on writing meanwhile."""
    if not exists(folder):
        raise CollectionError(f"there is no collection in {folder}; make one with: sanderling crawl URL -C {folder}")
    db = open_database(folder, read_only=True)
    with _told(folder, db):
        current = is_current(db, ROOMS)
    if not current:  # an older version wrote it: bring it up to date first
        db.close()
        if not os.access(folder, os.W_OK):
            raise CollectionError(
                f"{folder} was written by an older version of this program and cannot be brought up to date:"
                " it cannot be written to; read a copy of it, or use that version"
            )
        open_collection(folder).close()
        db = open_database(folder, read_only=True)
    return Collection(folder, db, -1)


def remove_collection(folder: Path) -> None:
    """Delete what a collection consists of, and nothing else that lies in the folder."""
    lock = _take_lock(folder)
    try:
        if (folder / STORE_FILE).is_file():
            raise CollectionError(
                f"the catalogue of {folder} is in PostgreSQL: drop its tables there, or use another -C"
            )
        if (folder / DATABASE).exists():
            (folder / DATABASE).rename(folder / LEAVING)  # from here on there is none, whatever happens
        _sweep(folder)
    finally:
        os.close(lock)


def _sweep(folder: Path) -> None:
    """Delete what is left of a collection that is none any more; what says so goes last."""
    for name in FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in (f"{DATABASE}-wal", f"{DATABASE}-shm", LEAVING):
        (folder / name).unlink(missing_ok=True)


def _check_scheme(db: Connection, folder: Path) -> None:
    """The spelling of keys is versioned: a collection keyed by other rules must not be mixed with ours."""
    db.execute("INSERT INTO meta VALUES ('scheme', ?) ON CONFLICT (name) DO NOTHING", (str(SCHEME_VERSION),))
    (found,) = db.execute("SELECT value FROM meta WHERE name = 'scheme'").fetchone()
    if found != str(SCHEME_VERSION):
        raise CollectionError(f"{folder} was made with URL scheme {found}, this program speaks {SCHEME_VERSION}")


def get_meta(db: Connection, name: str, default: str = "") -> str:
    """One remembered value of the collection."""
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row else default


def set_meta(db: Connection, name: str, value: str) -> None:
    """Remember one value of the collection."""
    db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", (name, value))


def agent_of(db: Connection) -> str:
    """The name that robots.txt and pages call the crawler of this collection by."""
    return product_token(json.loads(get_meta(db, "settings", "{}")).get("user_agent", "").strip() or "sanderling")

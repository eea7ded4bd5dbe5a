"""Open, create, and delete collections: folders with database, archive, indexes, and logs, for a single writer."""

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sanderling.config.redact import redact_password
from sanderling.db.backend import RECONNECT_SECONDS, connect_database, validate_database_url
from sanderling.db.connection import (
    Connection,
    Migration,
    apply_migrations,
    connect_sqlite,
    has_table,
    is_corruption,
    is_schema_current,
)
from sanderling.db.schema.changes import MIGRATIONS as CHANGES
from sanderling.db.schema.dedup import MIGRATIONS as DEDUP
from sanderling.db.schema.forms import MIGRATIONS as FORMS
from sanderling.db.schema.frontier import MIGRATIONS as FRONTIER
from sanderling.db.schema.storage import MIGRATIONS as STORAGE
from sanderling.errors import CollectionError, CollectionInUse, build_write_error
from sanderling.fetch.fetch_settings import parse_product_token
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.urls.normalize import KEY_VERSION

SCHEMA_MIGRATIONS: Mapping[str, Sequence[Migration]] = {
    "frontier": FRONTIER,
    "storage": STORAGE,
    "changes": CHANGES,
    "dedup": DEDUP,
    "forms": FORMS,
}
DATABASE_FILE = "sanderling.db"
DELETED_DATABASE_FILE = DATABASE_FILE + "-leaving"  # during deletion
COLLECTION_FOLDERS = (  # deleted by --clean
    "archive", "control", "hosts", "index", "indexes", "logs", "migrants", "reports", "workers",
)  # fmt: skip
SHARD_SET_FILES = ("shards.db", "shards.url")  # one of them makes the folder a set of shards
DATABASE_URL_FILE = "store"  # contains the URL of the database, unless it is in DATABASE_FILE


class StoredCollection:
    def __init__(self, folder: Path, db: Connection, lock_fd: int) -> None:
        self.folder = folder
        self.db = db
        self.lock_fd = lock_fd

    @property
    def archive_folder(self) -> Path:
        return self.folder / "archive"

    @property
    def cdxj_folder(self) -> Path:
        return self.folder / "indexes"

    @property
    def log_folder(self) -> Path:
        return self.folder / "logs"

    def close(self) -> None:
        """Close the database and release the lock."""
        self.db.close()
        if self.lock_fd >= 0:
            os.close(self.lock_fd)
            self.lock_fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if is_corruption(error):
            raise _build_damage_error(self.folder, error) from None


def has_collection(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (DATABASE_FILE, DATABASE_URL_FILE, *SHARD_SET_FILES))


def read_database_url(folder: Path) -> str:
    """Return the database URL of a collection, or an empty string for a SQLite file in its folder."""
    return (folder / DATABASE_URL_FILE).read_text().strip() if (folder / DATABASE_URL_FILE).is_file() else ""


def open_database(folder: Path, database_url: str = "", *, read_only: bool = False) -> Connection:
    """Open the SQLite file of a collection, or its database at a URL."""
    stored_url = read_database_url(folder)
    if database_url and not stored_url:
        if (folder / DATABASE_FILE).is_file():
            raise CollectionError(
                f"{folder} stores its database in SQLite; use another -C for {redact_password(database_url)}"
            )
        return _create_database(folder, database_url)
    if database_url and database_url != stored_url:
        raise CollectionError(f"{folder} uses another database: {redact_password(stored_url)}")
    if database_url or stored_url:
        wait_seconds = 0.0 if read_only else RECONNECT_SECONDS
        return connect_database(stored_url, read_only=read_only, wait_seconds=wait_seconds, is_exclusive=not read_only)
    return connect_sqlite(folder / DATABASE_FILE, read_only=read_only)


def _create_database(folder: Path, database_url: str) -> Connection:
    """Connect a new collection to a database. The URL is stored only after the connection succeeded."""
    db = open_new_database(database_url)
    (folder / DATABASE_URL_FILE).touch(mode=0o600)
    (folder / DATABASE_URL_FILE).write_text(database_url)
    return db


def open_new_database(database_url: str) -> Connection:
    """Connect to a database that must not hold another collection."""
    validate_database_url(database_url)
    db = connect_database(database_url, is_exclusive=True)
    if has_table(db, "files") and db.execute("SELECT 1 FROM files LIMIT 1").fetchone():
        db.close()
        redacted_url = redact_password(database_url)
        raise CollectionError(
            f"{redacted_url} holds the collection of another folder: use that one, or an empty database"
        )
    return db


def open_collection(folder: Path, database_url: str = "") -> StoredCollection:
    """Open a collection for writing. Creates it if necessary. Raises CollectionError for a set of shards."""
    if any((folder / name).is_file() for name in SHARD_SET_FILES):
        raise CollectionError(
            f"{folder} is a set of shards, which this command cannot write to; join them first:"
            f" sanderling shards join -C {folder}"
        )
    lock = _acquire_lock(folder)
    try:
        if (folder / DELETED_DATABASE_FILE).exists():
            _delete_collection_files(folder)
        db = open_database(folder, database_url)
        with _close_on_error(folder, db):
            apply_migrations(db, SCHEMA_MIGRATIONS)
            _check_url_key_version(db, folder)
        if (folder / "migrants").is_dir():  # the name in collections of earlier versions
            (folder / "migrants").rename(folder / "workers")
        for name in ("archive", "indexes", "logs"):
            (folder / name).mkdir(exist_ok=True)
    except OSError as error:
        os.close(lock)
        raise build_write_error(f"a collection in {folder}", error) from None
    except BaseException:
        os.close(lock)
        raise
    return StoredCollection(folder, db, lock)


@contextmanager
def _close_on_error(folder: Path, db: Connection) -> Iterator[None]:
    """Close the database after an error. Corruption is raised as CollectionError."""
    try:
        yield
    except BaseException as error:
        db.close()
        if is_corruption(error):
            raise _build_damage_error(folder, error) from None
        raise


@contextmanager
def report_corruption(folder: Path) -> Iterator[None]:
    """Raise corruption that is found in the block as CollectionError."""
    try:
        yield
    except Exception as error:
        if is_corruption(error):
            raise _build_damage_error(folder, error) from None
        raise


def _build_damage_error(folder: Path, error: BaseException | None) -> CollectionError:
    return CollectionError(
        f"{folder / DATABASE_FILE} is damaged: {error}; restore a backup, use another -C, or --clean to start over"
        f" (other tools can still read the pages in {folder / 'archive'})"
    )


def _acquire_lock(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise build_write_error(f"a collection in {folder}", error) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        process_id = os.read(lock, 32).decode(errors="replace").strip()
        os.close(lock)
        raise CollectionInUse(
            f"{folder} is in use by process {process_id or 'unknown'}; wait for it, or use another -C"
        ) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    return lock


def open_collection_read_only(folder: Path) -> StoredCollection:
    """Open an existing collection for reading, also during a crawl. Migrates an older schema first."""
    if not has_collection(folder):
        raise CollectionError(f"there is no collection in {folder}; create one with: sanderling crawl URL -C {folder}")
    if any((folder / name).is_file() for name in SHARD_SET_FILES):
        from sanderling.storage.shard_set import open_united

        return open_united(folder)
    db = open_database(folder, read_only=True)
    with _close_on_error(folder, db):
        current = is_schema_current(db, SCHEMA_MIGRATIONS)
    if not current:  # written by an older version: migrate first
        db.close()
        if not os.access(folder, os.W_OK):
            raise CollectionError(
                f"{folder} was written by an older version of this program and cannot be upgraded:"
                " it is read-only; use a writable copy, or that version"
            )
        open_collection(folder).close()
        db = open_database(folder, read_only=True)
    return StoredCollection(folder, db, -1)


def delete_collection(folder: Path) -> None:
    """Delete the files of a collection. Other files in the folder stay."""
    lock = _acquire_lock(folder)
    try:
        if (folder / SHARD_SET_FILES[0]).is_file():
            for name in (SHARD_SET_FILES[0], f"{SHARD_SET_FILES[0]}-wal", f"{SHARD_SET_FILES[0]}-shm"):
                (folder / name).unlink(missing_ok=True)
            for shard in folder.glob("shard-*"):
                shutil.rmtree(shard)
        if any((folder / name).is_file() for name in (DATABASE_URL_FILE, SHARD_SET_FILES[1])):
            raise CollectionError(
                f"the database of {folder} is elsewhere (--store): drop its tables there, or use another -C"
            )
        if (folder / DATABASE_FILE).exists():
            # From here on the folder has no collection, even after a crash.
            (folder / DATABASE_FILE).rename(folder / DELETED_DATABASE_FILE)
        _delete_collection_files(folder)
    finally:
        os.close(lock)


def _delete_collection_files(folder: Path) -> None:
    """Delete the remaining files. The file that marks the deletion goes last."""
    for name in COLLECTION_FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in (f"{DATABASE_FILE}-wal", f"{DATABASE_FILE}-shm", DELETED_DATABASE_FILE):
        (folder / name).unlink(missing_ok=True)


def _check_url_key_version(db: Connection, folder: Path) -> None:
    """Reject a collection with URL keys of another version."""
    db.execute("INSERT INTO meta VALUES ('scheme', ?) ON CONFLICT (name) DO NOTHING", (str(KEY_VERSION),))
    (version,) = db.execute("SELECT value FROM meta WHERE name = 'scheme'").fetchone()
    if version != str(KEY_VERSION):
        raise CollectionError(
            f"{folder} uses URL key version {version}, this program uses {KEY_VERSION}; use another -C"
        )


def get_robots_agent(db: Connection) -> str:
    """Return the product token of this crawler for robots.txt and robots meta tags."""
    return parse_product_token(CollectionMeta(db).settings.get("user_agent", "").strip() or "sanderling")

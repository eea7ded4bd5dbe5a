"""The state file: a list of pages on disk (DPS-2), opened here; every write has a stamp of its own.

The stamp is the time of the commit, made to grow: a reader that has seen stamp S has seen every change stamped S or
less. So `until` in an answer is exact, whatever the clocks of several processes say, and no change falls between two
visits. `modified` is what the page says of itself; `noticed` is the stamp under which we learned of it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sanderling.errors import CollectionError

Connection = sqlite3.Connection

SCHEMA_VERSION = 1

SCHEMA = """
CREATE TABLE pages (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  noticed INTEGER NOT NULL,
  mark TEXT NOT NULL DEFAULT '',
  hits INTEGER NOT NULL DEFAULT 0,
  score REAL NOT NULL DEFAULT 0,
  hit_at INTEGER NOT NULL DEFAULT 0,
  deleted INTEGER NOT NULL DEFAULT 0,
  hidden INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX pages_noticed ON pages (noticed);
CREATE INDEX pages_live ON pages (score DESC, id) WHERE deleted = 0 AND hidden = 0;
CREATE INDEX pages_gone ON pages (id) WHERE deleted = 1;
CREATE INDEX pages_part ON pages (id / 50000, modified) WHERE deleted = 0 AND hidden = 0;
CREATE TABLE crawlers (name TEXT, verified INTEGER, visits INTEGER NOT NULL, last_visit INTEGER NOT NULL,
  PRIMARY KEY (name, verified)) WITHOUT ROWID;
CREATE TABLE facts (stamp INTEGER NOT NULL, epoch INTEGER NOT NULL, formula TEXT NOT NULL, position TEXT NOT NULL,
  rules TEXT NOT NULL, told INTEGER NOT NULL, told_id INTEGER NOT NULL, files TEXT NOT NULL);
INSERT INTO facts VALUES (0, 0, '', '', '', 0, 0, '')
"""


@dataclass(frozen=True, slots=True)
class PublisherState:
    """What is true of the whole store."""

    last_commit_time: int
    epoch: int  # from which fading views are counted
    priority_formula: str
    log_position: str  # how far the access log was read
    rules_digest: str  # digest of the rules by which pages were hidden
    announced_until: int  # changes up to this stamp, and of this stamp
    announced_page_id: int  # up to this id, were announced by IndexNow
    docroot_digest: str  # digest of the document root as it was last seen


def open_state_db(path: Path) -> Connection:
    """Open the state file, made if missing; sorting spills to disk, so memory stays flat."""
    db = None
    try:
        db = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "cache_size=-8192", "temp_store=1"):
            db.execute(f"PRAGMA {pragma}")
        _create_schema(db, path)
    except BaseException as wrong:
        if db is not None:
            db.close()
        if not isinstance(wrong, sqlite3.DatabaseError):
            raise
        raise CollectionError(f"{path} cannot be the publisher's state file: {wrong}") from None
    return db


def _create_schema(db: Connection, path: Path) -> None:
    if _get_schema_version(db) == 0:
        with write_transaction(db):
            if _get_schema_version(db) == 0:  # nobody else was quicker
                for statement in SCHEMA.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    if _get_schema_version(db) != SCHEMA_VERSION:
        raise CollectionError(
            f"{path} has version {_get_schema_version(db)}; this program knows version {SCHEMA_VERSION}"
        )


def _get_schema_version(db: Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def write_transaction(db: Connection) -> Iterator[None]:
    """Hold the one write lock for a transaction."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


@contextmanager
def read_transaction(db: Connection) -> Iterator[PublisherState]:
    """Hold one view of the store, and the facts that belong to it."""
    db.execute("BEGIN")
    try:
        yield load_publisher_state(db)
    finally:
        db.execute("COMMIT")


def load_publisher_state(db: Connection) -> PublisherState:
    """Read what is true of the whole store."""
    return PublisherState(
        *db.execute("SELECT stamp, epoch, formula, position, rules, told, told_id, files FROM facts").fetchone()
    )


def advance_commit_time(db: Connection, now: int) -> int:
    """Take the next stamp, inside a write: the time, but always later than the last one."""
    stamp: int = db.execute("UPDATE facts SET stamp = max(stamp + 1, ?) RETURNING stamp", (now,)).fetchone()[0]
    return stamp

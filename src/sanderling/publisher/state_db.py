"""Open the state file: the table of pages (DPS-2), and the publisher state.

Every write gets a strictly increasing commit time, so `until` in a response is exact regardless of the clocks of
several processes. `modified` is the page's own time; `noticed` is its commit time.
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
    last_commit_time: int
    epoch: int  # start time of view weights
    priority_formula: str
    log_position: str
    rules_digest: str  # rules applied to hidden pages
    announced_until: int  # IndexNow: all changes before this commit time,
    announced_page_id: int  # and at it up to this id, are announced
    docroot_digest: str  # at the last scan


def open_state_db(path: Path) -> Connection:
    """Open or create the state file."""
    db = None
    try:
        db = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "cache_size=-8192", "temp_store=1"):
            db.execute(f"PRAGMA {pragma}")
        _create_schema(db, path)
    except BaseException as error:
        if db is not None:
            db.close()
        if not isinstance(error, sqlite3.DatabaseError):
            raise
        raise CollectionError(f"{path} is not a valid publisher state file: {error}") from None
    return db


def _create_schema(db: Connection, path: Path) -> None:
    if _get_schema_version(db) == 0:
        with write_transaction(db):
            if _get_schema_version(db) == 0:  # another process may have created it
                for statement in SCHEMA.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    if _get_schema_version(db) != SCHEMA_VERSION:
        raise CollectionError(
            f"{path} has schema version {_get_schema_version(db)}; this program supports version {SCHEMA_VERSION}"
        )


def _get_schema_version(db: Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def write_transaction(db: Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


@contextmanager
def read_transaction(db: Connection) -> Iterator[PublisherState]:
    """Run a read transaction, and yield the state it sees."""
    db.execute("BEGIN")
    try:
        yield load_publisher_state(db)
    finally:
        db.execute("COMMIT")


def load_publisher_state(db: Connection) -> PublisherState:
    return PublisherState(
        *db.execute("SELECT stamp, epoch, formula, position, rules, told, told_id, files FROM facts").fetchone()
    )


def advance_commit_time(db: Connection, now: int) -> int:
    """Return the next commit time. Call inside a write transaction."""
    commit_time: int = db.execute("UPDATE facts SET stamp = max(stamp + 1, ?) RETURNING stamp", (now,)).fetchone()[0]
    return commit_time

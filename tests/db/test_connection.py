"""Rows by many ids, a few questions prepared; a full disk has a name."""

import gc
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sanderling.db.connection import (
    ID_BATCH_SIZES,
    begin_transaction,
    close_on_finalize,
    commit_transaction,
    connect_private_sqlite,
    connect_sqlite,
    convert_disk_full,
    select_by_ids,
    transaction,
)
from sanderling.errors import CollectionError, DiskFull

ASKED = "SELECT id FROM a WHERE id IN ({})"


@pytest.mark.parametrize("count", [0, 1, 2, ID_BATCH_SIZES[-1], ID_BATCH_SIZES[-1] + 1, 2 * ID_BATCH_SIZES[-1] + 7])
def test_each_row_is_given_once_however_many_are_asked_for(tmp_path: Path, count: int) -> None:
    db = connect_sqlite(tmp_path / "a.db")
    db.execute("CREATE TABLE a (id INTEGER PRIMARY KEY)")
    db.executemany("INSERT INTO a VALUES (?)", [(id_,) for id_ in range(1000)])
    asked = [*range(count), 5_000]  # the last is not there
    assert [id_ for (id_,) in select_by_ids(db, ASKED, asked)] == list(range(count))
    db.close()


@pytest.mark.parametrize("name", ["a b", "a%20b", "a%3fb", "a?b", "a#b", "\u00e4&mode=ro"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    connect_sqlite(tmp_path / name / "a.db").close()
    connect_sqlite(tmp_path / name / "a.db", read_only=True).close()
    assert (tmp_path / name / "a.db").is_file()
    assert [folder.name for folder in tmp_path.iterdir()] == [name]


def test_questions_of_many_lengths_are_few() -> None:
    class Remembers:
        def __init__(self) -> None:
            self.asked: set[str] = set()

        def execute(self, sql: str, _ids: list[int]) -> "Remembers":
            self.asked.add(sql)
            return self

        def fetchall(self) -> list[object]:
            return []

    db = Remembers()
    for count in range(1, 1000):
        list(select_by_ids(db, ASKED, range(count)))  # type: ignore[arg-type]
    assert len(db.asked) == len(ID_BATCH_SIZES)


def test_a_full_disk_is_named_in_a_transaction_and_outside_one(tmp_path: Path) -> None:
    db = connect_sqlite(tmp_path / "a.db")
    db.execute("CREATE TABLE a (content BLOB)")
    db.execute("PRAGMA max_page_count = 4")
    with pytest.raises(DiskFull, match="it resumes"), transaction(db):
        db.execute("INSERT INTO a VALUES (zeroblob(100000))")
    assert not db.in_transaction
    with pytest.raises(DiskFull, match="it resumes"), convert_disk_full():
        db.execute("INSERT INTO a VALUES (zeroblob(100000))")
    with pytest.raises(sqlite3.OperationalError, match="no such table"), convert_disk_full():
        db.execute("SELECT * FROM b")
    db.close()


def test_a_transaction_is_part_of_one_that_is_open(tmp_path: Path) -> None:
    db, other = connect_sqlite(tmp_path / "a.db"), connect_sqlite(tmp_path / "a.db")
    db.execute("CREATE TABLE a (id INTEGER PRIMARY KEY)")
    with begin_transaction(db):
        db.execute("INSERT INTO a VALUES (1)")
    with transaction(db):
        db.execute("INSERT INTO a VALUES (2)")
    assert other.execute("SELECT id FROM a").fetchall() == []
    with commit_transaction(db):
        db.execute("INSERT INTO a VALUES (3)")
    assert other.execute("SELECT id FROM a").fetchall() == [(1,), (2,), (3,)]
    db.close()
    other.close()


def test_what_goes_wrong_at_the_end_of_a_transaction_undoes_all_of_it(tmp_path: Path) -> None:
    db = connect_sqlite(tmp_path / "a.db")
    db.execute("CREATE TABLE a (id INTEGER PRIMARY KEY)")
    with begin_transaction(db):
        db.execute("INSERT INTO a VALUES (1)")
    with pytest.raises(ZeroDivisionError), commit_transaction(db):
        _ = 1 / 0
    assert not db.in_transaction
    assert db.execute("SELECT id FROM a").fetchall() == []
    db.close()


@pytest.mark.parametrize("is_new", [True, False])
def test_a_private_database_and_its_side_files_are_readable_by_their_owner_alone(tmp_path: Path, is_new: bool) -> None:
    before = os.umask(0o022)
    try:
        if not is_new:
            with closing(connect_sqlite(tmp_path / "p.db")) as old:
                old.execute("CREATE TABLE old (a)")
        db = connect_private_sqlite(tmp_path / "p.db")
        db.execute("CREATE TABLE t (a)")
    finally:
        os.umask(before)
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    db.close()
    assert modes == {"p.db": 0o600, "p.db-wal": 0o600, "p.db-shm": 0o600}


def test_a_connection_is_closed_with_its_owner_and_when_it_cannot_be_used(tmp_path: Path) -> None:
    class Owner:
        """Holds a connection and does not close it."""

    db, owner = connect_sqlite(tmp_path / "a.db"), Owner()
    close_on_finalize(owner, db)
    del owner
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")
    (tmp_path / "b.db").write_bytes(b"no database" * 1000)
    opened: list[sqlite3.Connection] = []
    with pytest.MonkeyPatch.context() as patch:
        real = sqlite3.connect
        patch.setattr(sqlite3, "connect", lambda *a, **k: noted(opened, real(*a, **k)))
        with pytest.raises(CollectionError, match="cannot be opened"):
            connect_sqlite(tmp_path / "b.db")
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


def noted(opened: list[sqlite3.Connection], db: sqlite3.Connection) -> sqlite3.Connection:
    """Append a connection to the list and return it."""
    opened.append(db)
    return db

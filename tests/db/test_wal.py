"""The log of the database is written back beside the crawl."""

import shutil
import sqlite3
import time
from pathlib import Path
from threading import Event

import pytest

from sanderling.db import wal
from sanderling.db.connection import Connection, connect, transaction
from sanderling.db.wal import LONGEST, SHORTEST, WANTED, empty, grown, next_wait, write_back, written_back


def fill(db: Connection, rows: int) -> None:
    with transaction(db):
        db.execute("CREATE TABLE IF NOT EXISTS a (b INTEGER)")
        db.executemany("INSERT INTO a VALUES (?)", [(number,) for number in range(rows)])


def rows_without_log(database: Path) -> int:
    """How many rows are in the file itself."""
    copy = database.with_name("copy.db")
    shutil.copy(database, copy)
    db = sqlite3.connect(f"file:{copy}?immutable=1", uri=True)
    try:
        return int(db.execute("SELECT count(*) FROM a").fetchone()[0])
    except sqlite3.OperationalError:  # not even the table
        return 0
    finally:
        db.close()


def test_what_was_committed_is_written_back_while_another_transaction_is_open(tmp_path: Path) -> None:
    writer, beside = connect(tmp_path / "a.db"), connect(tmp_path / "a.db")
    fill(writer, 1000)
    assert rows_without_log(tmp_path / "a.db") == 0
    with transaction(writer):
        writer.execute("INSERT INTO a VALUES (1)")
        assert write_back(beside) > 0
        assert rows_without_log(tmp_path / "a.db") == 1000
    assert writer.execute("SELECT count(*) FROM a").fetchone()[0] == 1001
    beside.close()
    writer.close()


def test_a_thread_does_it_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = Event()

    def noticed(db: Connection) -> int:
        length = write_back(db)
        done.set()
        return length

    monkeypatch.setattr(wal, "FIRST", 0.0)
    monkeypatch.setattr(wal, "write_back", noticed)
    writer = connect(tmp_path / "a.db")
    fill(writer, 1000)
    with written_back(tmp_path / "a.db"):
        assert done.wait(60)
        assert rows_without_log(tmp_path / "a.db") == 1000
    writer.close()
    assert not (tmp_path / "a.db-wal").exists()


def test_a_disk_that_fails_the_thread_is_left_to_who_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = Event()

    def fails(_db: Connection) -> int:
        tried.set()
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(wal, "FIRST", 0.0)
    monkeypatch.setattr(wal, "write_back", fails)
    writer = connect(tmp_path / "a.db")
    with written_back(tmp_path / "a.db"):
        assert tried.wait(60)
        fill(writer, 10)
    assert writer.execute("SELECT count(*) FROM a").fetchone()[0] == 10
    writer.close()


def test_where_there_is_no_such_file_nothing_is_done(tmp_path: Path) -> None:
    with written_back(tmp_path / "a.db"):
        pass
    assert not list(tmp_path.iterdir())


def test_it_looks_as_often_as_there_is_something_to_do() -> None:
    assert next_wait(1.0, WANTED) == 1.0
    assert next_wait(1.0, 10 * WANTED) == 0.5
    assert next_wait(1.0, 0) == 2.0
    assert next_wait(SHORTEST, 10 * WANTED) == SHORTEST
    assert next_wait(LONGEST, 0) == LONGEST


def test_a_log_that_is_shorter_began_anew() -> None:
    assert grown(100, 250) == 150
    assert grown(9_000, 40) == 40


def test_the_log_is_emptied_when_the_block_says_so_and_goes_on_after_that(tmp_path: Path) -> None:
    writer, log = connect(tmp_path / "a.db"), tmp_path / "a.db-wal"
    with written_back(tmp_path / "a.db") as empty_log:
        fill(writer, 1000)
        assert log.stat().st_size > 0
        empty_log()
        until = time.monotonic() + 60
        while log.stat().st_size and time.monotonic() < until:
            Event().wait(0.001)
        assert log.stat().st_size == 0
        assert rows_without_log(tmp_path / "a.db") == 1000
        fill(writer, 10)
    assert writer.execute("SELECT count(*) FROM a").fetchone()[0] == 1010
    writer.close()


def test_a_log_that_somebody_reads_is_written_back_and_not_emptied(tmp_path: Path) -> None:
    writer, reader, beside = (connect(tmp_path / "a.db") for _ in range(3))
    fill(writer, 1000)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM a").fetchone()[0] == 1000
    empty(beside)
    assert rows_without_log(tmp_path / "a.db") == 1000
    assert (tmp_path / "a.db-wal").stat().st_size > 0
    reader.execute("COMMIT")
    empty(beside)
    assert (tmp_path / "a.db-wal").stat().st_size == 0
    for db in (writer, reader, beside):
        db.close()


def test_before_the_log_is_emptied_it_is_written_back_without_a_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def noticed(db: Connection) -> int:
        sizes.append((tmp_path / "a.db-wal").stat().st_size)
        return write_back(db)

    monkeypatch.setattr(wal, "write_back", noticed)
    db = connect(tmp_path / "a.db")
    fill(db, 1000)
    empty(db)
    assert [size > 0 for size in sizes] == [True]
    assert (tmp_path / "a.db-wal").stat().st_size == 0
    db.close()

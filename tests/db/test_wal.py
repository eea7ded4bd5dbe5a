"""The log of the database is written back beside the crawl."""

import shutil
import sqlite3
import time
from pathlib import Path
from threading import Event

import pytest

from sanderling.db import wal
from sanderling.db.connection import Connection, connect_sqlite, transaction
from sanderling.db.wal import (
    MAX_WAIT,
    MIN_WAIT,
    TARGET_PAGES,
    checkpoint_wal,
    compute_growth,
    compute_next_wait,
    run_checkpoints,
    truncate_wal,
)


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
    writer, beside = connect_sqlite(tmp_path / "a.db"), connect_sqlite(tmp_path / "a.db")
    fill(writer, 1000)
    assert rows_without_log(tmp_path / "a.db") == 0
    with transaction(writer):
        writer.execute("INSERT INTO a VALUES (1)")
        assert checkpoint_wal(beside) > 0
        assert rows_without_log(tmp_path / "a.db") == 1000
    assert writer.execute("SELECT count(*) FROM a").fetchone()[0] == 1001
    beside.close()
    writer.close()


def test_a_thread_does_it_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = Event()

    def noticed(db: Connection) -> int:
        length = checkpoint_wal(db)
        done.set()
        return length

    monkeypatch.setattr(wal, "INITIAL_WAIT", 0.0)
    monkeypatch.setattr(wal, "checkpoint_wal", noticed)
    writer = connect_sqlite(tmp_path / "a.db")
    fill(writer, 1000)
    with run_checkpoints(tmp_path / "a.db"):
        assert done.wait(60)
        assert rows_without_log(tmp_path / "a.db") == 1000
    writer.close()
    assert not (tmp_path / "a.db-wal").exists()


def test_a_disk_that_fails_the_thread_is_left_to_who_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = Event()

    def fails(_db: Connection) -> int:
        tried.set()
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(wal, "INITIAL_WAIT", 0.0)
    monkeypatch.setattr(wal, "checkpoint_wal", fails)
    writer = connect_sqlite(tmp_path / "a.db")
    with run_checkpoints(tmp_path / "a.db"):
        assert tried.wait(60)
        fill(writer, 10)
    assert writer.execute("SELECT count(*) FROM a").fetchone()[0] == 10
    writer.close()


def test_where_there_is_no_such_file_nothing_is_done(tmp_path: Path) -> None:
    with run_checkpoints(tmp_path / "a.db"):
        pass
    assert not list(tmp_path.iterdir())


def test_it_looks_as_often_as_there_is_something_to_do() -> None:
    assert compute_next_wait(1.0, TARGET_PAGES) == 1.0
    assert compute_next_wait(1.0, 10 * TARGET_PAGES) == 0.5
    assert compute_next_wait(1.0, 0) == 2.0
    assert compute_next_wait(MIN_WAIT, 10 * TARGET_PAGES) == MIN_WAIT
    assert compute_next_wait(MAX_WAIT, 0) == MAX_WAIT


def test_a_log_that_is_shorter_began_anew() -> None:
    assert compute_growth(100, 250) == 150
    assert compute_growth(9_000, 40) == 40


def test_the_log_is_emptied_when_the_block_says_so_and_goes_on_after_that(tmp_path: Path) -> None:
    writer, log = connect_sqlite(tmp_path / "a.db"), tmp_path / "a.db-wal"
    with run_checkpoints(tmp_path / "a.db") as empty_log:
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
    writer, reader, beside = (connect_sqlite(tmp_path / "a.db") for _ in range(3))
    fill(writer, 1000)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM a").fetchone()[0] == 1000
    truncate_wal(beside)
    assert rows_without_log(tmp_path / "a.db") == 1000
    assert (tmp_path / "a.db-wal").stat().st_size > 0
    reader.execute("COMMIT")
    truncate_wal(beside)
    assert (tmp_path / "a.db-wal").stat().st_size == 0
    for db in (writer, reader, beside):
        db.close()


def test_before_the_log_is_emptied_it_is_written_back_without_a_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def noticed(db: Connection) -> int:
        sizes.append((tmp_path / "a.db-wal").stat().st_size)
        return checkpoint_wal(db)

    monkeypatch.setattr(wal, "checkpoint_wal", noticed)
    db = connect_sqlite(tmp_path / "a.db")
    fill(db, 1000)
    truncate_wal(db)
    assert [size > 0 for size in sizes] == [True]
    assert (tmp_path / "a.db-wal").stat().st_size == 0
    db.close()

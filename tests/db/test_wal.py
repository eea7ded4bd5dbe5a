"""Background checkpoints of the write-ahead log."""

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


def insert_rows(db: Connection, rows: int) -> None:
    with transaction(db):
        db.execute("CREATE TABLE IF NOT EXISTS a (b INTEGER)")
        db.executemany("INSERT INTO a VALUES (?)", [(number,) for number in range(rows)])


def count_checkpointed_rows(database: Path) -> int:
    """Count the rows in the database file without its log."""
    copy = database.with_name("copy.db")
    shutil.copy(database, copy)
    db = sqlite3.connect(f"file:{copy}?immutable=1", uri=True)
    try:
        return int(db.execute("SELECT count(*) FROM a").fetchone()[0])
    except sqlite3.OperationalError:  # the table is still in the log only
        return 0
    finally:
        db.close()


def test_committed_rows_are_checkpointed_while_a_transaction_is_open(tmp_path: Path) -> None:
    writer, checkpointer = connect_sqlite(tmp_path / "a.db"), connect_sqlite(tmp_path / "a.db")
    insert_rows(writer, 1000)
    assert count_checkpointed_rows(tmp_path / "a.db") == 0
    with transaction(writer):
        writer.execute("INSERT INTO a VALUES (1)")
        assert checkpoint_wal(checkpointer) > 0
        assert count_checkpointed_rows(tmp_path / "a.db") == 1000
    assert writer.execute("SELECT count(*) FROM a").fetchone()[0] == 1001
    checkpointer.close()
    writer.close()


def test_background_thread_checkpoints_and_the_log_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = Event()

    def record_checkpoint(db: Connection) -> int:
        length = checkpoint_wal(db)
        done.set()
        return length

    monkeypatch.setattr(wal, "INITIAL_WAIT", 0.0)
    monkeypatch.setattr(wal, "checkpoint_wal", record_checkpoint)
    writer = connect_sqlite(tmp_path / "a.db")
    insert_rows(writer, 1000)
    with run_checkpoints(tmp_path / "a.db"):
        assert done.wait(60)
        assert count_checkpointed_rows(tmp_path / "a.db") == 1000
    writer.close()
    assert not (tmp_path / "a.db-wal").exists()


def test_failed_checkpoint_does_not_stop_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempted = Event()

    def fail(_db: Connection) -> int:
        attempted.set()
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(wal, "INITIAL_WAIT", 0.0)
    monkeypatch.setattr(wal, "checkpoint_wal", fail)
    writer = connect_sqlite(tmp_path / "a.db")
    with run_checkpoints(tmp_path / "a.db"):
        assert attempted.wait(60)
        insert_rows(writer, 10)
    assert writer.execute("SELECT count(*) FROM a").fetchone()[0] == 10
    writer.close()


def test_missing_database_file_is_ignored(tmp_path: Path) -> None:
    with run_checkpoints(tmp_path / "a.db"):
        pass
    assert not list(tmp_path.iterdir())


def test_wait_adapts_to_the_growth_of_the_log() -> None:
    assert compute_next_wait(1.0, TARGET_PAGES) == 1.0
    assert compute_next_wait(1.0, 10 * TARGET_PAGES) == 0.5
    assert compute_next_wait(1.0, 0) == 2.0
    assert compute_next_wait(MIN_WAIT, 10 * TARGET_PAGES) == MIN_WAIT
    assert compute_next_wait(MAX_WAIT, 0) == MAX_WAIT


def test_growth_of_a_restarted_log_is_its_length() -> None:
    assert compute_growth(100, 250) == 150
    assert compute_growth(9_000, 40) == 40


def test_log_is_truncated_on_request_and_usable_afterwards(tmp_path: Path) -> None:
    writer, log = connect_sqlite(tmp_path / "a.db"), tmp_path / "a.db-wal"
    with run_checkpoints(tmp_path / "a.db") as truncate_log:
        insert_rows(writer, 1000)
        assert log.stat().st_size > 0
        truncate_log()
        deadline = time.monotonic() + 60
        while log.stat().st_size and time.monotonic() < deadline:
            Event().wait(0.001)
        assert log.stat().st_size == 0
        assert count_checkpointed_rows(tmp_path / "a.db") == 1000
        insert_rows(writer, 10)
    assert writer.execute("SELECT count(*) FROM a").fetchone()[0] == 1010
    writer.close()


def test_log_with_an_active_reader_is_checkpointed_but_not_truncated(tmp_path: Path) -> None:
    writer, reader, checkpointer = (connect_sqlite(tmp_path / "a.db") for _ in range(3))
    insert_rows(writer, 1000)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM a").fetchone()[0] == 1000
    truncate_wal(checkpointer)
    assert count_checkpointed_rows(tmp_path / "a.db") == 1000
    assert (tmp_path / "a.db-wal").stat().st_size > 0
    reader.execute("COMMIT")
    truncate_wal(checkpointer)
    assert (tmp_path / "a.db-wal").stat().st_size == 0
    for db in (writer, reader, checkpointer):
        db.close()


def test_truncation_starts_with_a_passive_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def record_checkpoint(db: Connection) -> int:
        sizes.append((tmp_path / "a.db-wal").stat().st_size)
        return checkpoint_wal(db)

    monkeypatch.setattr(wal, "checkpoint_wal", record_checkpoint)
    db = connect_sqlite(tmp_path / "a.db")
    insert_rows(db, 1000)
    truncate_wal(db)
    assert [size > 0 for size in sizes] == [True]
    assert (tmp_path / "a.db-wal").stat().st_size == 0
    db.close()

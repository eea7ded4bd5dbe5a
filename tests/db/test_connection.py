"""SQLite connections, transactions, and selection by ids."""

import gc
import os
import sqlite3
import subprocess
import sys
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

SELECT = "SELECT id FROM a WHERE id IN ({})"


@pytest.mark.parametrize("count", [0, 1, 2, ID_BATCH_SIZES[-1], ID_BATCH_SIZES[-1] + 1, 2 * ID_BATCH_SIZES[-1] + 7])
def test_select_by_ids_returns_each_row_once(tmp_path: Path, count: int) -> None:
    db = connect_sqlite(tmp_path / "a.db")
    db.execute("CREATE TABLE a (id INTEGER PRIMARY KEY)")
    db.executemany("INSERT INTO a VALUES (?)", [(id_,) for id_ in range(1000)])
    ids = [*range(count), 5_000]  # the last does not exist
    assert [id_ for (id_,) in select_by_ids(db, SELECT, ids)] == list(range(count))
    db.close()


@pytest.mark.parametrize("name", ["a b", "a%20b", "a%3fb", "a?b", "a#b", "\u00e4&mode=ro"])
def test_folder_name_may_contain_special_characters(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    connect_sqlite(tmp_path / name / "a.db").close()
    connect_sqlite(tmp_path / name / "a.db", read_only=True).close()
    assert (tmp_path / name / "a.db").is_file()
    assert [folder.name for folder in tmp_path.iterdir()] == [name]


def test_select_by_ids_prepares_few_statements() -> None:
    class RecordingConnection:
        def __init__(self) -> None:
            self.statements: set[str] = set()

        def execute(self, sql: str, _ids: list[int]) -> "RecordingConnection":
            self.statements.add(sql)
            return self

        def fetchall(self) -> list[object]:
            return []

    db = RecordingConnection()
    for count in range(1, 1000):
        list(select_by_ids(db, SELECT, range(count)))  # type: ignore[arg-type]
    assert len(db.statements) == len(ID_BATCH_SIZES)


def test_full_disk_is_reported_inside_and_outside_a_transaction(tmp_path: Path) -> None:
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


def test_nested_transaction_joins_the_open_transaction(tmp_path: Path) -> None:
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


def test_exception_before_commit_rolls_back_the_whole_transaction(tmp_path: Path) -> None:
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
def test_private_database_has_owner_only_permissions(tmp_path: Path, is_new: bool) -> None:
    previous_umask = os.umask(0o022)
    try:
        if not is_new:
            with closing(connect_sqlite(tmp_path / "p.db")) as old:
                old.execute("CREATE TABLE old (a)")
        db = connect_private_sqlite(tmp_path / "p.db")
        db.execute("CREATE TABLE t (a)")
    finally:
        os.umask(previous_umask)
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    db.close()
    assert modes == {"p.db": 0o600, "p.db-wal": 0o600, "p.db-shm": 0o600}


def test_connection_is_closed_with_its_owner_and_after_a_failed_open(tmp_path: Path) -> None:
    class Owner:
        """Owner that does not close its connection."""

    db, owner = connect_sqlite(tmp_path / "a.db"), Owner()
    close_on_finalize(owner, db)
    del owner
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")
    (tmp_path / "b.db").write_bytes(b"no database" * 1000)
    opened: list[sqlite3.Connection] = []
    with pytest.MonkeyPatch.context() as patch:
        connect = sqlite3.connect
        patch.setattr(sqlite3, "connect", lambda *a, **k: record_connection(opened, connect(*a, **k)))
        with pytest.raises(CollectionError, match="cannot be opened"):
            connect_sqlite(tmp_path / "b.db")
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


def record_connection(opened: list[sqlite3.Connection], db: sqlite3.Connection) -> sqlite3.Connection:
    """Append a connection to the list and return it."""
    opened.append(db)
    return db


def test_undecodable_schema_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE first_table (id INTEGER)")
        db.commit()
    content = path.read_bytes().replace(
        b"CREATE TABLE first_table (id INTEGER)", b"CREATE TABLE first_table \x97\xfb\x97\xfb\x97\xfb\x97\xfb )"
    )
    path.write_bytes(content)
    with pytest.raises(CollectionError, match=r"a\.db cannot be opened"):
        connect_sqlite(path)


def test_private_database_is_shared_with_other_processes(tmp_path: Path) -> None:
    """Locks of a process end when it closes any descriptor of a file, so no connection may open it twice."""
    path = tmp_path / "private.db"
    code = "import sys; from pathlib import Path; from sanderling.db.connection import connect_private_sqlite as c\n"
    code += "db = c(Path(sys.argv[1])); db.execute('DELETE FROM t'); db.close()"
    with closing(connect_private_sqlite(path)) as first:
        first.execute("CREATE TABLE t (a)")
        with closing(connect_private_sqlite(path)) as second:
            second.execute("INSERT INTO t VALUES (1)")
        subprocess.run([sys.executable, "-c", code, str(path)], check=True)
        assert first.execute("SELECT count(*) FROM t").fetchone() == (0,)
        assert path.with_name("private.db-wal").exists()
    assert path.stat().st_mode & 0o777 == 0o600

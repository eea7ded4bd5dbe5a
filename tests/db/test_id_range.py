"""Ranges of row ids."""

from pathlib import Path

from sanderling.db.connection import connect_sqlite
from sanderling.db.id_range import build_id_range, find_next_id


def test_ids_of_a_range_ignore_rows_of_others(tmp_path: Path) -> None:
    db = connect_sqlite(tmp_path / "x.db")
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    first, second = build_id_range(1), build_id_range(2)
    assert first.last < second.first
    assert (find_next_id(db, "t"), find_next_id(db, "t", first)) == (1, first.first)
    db.executemany("INSERT INTO t VALUES (?)", [(7,), (first.first + 4,), (second.first + 9,)])
    assert find_next_id(db, "t", first) == first.first + 5
    assert find_next_id(db, "t", second) == second.first + 10
    db.close()

"""Stored score tables of orderings."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from sanderling.db.connection import Connection, apply_migrations, connect_sqlite
from sanderling.db.schema.storage import MIGRATIONS
from sanderling.frontier.ordering.opic import OpicOrdering
from sanderling.frontier.ordering.persistence import BLOB_NAME, load_ordering, save_ordering


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Connection]:
    db = connect_sqlite(tmp_path / "x.db")
    apply_migrations(db, {"storage": MIGRATIONS})
    yield db
    db.close()


def build_opic(cash: float) -> OpicOrdering:
    ordering = OpicOrdering()
    ordering.cash.add(7, cash)
    return ordering


def test_saved_score_tables_are_loaded_by_the_same_ordering(db: Connection) -> None:
    save_ordering(db, "opic", build_opic(0.5), 12)
    same, other = OpicOrdering(), OpicOrdering()
    assert (load_ordering(db, "opic", same), same.cash[7]) == (12, 0.5)
    assert (load_ordering(db, "0.5*opic+0.5*breadth", other), other.cash[7]) == (0, 0.0)


def test_nothing_is_loaded_from_a_new_collection(db: Connection) -> None:
    assert load_ordering(db, "opic", OpicOrdering()) == 0


def test_state_of_earlier_versions_is_migrated(tmp_path: Path) -> None:
    stored = {"order": "opic", "until": 12, "tallies": {"cash": build_opic(0.5).cash.dump()}}
    ordering = OpicOrdering()
    with closing(connect_sqlite(tmp_path / "old.db")) as db:
        apply_migrations(db, {"storage": MIGRATIONS[:4]})
        db.execute("INSERT INTO blobs VALUES (?, ?)", (BLOB_NAME, msgspec.msgpack.encode(stored)))
        apply_migrations(db, {"storage": MIGRATIONS})
        assert (load_ordering(db, "opic", ordering), ordering.cash[7]) == (12, 0.5)

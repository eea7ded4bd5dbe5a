"""One folder, one writer; other versions and other files are told apart."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sanderling.errors import CollectionError
from sanderling.store.collection import Collection, open_collection, read_collection, remove_collection


def test_a_file_that_is_no_database_gets_a_sentence_and_can_be_cleaned(tmp_path: Path) -> None:
    (tmp_path / "sanderling.db").write_text("no database")
    for use in (open_collection, read_collection):
        with pytest.raises(CollectionError, match="--clean"):
            use(tmp_path)
    remove_collection(tmp_path)
    open_collection(tmp_path).close()


@pytest.mark.parametrize("use", [open_collection, read_collection])
def test_a_place_that_fails_is_told_in_a_sentence_when_it_is_read(
    tmp_path: Path, use: Callable[[Path], Collection]
) -> None:
    with open_collection(tmp_path) as collection:
        collection.db.execute("CREATE TABLE many (name TEXT)")
        collection.db.executemany("INSERT INTO many VALUES (?)", [(f"name {i}" + "x" * 900,) for i in range(99)])
    whole = (tmp_path / "sanderling.db").read_bytes()
    at = whole.index(b"name 77") // 4096 * 4096  # where the page of the database begins that it lies on
    (tmp_path / "sanderling.db").write_bytes(whole[:at] + b"\xaa" * 4096 + whole[at + 4096 :])
    with pytest.raises(CollectionError, match="is damaged"), use(tmp_path) as collection:
        collection.db.execute("SELECT name FROM many").fetchall()


def test_a_database_that_fails_while_it_is_opened_is_told_too(tmp_path: Path) -> None:
    open_collection(tmp_path).close()
    whole = (tmp_path / "sanderling.db").read_bytes()
    (tmp_path / "sanderling.db").write_bytes(whole[:4096] + b"\xaa" * (len(whole) - 4096))
    for use in (open_collection, read_collection):
        with pytest.raises(CollectionError, match="--clean"):
            use(tmp_path)


def test_what_a_newer_version_wrote_is_not_touched(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        collection.db.execute("UPDATE migrations SET applied = 99 WHERE room = 'store'")
    for use in (open_collection, read_collection):
        with pytest.raises(CollectionError, match="newer version"):
            use(tmp_path)


def test_what_an_older_version_wrote_is_brought_up_to_date_to_be_read(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        for table in ("near", "near_until", "tally"):
            collection.db.execute(f"DROP TABLE {table}")
        collection.db.execute("DELETE FROM migrations WHERE room = 'dedupe'")
    with read_collection(tmp_path) as collection:
        assert collection.db.execute("SELECT count(*) FROM near").fetchone() == (0,)


def test_an_empty_database_is_an_empty_collection(tmp_path: Path) -> None:
    (tmp_path / "sanderling.db").touch()
    with read_collection(tmp_path) as collection:
        assert collection.db.execute("SELECT count(*) FROM pages").fetchone() == (0,)


def test_cleaning_leaves_what_is_not_ours(tmp_path: Path) -> None:
    open_collection(tmp_path).close()
    (tmp_path / "notes.txt").write_text("mine")
    remove_collection(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", "lock"}

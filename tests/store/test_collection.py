"""One folder, one writer; other versions and other files are told apart."""

from pathlib import Path

import pytest

from sanderling.errors import CollectionError
from sanderling.store.collection import open_collection, read_collection, remove_collection


def test_a_file_that_is_no_database_gets_a_sentence_and_can_be_cleaned(tmp_path: Path) -> None:
    (tmp_path / "sanderling.db").write_text("no database")
    for use in (open_collection, read_collection):
        with pytest.raises(CollectionError, match="--clean"):
            use(tmp_path)
    remove_collection(tmp_path)
    open_collection(tmp_path).close()


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

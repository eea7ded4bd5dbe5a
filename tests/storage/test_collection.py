"""Tests of opening, upgrading, and deleting collections, and of damaged databases."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.site import Site, html

from sanderling.cli import main
from sanderling.errors import CollectionError
from sanderling.storage.collection import (
    StoredCollection,
    delete_collection,
    has_collection,
    open_collection,
    open_collection_read_only,
)
from sanderling.storage.collection_meta import CollectionMeta


def test_invalid_database_is_reported_and_can_be_deleted(tmp_path: Path) -> None:
    (tmp_path / "sanderling.db").write_text("no database")
    for open_function in (open_collection, open_collection_read_only):
        with pytest.raises(CollectionError, match="--clean"):
            open_function(tmp_path)
    delete_collection(tmp_path)
    open_collection(tmp_path).close()


@pytest.mark.parametrize("open_function", [open_collection, open_collection_read_only])
def test_damaged_database_page_is_reported_when_read(
    tmp_path: Path, open_function: Callable[[Path], StoredCollection]
) -> None:
    with open_collection(tmp_path) as collection:
        collection.db.execute("CREATE TABLE many (name TEXT)")
        collection.db.executemany("INSERT INTO many VALUES (?)", [(f"name {i}" + "x" * 900,) for i in range(99)])
    whole = (tmp_path / "sanderling.db").read_bytes()
    start = whole.index(b"name 77") // 4096 * 4096  # start of the database page that contains the row
    (tmp_path / "sanderling.db").write_bytes(whole[:start] + b"\xaa" * 4096 + whole[start + 4096 :])
    with pytest.raises(CollectionError, match="is damaged"), open_function(tmp_path) as collection:
        collection.db.execute("SELECT name FROM many").fetchall()


COMMANDS_BY_DAMAGE = {
    "policies SET state": ["explain", "refresh --dry-run", "refresh"],
    "due SET state": ["explain"],
    "pages SET links": ["links"],
    "backlink_buckets SET packed": ["links --back", "explain"],
    "changes SET difference": ["changes", "diff"],
    "noise SET state": ["changes"],
    "blobs SET value": ["explain", "crawl"],
    "meta SET value": ["status", "check url"],
}


@pytest.fixture(scope="module")
def changed_collection(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a collection with a changed page, and the URL of that page."""
    folder = tmp_path_factory.mktemp("seen") / "collection"
    with Site({"/": html("/", "/a", text="The boat leaves at noon.")}) as site:
        for text in ("at noon", "at four"):
            site.pages["/"] = html("/", "/a", text=f"The boat to the islands leaves {text}.")
            assert (
                main(["crawl", site.root + "/", "-C", str(folder), "--delay", "0", "--allow-private", "--quiet"]) == 0
            )
        return folder, site.root + "/"


@pytest.mark.parametrize("column_update", COMMANDS_BY_DAMAGE)
def test_damaged_packed_value_is_reported(
    tmp_path: Path, changed_collection: tuple[Path, str], column_update: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, url = changed_collection
    for command in COMMANDS_BY_DAMAGE[column_update]:
        folder = tmp_path / command
        shutil.copytree(whole, folder)
        with open_collection(folder) as collection:
            column, condition = (
                column_update.rpartition(" ")[2],
                "name IN ('seeds', 'settings')" if "meta" in column_update else "true",
            )
            damage = "'{'" if "meta" in column_update else f"substr({column}, 1, length({column}) - 3)"
            changed = collection.db.execute(
                f"UPDATE {column_update} = {damage} WHERE length({column}) > 3 AND {condition}"
            )
            assert changed.rowcount > 0
        arguments = [
            *command.split(),
            *([] if command in ("refresh", "refresh --dry-run", "status", "changes") else [url]),
        ]
        assert main([*arguments, "-C", str(folder)]) == CollectionError.exit_code
        assert "is damaged" in capsys.readouterr().err


def test_damage_found_while_opening_is_reported(tmp_path: Path) -> None:
    open_collection(tmp_path).close()
    whole = (tmp_path / "sanderling.db").read_bytes()
    (tmp_path / "sanderling.db").write_bytes(whole[:4096] + b"\xaa" * (len(whole) - 4096))
    for open_function in (open_collection, open_collection_read_only):
        with pytest.raises(CollectionError, match="--clean"):
            open_function(tmp_path)


def test_collection_of_a_newer_version_is_rejected(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        collection.db.execute("UPDATE schema_versions SET applied = 99 WHERE component = 'storage'")
    for open_function in (open_collection, open_collection_read_only):
        with pytest.raises(CollectionError, match="newer version"):
            open_function(tmp_path)


def test_collection_of_an_older_version_is_upgraded_before_reading(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        for table in ("near_duplicates", "near_duplicate_progress", "duplicate_counts"):
            collection.db.execute(f"DROP TABLE {table}")
        collection.db.execute("DELETE FROM schema_versions WHERE component = 'dedup'")
    with open_collection_read_only(tmp_path) as collection:
        assert collection.db.execute("SELECT count(*) FROM near_duplicates").fetchone() == (0,)


def test_empty_database_is_an_empty_collection(tmp_path: Path) -> None:
    (tmp_path / "sanderling.db").touch()
    with open_collection_read_only(tmp_path) as collection:
        assert collection.db.execute("SELECT count(*) FROM pages").fetchone() == (0,)


def test_interrupted_deletion_is_completed_by_the_next_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_collection(tmp_path) as collection:
        (collection.archive_folder / "old.warc.gz").touch()
        collection.db.execute("INSERT INTO meta VALUES ('seeds', 'old')")

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sanderling.storage.collection.shutil.rmtree", interrupt)
    with pytest.raises(KeyboardInterrupt):
        delete_collection(tmp_path)
    monkeypatch.undo()
    assert not has_collection(tmp_path)
    with open_collection(tmp_path) as collection:
        assert not list(collection.archive_folder.iterdir())
        assert CollectionMeta(collection.db).seeds == []
    assert "sanderling.db-leaving" not in {path.name for path in tmp_path.iterdir()}


def test_deletion_keeps_other_files(tmp_path: Path) -> None:
    open_collection(tmp_path).close()
    (tmp_path / "notes.txt").write_text("mine")
    delete_collection(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", "lock"}

"""One folder, one writer; other versions and other files are told apart."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.site import Site, html

from sanderling.cli import main
from sanderling.errors import CollectionError
from sanderling.storage.collection import (
    Collection,
    delete_collection,
    get_meta,
    has_collection,
    open_collection,
    open_collection_read_only,
)


def test_a_file_that_is_no_database_gets_a_sentence_and_can_be_cleaned(tmp_path: Path) -> None:
    (tmp_path / "sanderling.db").write_text("no database")
    for use in (open_collection, open_collection_read_only):
        with pytest.raises(CollectionError, match="--clean"):
            use(tmp_path)
    delete_collection(tmp_path)
    open_collection(tmp_path).close()


@pytest.mark.parametrize("use", [open_collection, open_collection_read_only])
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


DAMAGE = {
    "policies SET state": ["explain", "refresh --dry-run", "refresh"],
    "due SET state": ["explain"],
    "pages SET links": ["links"],
    "shelves SET packed": ["links --back", "explain"],
    "changes SET difference": ["changes", "diff"],
    "noise SET state": ["changes"],
    "blobs SET value": ["explain", "crawl"],
    "meta SET value": ["status", "check url"],
}


@pytest.fixture(scope="module")
def seen_twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A collection of which a page changed; and that page."""
    folder = tmp_path_factory.mktemp("seen") / "collection"
    with Site({"/": html("/", "/a", text="The boat leaves at noon.")}) as site:
        for text in ("at noon", "at four"):
            site.pages["/"] = html("/", "/a", text=f"The boat to the islands leaves {text}.")
            assert (
                main(["crawl", site.root + "/", "-C", str(folder), "--delay", "0", "--allow-private", "--quiet"]) == 0
            )
        return folder, site.root + "/"


@pytest.mark.parametrize("where", DAMAGE)
def test_what_a_room_packed_and_cannot_be_read_is_told_in_a_sentence(
    tmp_path: Path, seen_twice: tuple[Path, str], where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, url = seen_twice
    for command in DAMAGE[where]:
        folder = tmp_path / command
        shutil.copytree(whole, folder)
        with open_collection(folder) as collection:
            column, names = where.rpartition(" ")[2], "name IN ('seeds', 'settings')" if "meta" in where else "true"
            damage = "'{'" if "meta" in where else f"substr({column}, 1, length({column}) - 3)"
            changed = collection.db.execute(f"UPDATE {where} = {damage} WHERE length({column}) > 3 AND {names}")
            assert changed.rowcount > 0
        words = [*command.split(), *([] if command in ("refresh", "refresh --dry-run", "status", "changes") else [url])]
        assert main([*words, "-C", str(folder)]) == CollectionError.exit_code
        assert "is damaged" in capsys.readouterr().err


def test_a_database_that_fails_while_it_is_opened_is_told_too(tmp_path: Path) -> None:
    open_collection(tmp_path).close()
    whole = (tmp_path / "sanderling.db").read_bytes()
    (tmp_path / "sanderling.db").write_bytes(whole[:4096] + b"\xaa" * (len(whole) - 4096))
    for use in (open_collection, open_collection_read_only):
        with pytest.raises(CollectionError, match="--clean"):
            use(tmp_path)


def test_what_a_newer_version_wrote_is_not_touched(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        collection.db.execute("UPDATE migrations SET applied = 99 WHERE room = 'store'")
    for use in (open_collection, open_collection_read_only):
        with pytest.raises(CollectionError, match="newer version"):
            use(tmp_path)


def test_what_an_older_version_wrote_is_brought_up_to_date_to_be_read(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        for table in ("near", "near_until", "tally"):
            collection.db.execute(f"DROP TABLE {table}")
        collection.db.execute("DELETE FROM migrations WHERE room = 'dedupe'")
    with open_collection_read_only(tmp_path) as collection:
        assert collection.db.execute("SELECT count(*) FROM near").fetchone() == (0,)


def test_an_empty_database_is_an_empty_collection(tmp_path: Path) -> None:
    (tmp_path / "sanderling.db").touch()
    with open_collection_read_only(tmp_path) as collection:
        assert collection.db.execute("SELECT count(*) FROM pages").fetchone() == (0,)


def test_cleaning_that_was_cut_short_leaves_no_collection_and_is_ended_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_collection(tmp_path) as collection:
        (collection.archive_folder / "old.warc.gz").touch()
        collection.db.execute("INSERT INTO meta VALUES ('seeds', 'old')")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sanderling.storage.collection.shutil.rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        delete_collection(tmp_path)
    monkeypatch.undo()
    assert not has_collection(tmp_path)
    with open_collection(tmp_path) as collection:
        assert not list(collection.archive_folder.iterdir())
        assert get_meta(collection.db, "seeds") == ""
    assert "sanderling.db-leaving" not in {path.name for path in tmp_path.iterdir()}


def test_cleaning_leaves_what_is_not_ours(tmp_path: Path) -> None:
    open_collection(tmp_path).close()
    (tmp_path / "notes.txt").write_text("mine")
    delete_collection(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", "lock"}

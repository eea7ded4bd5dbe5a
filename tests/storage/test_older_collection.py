"""Open a collection that an earlier version wrote: crawled once, refreshed twice, with two changes of a price page."""

import json
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.old_tables import check_new_rows, create_old_tables

from sanderling.cli import main
from sanderling.db.connection import connect_sqlite
from sanderling.storage.collection import open_collection, open_collection_read_only

ARCHIVE = Path(__file__).parents[1] / "data" / "collection-2026-11.tar.xz"
PRICE = "http://127.0.0.1:34481/price"


@pytest.fixture
def older_collection(tmp_path: Path) -> str:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    return str(tmp_path)


def read_json_lines(capsys: pytest.CaptureFixture[str], *command: str) -> list[dict[str, object]]:
    assert main([*command, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_changes_of_an_older_collection_keep_their_kinds_and_blocks(
    older_collection: str, capsys: pytest.CaptureFixture[str]
) -> None:
    latest, first = read_json_lines(capsys, "changes", "-C", older_collection)
    assert [latest["url"], first["url"]] == [PRICE, PRICE]
    assert (latest["kinds"], latest["significance"], latest["counts"]) == (["content"], 0.929, {"changed": 1})
    assert (first["kinds"], first["significance"]) == (["content", "structure"], 0.98)
    assert first["counts"] == {"changed": 1, "added": 1}


def test_pages_of_an_older_collection_are_listed_shown_and_compared(
    older_collection: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(read_json_lines(capsys, "pages", "-C", older_collection)) == 13
    assert main(["show", PRICE, "--text", "-C", older_collection]) == 0
    assert "Price: 99 EUR" in capsys.readouterr().out
    assert main(["diff", PRICE, "-C", older_collection]) == 0
    assert "99" in capsys.readouterr().out


def test_revisit_plans_of_an_older_collection_are_read(
    older_collection: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["refresh", "--dry-run", "--all", "-C", older_collection]) == 0
    assert PRICE in capsys.readouterr().out
    assert main(["explain", PRICE, "-C", older_collection]) == 0


def test_an_older_collection_is_verified_without_damage(older_collection: str) -> None:
    assert main(["verify", "-C", older_collection]) == 0


def test_rows_of_renamed_tables_and_columns_are_kept(tmp_path: Path) -> None:
    with closing(connect_sqlite(tmp_path / "sanderling.db")) as db:
        create_old_tables(db)
    open_collection_read_only(tmp_path).close()
    with open_collection(tmp_path) as collection:
        check_new_rows(collection.db)


def test_folder_of_paused_workers_is_renamed(tmp_path: Path) -> None:
    (tmp_path / "migrants").mkdir()
    (tmp_path / "migrants" / "m1.json").touch()
    open_collection(tmp_path).close()
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("m1.json")] == ["workers/m1.json"]

"""Bodies that another collection stores are not stored again, and are found through it."""

import json
import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.site import Page, Site, html

from sanderling.cli import main
from sanderling.storage.collection import open_collection_read_only
from sanderling.warc.other_archives import OTHER_ARCHIVES_FILE
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import StoredRecord, iterate_records, read_record
from sanderling.web.replay_app import build_replay_app
from sanderling.web.server import ServerAddress, open_app_state

FLAGS = ("--delay", "0", "--allow-private", "--workers", "1", "--quiet", "--no-index")
LONG = " ".join(f"word{n}" for n in range(3000))


@pytest.fixture
def shared(tmp_path: Path) -> tuple[Path, str]:
    """A collection whose second page and picture are in another one."""
    folder = tmp_path / "new"
    pages = {
        "/": html("/same", text="start"),
        "/same": Page(f"<title>same</title><img src=/a.png><p>{LONG}".encode()),
        "/a.png": Page(b"png" * 5000, headers={"Content-Type": "image/png"}),
    }
    with Site(pages) as site:
        assert main(["archive", site.root, "-C", str(tmp_path / "old"), *FLAGS]) == 0
        site.pages["/"] = html("/same", "/copy", text="another start")
        site.pages["/copy"] = site.pages["/same"]
        dedup = ("--dedup-from", str(tmp_path / "old"))
        for _ in range(2):
            assert main(["archive", site.root, "-C", str(folder), *FLAGS, *dedup]) == 0
        return folder, site.root


def load_records(folder: Path) -> list[StoredRecord]:
    items = [item for path in (folder / "archive").glob("*.warc.gz") for item in iterate_records(path)]
    return [item for item in items if isinstance(item, StoredRecord)]


def test_revisits_name_the_other_archive_and_bodies_are_found(shared: tuple[Path, str]) -> None:
    folder, root = shared
    records = load_records(folder)
    responses = {record.url for record in records if record.record_type == "response"}
    assert not responses & {f"{root}/same", f"{root}/copy", f"{root}/a.png"}
    named = [record for record in records if record.get_field("WARC-Refers-To-Archive")]
    assert {record.url for record in named} >= {f"{root}/same", f"{root}/a.png"}
    assert {record.get_field("WARC-Refers-To-Archive") for record in named} == {"old"}
    with open_collection_read_only(folder) as collection:
        rows = collection.db.execute(
            "SELECT f.name, v.start, v.length FROM pages AS p JOIN visits AS v ON v.id = p.visit"
            " JOIN files AS f ON f.id = v.file"
        ).fetchall()
        bodies = [read_record(collection.archive_folder, RecordLocation(*row)).body for row in rows]
    assert len(bodies) == 4
    assert all(bodies)
    assert main(["show", f"{root}/same", "-C", str(folder), "--quiet"]) == 0
    assert main(["verify", "-C", str(folder), "--quiet"]) == 0


def test_replay_shows_them(shared: tuple[Path, str]) -> None:
    folder, root = shared
    app_state = open_app_state(folder, ServerAddress())
    with TestClient(build_replay_app(app_state), base_url="http://localhost") as client:
        for path in ("/same", "/copy"):
            assert "word2999" in client.get(f"/web/2099/{root}{path}").text
        assert client.get(f"/web/2099id_/{root}/a.png").content == b"png" * 5000
    app_state.close()


def test_missing_and_unlisted_archives_are_reported(
    shared: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, root = shared
    shutil.move(folder.parent / "old", folder.parent / "moved")
    capsys.readouterr()
    assert main(["verify", "-C", str(folder), "--json", "--quiet"]) == 1
    assert "is missing" in json.loads(capsys.readouterr().out)["problem"]
    assert main(["show", f"{root}/same", "-C", str(folder), "--quiet"]) != 0
    listed = folder / "archive" / OTHER_ARCHIVES_FILE
    listed.write_text(json.dumps({"old": str(folder.parent / "moved" / "archive")}))
    assert main(["show", f"{root}/same", "-C", str(folder), "--quiet"]) == 0
    assert main(["verify", "-C", str(folder), "--quiet"]) == 0


def test_collections_that_cannot_be_shared_are_rejected(tmp_path: Path) -> None:
    with Site({"/": html(text="start")}) as site:
        assert (
            main(["crawl", site.root, "-C", str(tmp_path / "a"), *FLAGS, "--dedup-from", str(tmp_path / "none")]) == 4
        )
        assert main(["crawl", site.root, "-C", str(tmp_path / "b"), *FLAGS]) == 0
        assert main(["crawl", "-C", str(tmp_path / "b"), *FLAGS, "--dedup-from", str(tmp_path / "b")]) == 4

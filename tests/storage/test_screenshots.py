"""Screenshots of rendered pages: stored once per version, shown by `show` and the web server."""

import json
import struct
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.script_site import build_render_request, needs_browser, script_page, text_page
from tests.support.site import Site

from sanderling.changes.change_store import load_changes
from sanderling.cli import main
from sanderling.crawl.refresh import RefreshMode, refresh
from sanderling.crawl.session import crawl
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import resolve_known_url
from sanderling.storage.screenshots import load_screenshot
from sanderling.warc.warc_reader import StoredRecord, iterate_records
from sanderling.web.app import build_app
from sanderling.web.server import ServerAddress, open_app_state

pytestmark = [needs_browser, pytest.mark.slow]
TALL = "document.body.innerHTML = '<p style=\"height:{}px;background:{}\">a long text of the page in {}</p>'"


def take_size(png: bytes) -> tuple[int, int]:
    width, height = struct.unpack("!II", png[16:24])
    return width, height


def count_screenshots(folder: Path) -> int:
    records = [record for path in folder.glob("archive/*.gz") for record in iterate_records(path)]
    pictures = [r for r in records if isinstance(r, StoredRecord) and r.url.startswith("urn:view:")]
    return sum(record.record_type == "resource" for record in pictures)


def test_screenshot_of_each_version_is_stored_and_shown(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with Site({"/": script_page(TALL.format(300, "red", "red")), "/b": script_page("document.title = 'b'")}) as site:
        crawl(tmp_path, build_render_request(site.root + "/", site.root + "/b", screenshots=True))
        assert count_screenshots(tmp_path) == 2
        site.pages["/"] = script_page(TALL.format(90_000, "blue", "blue"))
        refresh(tmp_path, build_render_request(screenshots=True), RefreshMode.ALL)
        assert count_screenshots(tmp_path) == 3  # none of the unchanged page
        url = site.root + "/"
    capfdbinary.readouterr()
    assert main(["show", url, "--screenshot", "-C", str(tmp_path)]) == 0
    assert take_size(capfdbinary.readouterr().out) == (1280, 8000)
    with open_collection_read_only(tmp_path) as collection:
        id_, _ = resolve_known_url(collection, url)
        (first,) = collection.db.execute("SELECT min(id) FROM visits WHERE url = ?", (id_,)).fetchone()
        picture = load_screenshot(collection.db, collection.archive_folder, id_, first)
    assert picture is not None
    assert take_size(picture.body)[1] < 1200
    state = open_app_state(tmp_path, ServerAddress())
    with TestClient(build_app(state, ["testserver"]), follow_redirects=False) as client:
        shown = client.get("/stored/screenshot", params={"url": url})
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
        assert client.get("/stored/screenshot", params={"url": url + "none"}).status_code == 404
        assert "/stored/screenshot" in client.get("/view", params={"url": url}).text
        assert client.get("/diff", params={"url": url}).text.count("/stored/screenshot") == 2
    state.close()


def test_page_without_screenshot_says_how_to_get_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": script_page("document.title = 'b'")}) as site:
        crawl(tmp_path, build_render_request(site.root + "/"))
        assert main(["show", site.root + "/", "--screenshot", "-C", str(tmp_path)]) == 4
    assert "--screenshots" in capsys.readouterr().err


def test_style_sheet_that_changes_pixels_is_a_visual_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = "document.body.insertAdjacentHTML('beforeend', '<p>a long text of the page that stays the same</p>')"
    page = script_page(script, '<link rel="stylesheet" href="/style.css">')
    with Site({"/": page, "/style.css": text_page("p { background: red }", "text/css")}) as site:
        url = site.root + "/"
        crawl(tmp_path, build_render_request(url, screenshots=True))
        assert refresh(tmp_path, build_render_request(screenshots=True), RefreshMode.ALL).changed == 0
        site.pages["/style.css"] = text_page("p { background: blue }", "text/css")
        assert refresh(tmp_path, build_render_request(screenshots=True), RefreshMode.ALL).changed == 1
        assert refresh(tmp_path, build_render_request(screenshots=True), RefreshMode.ALL).changed == 0
        banner = "document.body.insertAdjacentHTML('afterbegin', '<h1>What is new moves the rest down</h1>');"
        site.pages["/"] = script_page(banner + script, '<link rel="stylesheet" href="/style.css">')
        refresh(tmp_path, build_render_request(screenshots=True), RefreshMode.ALL)
    with open_collection_read_only(tmp_path) as collection:
        (moved, styled) = [stored.change for stored in load_changes(collection.db)]
    assert "visual" not in moved.kinds
    assert styled.kinds == ("visual",)
    assert styled.visual is not None
    assert styled.visual.share > 0.9
    capsys.readouterr()
    assert main(["changes", "--kind", "visual", "--json", "-C", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["visual"]["blocks"] == 1
    state = open_app_state(tmp_path, ServerAddress())
    with TestClient(build_app(state, ["testserver"])) as client:
        visits = [version.visit for version in state.crawl_view.list_visits(url, 10) if version.stored][::-1]
        shown = client.get("/diff", params={"url": url, "old": visits[0], "new": visits[1]}).text
    assert "of the pixels of a block" in shown
    assert shown.count("<rect") == 2
    state.close()

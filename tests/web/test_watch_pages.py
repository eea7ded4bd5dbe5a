import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.site import Site, html
from tests.web.conftest import crawl_site

from sanderling.monitor.watch_store import WatchStore
from sanderling.web.app import build_app
from sanderling.web.server import ServerAddress, open_app_state
from sanderling.web.watch_pages import plot_values

ORIGIN = {"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Site({"/": html(text="shore")}) as site:
        crawl_site(site, tmp_path)
    return tmp_path


def test_owner_adds_pauses_and_removes_a_watch(folder: Path) -> None:
    state = open_app_state(folder, ServerAddress())
    password = state.auth_store.create_initial_password()
    client = TestClient(build_app(state), base_url="http://127.0.0.1", headers=ORIGIN)
    assert client.post("/watches", data={"do": "add", "url": "https://example.org/"}).status_code == 403
    client.post("/login", data={"password": password})
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/watches").text)
    assert found is not None
    form = {"csrf": found[1]}
    bad = client.post("/watches", data=form | {"do": "add", "url": "https://example.org/", "selector": "p["})
    assert "not a valid CSS selector" in bad.text
    page = client.post("/watches", data=form | {"do": "add", "url": "https://example.org/", "every": "30m"})
    assert "https://example.org/" in page.text
    assert "Paused" in client.post("/watches", data=form | {"do": "pause", "watch": "1"}).text
    store = WatchStore(folder)
    assert [(watch.every, watch.paused) for watch in store.load_watches().values()] == [(1800.0, True)]
    store.close()
    assert "No watches yet" in client.post("/watches", data=form | {"do": "remove", "watch": "1"}).text
    state.close()


def test_part_of_a_stored_page_is_picked(tmp_path: Path) -> None:
    with Site({"/": html(text="shore", head="<script>alert(1)</script>")}) as site:
        crawl_site(site, tmp_path)
    state, url = open_app_state(tmp_path, ServerAddress()), f"{site.root}/"
    client = TestClient(build_app(state), base_url="http://127.0.0.1", headers=ORIGIN)
    client.post("/login", data={"password": state.auth_store.create_initial_password()})
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/watches").text)
    assert found is not None
    form = {"csrf": found[1], "url": url}
    assert "Pick a part" in client.post("/watches", data=form | {"do": "pick"}).text
    frame = client.get("/stored", params={"url": url, "pick": "1"})
    assert frame.text.count("<script") == 1
    assert "/static/pick.js" in frame.text
    assert "sandbox allow-scripts" in frame.headers["content-security-policy"]
    client.post("/watches", data=form | {"do": "add", "selector": "p"})
    client.post("/watches", data=form | {"do": "select", "watch": "1", "selector": "h1"})
    assert (
        "not a valid CSS" in client.post("/watches", data=form | {"do": "select", "watch": "1", "selector": "p["}).text
    )
    assert 'value="h1"' in client.get("/watches/part", params={"url": url, "watch": "1"}).text
    assert "not stored yet" in client.get("/watches/part", params={"url": "example.org/other"}).text
    assert "only http and https URLs" in client.get("/watches/part", params={"url": "ftp://x"}).text
    state.close()


def test_plot_holds_each_value_until_the_next() -> None:
    assert plot_values([(0.0, 10.0)]) == ""
    assert plot_values([(0.0, 10.0), (100.0, 5.0)]) == "0.0,2.0 0.0,2.0 240.0,2.0 240.0,38.0"

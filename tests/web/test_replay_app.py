"""Replay of an archived site: Memento, requisites, redirects, and what a browser may not do."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.site import Page, Site, html, redirect

from sanderling.cli import main
from sanderling.warc.packer import HttpExchange, pack_response
from sanderling.web.replay_app import build_replay_app
from sanderling.web.server import ServerAddress, open_app_state

PAGE = b"""<!doctype html><html><head><title>Home</title><base href="/deep/"><link rel=stylesheet href=/s.css
integrity=sha256-x><script src=/x.js></script><meta http-equiv=refresh content="9;url=/two"></head>
<body style="background:url(/bg.png)"><img src=../a.png srcset="/a.png 1x, /b.png 2x"><a href="/two?x=1&y=2#part">2</a>
<iframe src=/two></iframe><a href="mailto:me@a.test">mail</a><a href="#here">here</a></body></html>"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, str]]:
    folder = tmp_path_factory.mktemp("replay") / "collection"
    css = Page(b"@import '/t.css'; b{background:url(bg.png)}", headers={"Content-Type": "text/css"})
    picture = Page(b"png", headers={"Content-Type": "image/png"})
    pages = {
        "/": Page(PAGE), "/two": html("/old", text="first"), "/two?x=1&y=2": html(text="query"), "/s.css": css,
        "/a.png": picture, "/b.png": picture, "/bg.png": Page(b"other", headers={"Content-Type": "image/png"}),
        "/old": redirect("/two", 301), "/caf%C3%A9%20au": html(text="escaped"),
    }  # fmt: skip
    with Site(pages) as site:
        seeds = [site.root + path for path in ("/", "/two", "/old", "/caf%C3%A9%20au")]
        flags = ["-C", str(folder), "--delay", "0", "--allow-private", "--workers", "1", "--quiet", "--no-index"]
        assert main(["archive", *seeds, *flags]) == 0
        time.sleep(1.1)  # addresses of captures have whole seconds
        site.pages["/two"] = html(text="second")
        assert main(["archive", *flags]) == 0
        app_state = open_app_state(folder, ServerAddress())
        with TestClient(build_replay_app(app_state), base_url="http://localhost", follow_redirects=False) as client:
            yield client, site.root
        app_state.close()


def test_time_gate_redirects_to_the_nearest_capture(archive: tuple[TestClient, str]) -> None:
    client, root = archive
    latest = client.get(f"/web/{root}/two")
    first = client.get(f"/web/{root}/two", headers={"Accept-Datetime": "Thu, 01 Jan 2015 00:00:00 GMT"})
    assert (latest.status_code, latest.headers["vary"]) == (302, "accept-datetime")
    assert first.headers["location"] < latest.headers["location"]
    assert 'rel="original"' in first.headers["link"]
    assert "second" in client.get(latest.headers["location"]).text
    replayed = client.get(first.headers["location"])
    assert "first" in replayed.text
    assert replayed.headers["memento-datetime"].endswith("GMT")
    assert 'rel="next last memento"' in replayed.headers["link"]
    assert client.get(f"/web/{root}/two", headers={"Accept-Datetime": "yesterday"}).status_code == 400
    assert client.get("/web/http://unknown.test/").status_code == 404


def test_time_map_lists_all_captures(archive: tuple[TestClient, str]) -> None:
    client, root = archive
    lines = client.get(f"/web/timemap/link/{root}/two").text.strip().split(",\n")
    assert lines[0] == f'<{root}/two>; rel="original"'
    assert [line.split("rel=")[1].split(";")[0] for line in lines[3:]] == ['"first memento"', '"last memento"']
    assert client.get("/web/timemap/link/http://unknown.test/").status_code == 404


def test_all_references_lead_into_the_archive(archive: tuple[TestClient, str]) -> None:
    client, root = archive
    page = client.get(client.get(f"/web/{root}/").headers["location"]).text
    for reference in (f"cs_/{root}/s.css", f"im_/{root}/a.png", f"im_/{root}/b.png", f"fr_/{root}/two", "mailto:"):
        assert reference in page or reference == "mailto:"
    assert f"/{root}/two?x=1&amp;y=2#part" in page
    assert f"im_/{root}/bg.png" in page
    assert "9;url=/web/2" in page
    assert 'href="#here"' in page
    for gone in ("integrity", "<base", 'href="/', "mailto"):
        assert gone not in page.replace('href="/web/', "")
    style = client.get(f"/web/2099cs_/{root}/s.css")
    assert f'im_/{root}/t.css"' in style.text
    assert f'im_/{root}/bg.png"' in style.text
    assert style.headers["content-type"] == "text/css; charset=utf-8"


def test_raw_bodies_and_escaped_addresses_are_as_stored(archive: tuple[TestClient, str]) -> None:
    client, root = archive
    assert client.get(f"/web/2099id_/{root}/").content == PAGE
    assert "query" in client.get(f"/web/2099/{root}/two?x=1&y=2").text
    assert "escaped" in client.get(f"/web/2099/{root}/caf%C3%A9%20au").text
    assert client.get(f"/web/2099im_/{root}/a.png").content == b"png"
    moved = client.get(f"/web/2099/{root}/old")
    assert (moved.status_code, moved.headers["location"].endswith(f"/{root}/two")) == (301, True)


def test_all_captures_are_listed_by_year_and_marked_on_a_line(archive: tuple[TestClient, str]) -> None:
    client, root = archive
    page = client.get(f"/web/*/{root}/two")
    assert page.status_code == 200
    assert page.text.count('<tr class="new">') == 2
    assert "2 captures" in page.text
    addresses = [part.partition('"')[0] for part in page.text.split('<td><a href="')[1:]]
    assert ["first" in client.get(address).text for address in addresses] == [True, False]
    missing = client.get("/web/*/http://unknown.test/")
    assert missing.status_code == 404
    assert '<a href="http://unknown.test/"' in client.get("/web/2026/http://unknown.test/").text
    banner = client.get(f"/web/2099/{root}/two").text.partition('id="archive-banner"')[2]
    assert f"/web/*/{root}/two" in banner
    assert banner.count("aria-label=") == 2


def test_captures_of_one_second_have_addresses_of_their_own(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    members = [
        pack_response(HttpExchange("http://a.test/", 1.6e9 + n / 10, head, b"<p>body %d" % n)).member for n in range(3)
    ]
    (tmp_path / "x.warc.gz").write_bytes(b"".join(members))
    folder = tmp_path / "c"
    assert main(["import", str(tmp_path / "x.warc.gz"), "-C", str(folder), "--quiet", "--no-index"]) == 0
    app_state = open_app_state(folder, ServerAddress())
    with TestClient(build_replay_app(app_state), base_url="http://localhost") as client:
        lines = client.get("/web/timemap/link/http://a.test/").text.split(",\n")[3:]
        addresses = [line[1:].partition(">")[0] for line in lines]
        assert [client.get(address).text.partition("body ")[2][0] for address in addresses] == ["0", "1", "2"]
        assert "capture 3 of 3" in client.get(addresses[2]).text
        assert 'rel="prev first memento"' in client.get(addresses[1]).headers["link"]
        assert client.get("/web/2020091312264099/http://a.test/").status_code == 200
    app_state.close()


def test_banner_is_shown_on_pages_but_not_in_frames(archive: tuple[TestClient, str]) -> None:
    client, root = archive
    assert "capture 2 of 2" in client.get(f"/web/2099/{root}/two").text
    assert "archive-banner" not in client.get(f"/web/2099fr_/{root}/two").text


def test_scripts_do_not_run_and_nothing_else_is_loaded(archive: tuple[TestClient, str]) -> None:
    client, root = archive
    for modifier in ("", "fr_", "id_", "im_"):
        headers = client.get(f"/web/2099{modifier}/{root}/").headers
        policy = headers["content-security-policy"]
        assert "script-src 'none'" in policy
        assert policy.startswith("sandbox allow-same-origin; default-src 'none'")
        assert "allow-scripts" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    assert client.get("/", headers={"Host": "evil.test"}).status_code == 421


def test_public_server_requires_a_login(archive: tuple[TestClient, str]) -> None:
    client, root = archive
    app_state = client.app.app.state.app_state  # type: ignore[attr-defined]
    app_state.is_public = True
    try:
        for path in ("/", f"/cdx?url={root}/", f"/web/{root}/", f"/web/2099id_/{root}/", f"/web/timemap/link/{root}/"):
            assert client.get(path).status_code == 403
    finally:
        app_state.is_public = False


def test_cdx_answers_in_the_formats_of_pywb(archive: tuple[TestClient, str]) -> None:
    client, root = archive
    rows = client.get("/cdx", params={"url": f"{root}/two", "output": "json"}).text.splitlines()
    assert len(rows) == 2
    assert rows[0].startswith('{"urlkey": "')
    lines = client.get("/cdx", params={"url": f"{root}/*", "output": "text", "fl": "url,status"}).text.splitlines()
    assert f"{root}/old 301" in lines
    assert client.get("/cdx").status_code == 400
    assert client.get("/cdx", params={"url": root, "filter": "nonsense"}).status_code == 400


def test_page_view_links_to_the_replay(archive: tuple[TestClient, str], tmp_path: Path) -> None:
    from sanderling.web.app import build_app

    client, root = archive
    app_state = client.app.app.state.app_state  # type: ignore[attr-defined]
    app_state.replay_port = 9420
    try:
        with TestClient(build_app(app_state), base_url="http://localhost") as dashboard:
            assert "http://localhost:9420/web/2" in dashboard.get("/view", params={"url": f"{root}/two"}).text
    finally:
        app_state.replay_port = 0

"""Page requisites: fetched if enabled, and reported when replaced."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.site import Page, Site, html, redirect

from sanderling.changes.change_store import StoredChange, load_changes
from sanderling.changes.classify import ChangeKind
from sanderling.config.settings import HttpSettings, LimitSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.refresh import RefreshMode, refresh
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.session import crawl
from sanderling.crawl.stages.requisites import MAX_NESTING
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages, load_urls


def build_png(shade: Callable[[int, int], int], side: int = 32) -> bytes:
    """Build a grayscale PNG."""
    rows = b"".join(b"\0" + bytes(shade(x, y) % 256 for x in range(side)) for y in range(side))

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def file(body: bytes, mime: str) -> Page:
    return Page(body, headers={"Content-Type": mime})


def page(*uses: str) -> Page:
    tags = {"png": '<img src="{}">', "js": '<script src="{}"></script>', "css": '<link rel=stylesheet href="{}">'}
    body = "".join(tags[use.rsplit(".", 1)[1]].format(use) for use in uses)
    return Page(f"<html><body><p>A page of some words that never change.</p>{body}</body></html>".encode())


def request(site: Site, *, requisites: bool = True) -> CrawlRequest:
    return CrawlRequest(
        (site.root + "/",),
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0.0),
        fetching=HttpSettings(allow_private=True, requisites=requisites),
        workers=WorkerSettings(workers=1),
    )


def load_page_changes(folder: Path) -> dict[str, StoredChange]:
    with open_collection_read_only(folder) as collection:
        found = list(load_changes(collection.db))
        names = load_urls(collection.db, [change.url_id for change in found])
        return {"/" + names[change.url_id].split("/", 3)[3]: change for change in found}


@pytest.fixture
def site() -> Site:
    up, left = build_png(lambda x, _y: 8 * x), build_png(lambda x, _y: 255 - 8 * x)
    site = Site({"/": html("/a", "/b"), "/a": page("/a.png"), "/b": page("/b.js", "/b.css")})
    site.pages["/a.png"], site.pages["/other.png"] = file(up, "image/png"), file(left, "image/png")
    site.pages["/b.js"] = file(b"run(1)", "text/javascript")
    site.pages["/b.css"] = file(b"p {color: red}", "text/css")
    return site


def test_requisites_are_not_fetched_by_default(site: Site, tmp_path: Path) -> None:
    with site:
        crawl(tmp_path, request(site, requisites=False))
        assert not {"/a.png", "/b.js", "/b.css"} & set(site.hits)


def test_replaced_image_is_change_of_its_page(site: Site, tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    with site:
        crawl(tmp_path, request(site))
        site.pages["/a.png"] = site.pages["/other.png"]
        refresh(tmp_path, request(site))
    found = load_page_changes(tmp_path)
    assert set(found) == {"/a"}
    change = found["/a"].change
    assert change.kinds == (ChangeKind.MEDIA,)
    assert change.resources[0].amount == 0.5, "all horizontal gradients changed, no vertical ones"


def test_replaced_script_is_behavior_and_style_sheet_is_presentation(site: Site, tmp_path: Path) -> None:
    with site:
        crawl(tmp_path, request(site))
        site.pages["/b.js"] = file(b"run(2)", "text/javascript")
        refresh(tmp_path, request(site), RefreshMode.ALL)
        assert load_page_changes(tmp_path)["/b"].change.kinds == (ChangeKind.BEHAVIOR,)
        site.pages["/b.css"] = file(b"p {color: blue}", "text/css")
        crawl(tmp_path, request(site))
    with open_collection_read_only(tmp_path) as collection:
        kinds = {change.change.kinds for change in load_changes(collection.db)}
    assert kinds == {(ChangeKind.BEHAVIOR,), (ChangeKind.PRESENTATION,)}


def test_requisite_of_many_pages_is_reported_once(tmp_path: Path) -> None:
    names = [f"/p{number}" for number in range(30)]
    with Site({"/": html(*names), **{name: page("/all.js") for name in names}}) as site:
        site.pages["/all.js"] = file(b"run(1)", "text/javascript")
        crawl(tmp_path, request(site))
        site.pages["/all.js"] = file(b"run(2)", "text/javascript")
        refresh(tmp_path, request(site))
    assert set(load_page_changes(tmp_path)) == {"/all.js"}


def test_requisites_are_not_counted_as_pages(site: Site, tmp_path: Path) -> None:
    with site:
        summary = crawl(tmp_path, request(site))
        assert summary.pages == 3
        with open_collection_read_only(tmp_path) as collection:
            assert len(list(load_pages(collection.db))) == 3


def test_nested_requisites_of_other_hosts_are_fetched_once(tmp_path: Path) -> None:
    css, html_type = "text/css", "text/html"
    with (
        Site({}, host="127.0.0.2") as other,
        Site({"/": html("/a"), "/a": html("/")}) as site,
    ):
        link = f'<link rel=stylesheet href="{other.root}/one.css"><iframe src="{other.root}/frame"></iframe>'
        for path in ("/", "/a"):
            site.pages[path] = Page(f'<html><head>{link}</head><body><a href="/a">a</a>'.encode())
        other.pages |= {
            "/one.css": file(b"@import 'two.css'; a{b:url(one.png)}", css),
            "/two.css": file(b"@font-face{src:url(f.woff2)} @import 'one.css';", css),
            "/one.png": file(b"png", "image/png"),
            "/f.woff2": file(b"font", "font/woff2"),
            "/frame": file(b'<img src="moved.png"><a href="/page">not followed</a>', html_type),
            "/moved.png": redirect("/real.png"),
            "/real.png": file(b"real", "image/png"),
            "/tool.zip": file(b"zip", "application/zip"),
        }
        crawl(tmp_path, request(site))
        expected = {"/one.css", "/two.css", "/one.png", "/f.woff2", "/frame", "/moved.png", "/real.png", "/robots.txt"}
        assert set(other.hits) == expected
        assert set(other.hits.values()) == {1}
        assert "/favicon.ico" in site.hits


def test_requisite_that_was_skipped_as_page_is_fetched(tmp_path: Path) -> None:
    with Site({"/i.png": file(b"png", "image/png")}, host="127.0.0.2") as other, Site({"/": html("/a")}) as site:
        site.pages["/"] = html("/a", f"{other.root}/i.png")
        site.pages["/a"] = page(f"{other.root}/i.png")
        crawl(tmp_path, request(site))
        assert other.hits["/i.png"] == 1


def test_types_that_no_page_shows_are_not_stored(tmp_path: Path) -> None:
    with Site({"/": Page(b'<iframe src="/tool"></iframe>'), "/tool": file(b"zip", "application/zip")}) as site:
        crawl(tmp_path, replace(request(site), scope=ScopeSettings(scope="page", sitemaps=False)))
    with open_collection_read_only(tmp_path) as collection:
        row = collection.db.execute("SELECT state, reason FROM urls WHERE path = '/tool'").fetchone()
        assert row == ("skipped", "media_type")


def test_page_limit_does_not_stop_requisites(site: Site, tmp_path: Path) -> None:
    with site:
        site.pages["/"] = html("/a", "/b", head='<link rel=stylesheet href="/b.css">')
        summary = crawl(tmp_path, replace(request(site), limits=LimitSettings(limit=1)))
        assert summary.finish_reason == "limit"
        assert site.hits["/b.css"] == 1
        assert not site.hits["/a"]


def test_later_pass_with_requisites_fetches_those_of_unchanged_pages(site: Site, tmp_path: Path) -> None:
    with site:
        crawl(tmp_path, request(site, requisites=False))
        crawl(tmp_path, request(site))
        assert {"/a.png", "/b.js", "/b.css"} <= set(site.hits)
        site.requests.clear()
        crawl(tmp_path, request(site))
        assert all("if-none-match" in headers for path, headers in site.requests if path in ("/", "/a", "/a.png"))


def test_endless_style_sheets_are_bounded(tmp_path: Path) -> None:
    sheets = {f"/{n}.css": file(f"@import '{n + 1}.css';".encode(), "text/css") for n in range(30)}
    with Site({"/": page("/0.css"), **sheets}) as site:
        crawl(tmp_path, request(site))
        assert sum(path.endswith(".css") for path in site.hits) == MAX_NESTING

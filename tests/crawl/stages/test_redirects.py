"""Cookies: a site sees a single client, and pages behind redirect loops are stored."""

from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from tests.support.site import Page, Site, html, redirect, tree

from sanderling.cli import main
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages, load_skipped_urls


def test_cookie_is_sent_with_every_later_request(tmp_path: Path) -> None:
    pages = tree(60)
    pages["/"].headers["Set-Cookie"] = "visitor=one"
    with Site(pages) as site:
        request = CrawlRequest(
            (site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
            fetching=HttpSettings(allow_private=True, cookies=True), workers=WorkerSettings(workers=3),
        )  # fmt: skip
        assert crawl(tmp_path, request).pages == 60
        sent = [headers.get("cookie") for path, headers in site.requests if path not in ("/", "/robots.txt")]
        assert sent == ["visitor=one"] * 59


class GatedSite(Site):
    """Sets a cookie at the page or at `/gate`, and shows pages only with the cookie."""

    def __init__(self, pages: dict[str, Page], at_gate: bool = False, opens: bool = True) -> None:
        super().__init__(pages)
        self.protected, self.at_gate, self.opens = pages, at_gate, opens

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path, cookie = handler.path, {"Set-Cookie": "visitor=one; Path=/"}
        if path.startswith("/gate"):
            self.pages[path] = Page(
                b"", 302, {"Location": path.removeprefix("/gate")} | (cookie if self.at_gate else {})
            )
        elif path in self.protected:
            has_cookie = self.opens and handler.headers.get("Cookie") == "visitor=one"
            to_gate = Page(b"", 302, {"Location": "/gate" + path} | ({} if self.at_gate else cookie))
            self.pages[path] = self.protected[path] if has_cookie else to_gate
        super().answer(handler)


def build_request(site: Site, cookies: bool = True) -> CrawlRequest:
    return CrawlRequest(
        (site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True, cookies=cookies), workers=WorkerSettings(workers=2),
    )  # fmt: skip


@pytest.mark.parametrize("at_gate", [False, True])
def test_cookie_set_in_redirect_loop_opens_page(tmp_path: Path, at_gate: bool) -> None:
    pages = {"/": html("/a", "/b"), "/a": html(), "/b": html()}
    with GatedSite(pages, at_gate) as site:
        for _ in range(3):  # every run starts without cookies
            summary = crawl(tmp_path, build_request(site))
            assert (summary.finish_reason, summary.pages, summary.failed) == ("done", 3, 0)
    with open_collection_read_only(tmp_path) as collection:
        assert {row.url for row in load_pages(collection.db) if row.status == 200} == {
            site.root + path for path in pages
        }
        assert not collection.db.execute("SELECT 1 FROM changes").fetchone()


@pytest.mark.parametrize(("cookies", "asked"), [(False, 1), (True, 4)])
def test_redirect_loop_fails_after_retries(tmp_path: Path, cookies: bool, asked: int) -> None:
    with GatedSite({"/": html()}, opens=False) as site:
        summary = crawl(tmp_path, build_request(site, cookies))
        assert (summary.finish_reason, summary.pages, summary.failed) == ("done", 0, 1)
        assert max(site.hits["/"], site.hits["/gate/"]) == asked
    with open_collection_read_only(tmp_path) as collection:
        assert [row.reason for row in load_skipped_urls(collection.db)] == ["too_many_redirects"]


def test_redirect_loop_error_suggests_cookies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with GatedSite({"/": html()}) as site:
        line = ["crawl", site.root + "/", "-C", str(tmp_path), "--delay", "0", "--allow-private", "--workers", "1"]
        assert main(line) == 9
        assert "--cookies" in capsys.readouterr().err
        assert main([*line, "--cookies"]) == 0


def test_reversed_redirect_is_followed(tmp_path: Path) -> None:
    with Site({"/": html("/old", "/new"), "/old": redirect("/new"), "/new": html(text="here")}) as site:
        crawl(tmp_path, build_request(site, cookies=False))
        site.pages |= {"/old": html(text="here"), "/new": redirect("/old")}
        summary = crawl(tmp_path, build_request(site, cookies=False))
        assert (summary.finish_reason, summary.failed) == ("done", 0)
    with open_collection_read_only(tmp_path) as collection:
        assert {row.url: row.status for row in load_pages(collection.db)}[site.root + "/old"] == 200

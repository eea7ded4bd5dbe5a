"""With cookies, a site sees one visitor, however many migrants there are."""

from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from tests.support.site import Page, Site, html, redirect, tree

from sanderling.cli import main
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages, load_skipped_urls


def test_a_host_gives_its_cookie_once_and_gets_it_with_every_later_request(tmp_path: Path) -> None:
    found = tree(60)
    found["/"].headers["Set-Cookie"] = "visitor=one"
    with Site(found) as site:
        request = CrawlRequest(
            (site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
            fetching=HttpSettings(allow_private=True, cookies=True), workers=WorkerSettings(workers=3),
        )  # fmt: skip
        assert crawl(tmp_path, request).pages == 60
        sent = [headers.get("cookie") for path, headers in site.requests if path not in ("/", "/robots.txt")]
        assert sent == ["visitor=one"] * 59


class Gated(Site):
    """Gives its cookie at the page or at the gate, and shows pages to those who come back from the gate with it."""

    def __init__(self, found: dict[str, Page], at_gate: bool = False, opens: bool = True) -> None:
        super().__init__(found)
        self.behind, self.at_gate, self.opens = found, at_gate, opens

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path, cookie = handler.path, {"Set-Cookie": "visitor=one; Path=/"}
        if path.startswith("/gate"):
            self.pages[path] = Page(
                b"", 302, {"Location": path.removeprefix("/gate")} | (cookie if self.at_gate else {})
            )
        elif path in self.behind:
            known = self.opens and handler.headers.get("Cookie") == "visitor=one"
            away = Page(b"", 302, {"Location": "/gate" + path} | ({} if self.at_gate else cookie))
            self.pages[path] = self.behind[path] if known else away
        super().answer(handler)


def request_for(site: Site, cookies: bool = True) -> CrawlRequest:
    return CrawlRequest(
        (site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True, cookies=cookies), workers=WorkerSettings(workers=2),
    )  # fmt: skip


@pytest.mark.parametrize("at_gate", [False, True])
def test_a_cookie_of_a_round_over_two_urls_opens_the_page(tmp_path: Path, at_gate: bool) -> None:
    found = {"/": html("/a", "/b"), "/a": html(), "/b": html()}
    with Gated(found, at_gate) as site:
        for _ in range(3):  # every run begins without a cookie
            summary = crawl(tmp_path, request_for(site))
            assert (summary.finish_reason, summary.pages, summary.failed) == ("done", 3, 0)
    with open_collection_read_only(tmp_path) as collection:
        assert {row.url for row in load_pages(collection.db) if row.status == 200} == {
            site.root + path for path in found
        }
        assert not collection.db.execute("SELECT 1 FROM changes").fetchone()


@pytest.mark.parametrize(("cookies", "asked"), [(False, 1), (True, 4)])
def test_a_round_that_no_cookie_opens_has_a_name_and_an_end(tmp_path: Path, cookies: bool, asked: int) -> None:
    with Gated({"/": html()}, opens=False) as site:
        summary = crawl(tmp_path, request_for(site, cookies))
        assert (summary.finish_reason, summary.pages, summary.failed) == ("done", 0, 1)
        assert max(site.hits["/"], site.hits["/gate/"]) == asked
    with open_collection_read_only(tmp_path) as collection:
        assert [row.reason for row in load_skipped_urls(collection.db)] == ["too_many_redirects"]


def test_who_is_sent_round_is_told_what_helps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Gated({"/": html()}) as site:
        line = ["crawl", site.root + "/", "-C", str(tmp_path), "--delay", "0", "--allow-private", "--workers", "1"]
        assert main(line) == 9
        assert "--cookies" in capsys.readouterr().err
        assert main([*line, "--cookies"]) == 0


def test_redirects_that_were_turned_round_are_followed(tmp_path: Path) -> None:
    with Site({"/": html("/old", "/new"), "/old": redirect("/new"), "/new": html(text="here")}) as site:
        crawl(tmp_path, request_for(site, cookies=False))
        site.pages |= {"/old": html(text="here"), "/new": redirect("/old")}
        summary = crawl(tmp_path, request_for(site, cookies=False))
        assert (summary.finish_reason, summary.failed) == ("done", 0)
    with open_collection_read_only(tmp_path) as collection:
        assert {row.url: row.status for row in load_pages(collection.db)}[site.root + "/old"] == 200

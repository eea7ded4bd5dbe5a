"""Soft 404s and notices with status 200."""

import json
from pathlib import Path

import pytest
from tests.support.revisiting import WORDS, go, request, texts
from tests.support.site import Page, Site, html, redirect

from sanderling.cli import main
from sanderling.crawl.refresh import RefreshMode
from sanderling.crawl.session import crawl
from sanderling.revisit.missing_pages import NOTICE_NOTE
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages

STORIES = ("gulls over harbour walls", "tinned mackerel and its prices", "a lighthouse keeper, long retired",
           "old maps of sandbanks", "the price of rope in Bergen", "knots that sailors forget")  # fmt: skip
NOTICE = "Valitettavasti hakemaasi sivua ei ole en\u00e4\u00e4 olemassa. Palaa etusivulle ja yrit\u00e4 uudelleen."


def build_site() -> dict[str, Page]:
    """Build a site of dissimilar pages."""
    front = html(*(f"/p{n}" for n in range(len(STORIES))), text=WORDS)
    return {"/": front} | {f"/p{n}": html(text=f"{story}. " * (n + 3)) for n, story in enumerate(STORIES)}


def load_present(folder: Path, site: Site) -> set[str]:
    with open_collection_read_only(folder) as collection:
        return {row.url.removeprefix(site.root) for row in load_pages(collection.db, "p.status = 200")}


def test_pages_that_turned_into_same_notice_are_gone(tmp_path: Path) -> None:
    with Site(build_site()) as site:
        crawl(tmp_path, request(site))
        for n in range(4):
            site.pages[f"/p{n}"] = html(text=NOTICE)
        rounds = [go(site, tmp_path, RefreshMode.ALL).gone for _ in range(3)]
        assert sum(rounds) == 4
        assert rounds[0] == 0
        assert load_present(tmp_path, site) == {"/", "/p4", "/p5"}


def test_pages_that_redirect_to_front_page_are_gone(tmp_path: Path) -> None:
    with Site(build_site()) as site:
        crawl(tmp_path, request(site))
        for n in range(5):
            site.pages[f"/p{n}"] = redirect("/", 302)
        for _ in range(3):
            go(site, tmp_path, RefreshMode.ALL)
        assert load_present(tmp_path, site) == {"/", "/p5"}
        with open_collection_read_only(tmp_path) as collection:
            notes = collection.db.execute("SELECT note FROM urls WHERE state = 'gone'").fetchall()
        assert notes == [(NOTICE_NOTE,)] * 5


def test_page_that_was_always_a_notice_is_stored_and_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def listed() -> list[str]:
        assert main(["pages", "--notices", "--json", "-C", str(tmp_path)]) == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert all(row["notice"] for row in rows)
        return [row["url"] for row in rows]

    with Site(build_site()) as site:
        original, site.pages["/p1"] = site.pages["/p1"], html(text="<h1>We are down for maintenance</h1>")
        crawl(tmp_path, request(site))
        assert listed() == [f"{site.root}/p1"]
        site.pages["/p1"] = original
        assert go(site, tmp_path, RefreshMode.ALL).changed == 1
        assert listed() == []


def test_two_pages_that_became_equal_are_duplicates(tmp_path: Path) -> None:
    with Site(build_site()) as site:
        crawl(tmp_path, request(site))
        site.pages["/p1"] = site.pages["/p2"] = html(text=NOTICE)
        assert [go(site, tmp_path, RefreshMode.ALL).gone for _ in range(3)] == [0, 0, 0]


def test_copies_that_change_together_are_kept(tmp_path: Path) -> None:
    with Site(texts(6)) as site:
        for n in range(6):
            site.pages[f"/p{n}"] = html(text=STORIES[0] * 5)
        crawl(tmp_path, request(site))
        for n in range(6):
            site.pages[f"/p{n}"] = html(text=STORIES[1] * 5)
        assert [go(site, tmp_path, RefreshMode.ALL).gone for _ in range(3)] == [0, 0, 0]


def test_temporarily_closed_site_keeps_pages(tmp_path: Path) -> None:
    with Site(build_site()) as site:
        crawl(tmp_path, request(site))
        open_again = dict(site.pages)
        for path in open_again:
            site.pages[path] = html(text=NOTICE)
        closed = [go(site, tmp_path, RefreshMode.ALL).gone for _ in range(2)]
        site.pages.update(open_again)
        go(site, tmp_path, RefreshMode.ALL)
        assert closed == [0, 0]
        assert load_present(tmp_path, site) == set(open_again)


def test_page_that_returns_after_notice_is_kept(tmp_path: Path) -> None:
    with Site(build_site()) as site:
        crawl(tmp_path, request(site))
        before = dict(site.pages)
        for n in range(5):
            site.pages[f"/p{n}"] = html(text=NOTICE)
        go(site, tmp_path, RefreshMode.ALL)
        site.pages.update(before)
        assert [go(site, tmp_path, RefreshMode.ALL).gone for _ in range(2)] == [0, 0]
        assert load_present(tmp_path, site) == set(before)


@pytest.mark.parametrize("status", [200, 203])
def test_soft_404_is_gone_after_two_visits(tmp_path: Path, status: int) -> None:
    with Site(texts(3)) as site:
        site.pages["/p2"] = Page(b"<title>404 Not Found</title><p>Sorry, this page was not found.<a href=/ghost>x</a>")
        crawl(tmp_path, request(site))
        site.pages["/p1"] = Page(b"<title>Page not found</title><p>The page you asked for does not exist.", status)
        rounds = [go(site, tmp_path, RefreshMode.ALL).gone for _ in range(2)]
        assert rounds == [0, 1]
        assert site.hits["/ghost"] == 0
        with open_collection_read_only(tmp_path) as collection:
            load_present = {row.url for row in load_pages(collection.db, "p.status < 300")}
            notes = collection.db.execute("SELECT note FROM urls WHERE state = 'gone'").fetchall()
        assert load_present == {site.root + "/", site.root + "/p0"}
        assert notes == [("soft 404: not found, with status 200",)] * 2

"""TVI files: fetched instead of the page and patched into its copy."""

from pathlib import Path

import pytest
from tests.support.revisiting import WORDS, go, request, texts
from tests.support.site import Page, Site, html

from sanderling.cli import main
from sanderling.crawl.refresh import RefreshMode
from sanderling.crawl.session import crawl


def build_page(price: str, rest: str = WORDS) -> Page:
    return Page(
        f"<html><head><title>Shares</title><link rel=tvi href=/shares.tvi></head><body><p>{rest}</p>"
        f"<p>A share costs <!--Vol#price-->{price}<!--/Vol#price--> today.</p><a href=/p0>back</a></body>".encode()
    )


def test_tvi_file_is_fetched_and_patched_into_copy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(texts(1) | {"/p0": html("/shares"), "/shares": build_page("12.50")}) as site:
        site.pages["/shares.tvi"] = Page(b'{"price": "12.50"}')
        crawl(tmp_path, request(site))
        assert site.hits["/shares.tvi"] == 0
        site.pages["/shares"], site.pages["/shares.tvi"] = build_page("99.75"), Page(b'{"price": "99.75"}')
        seen = go(site, tmp_path, RefreshMode.ONCE, days=30)
        assert (site.hits["/shares"], site.hits["/shares.tvi"]) == (1, 1)
        assert (seen.changed, seen.visited) == (1, 3)
        main(["show", site.root + "/shares", "-C", str(tmp_path)])
        assert capsys.readouterr().out.encode().strip() == site.pages["/shares"].body
        assert main(["links", site.root + "/shares", "-C", str(tmp_path), "--json"]) == 0
        assert "/p0" in capsys.readouterr().out
        assert go(site, tmp_path, RefreshMode.ONCE, days=60).changed == 0
        for days in range(90, 200, 30):
            go(site, tmp_path, RefreshMode.ONCE, days=days)
        assert site.hits["/shares"] >= 2


def test_tvi_file_with_unknown_part_makes_page_due(tmp_path: Path) -> None:
    with Site(texts(1) | {"/p0": html("/shares"), "/shares": build_page("12.50")}) as site:
        site.pages["/shares.tvi"] = Page(b'{"price": "12.50"}')
        crawl(tmp_path, request(site))
        site.pages["/shares"] = build_page("13.00", WORDS + " And a quite different story is shown next to it now.")
        site.pages["/shares.tvi"] = Page(b'{"volume": "3"}')
        assert go(site, tmp_path, RefreshMode.ONCE, days=30).changed == 1
        assert site.hits["/shares"] == 2


def test_tvi_file_of_two_pages_is_fetched_once(tmp_path: Path) -> None:
    pages = {"/p0": html("/one", "/two"), "/one": build_page("12.50"), "/two": build_page("12.50", WORDS + " Twice.")}
    with Site(texts(1) | pages) as site:
        site.pages["/shares.tvi"] = Page(b'{"price": "12.50"}')
        crawl(tmp_path, request(site))
        site.pages["/shares.tvi"] = Page(b'{"price": "99.75"}')
        assert go(site, tmp_path, RefreshMode.ONCE, days=30).changed == 2
        assert [site.hits[path] for path in ("/one", "/two", "/shares.tvi")] == [1, 1, 1]

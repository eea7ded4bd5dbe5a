"""Refreshes over simulated days: what users notice of the revisit schedule."""

import time
from pathlib import Path

import msgspec
import pytest
from tests.support.revisiting import DAY, WORDS, request, texts
from tests.support.site import Site, html

from sanderling.cli import main
from sanderling.config.settings import RevisitSettings
from sanderling.crawl.refresh import RefreshMode, RefreshSummary, refresh
from sanderling.crawl.session import crawl


def refresh_on_day(site: Site, folder: Path, day: float, revisit: RevisitSettings | None = None) -> RefreshSummary:
    return refresh(folder, request(site, revisit), RefreshMode.ONCE, clock=lambda: time.time() + day * DAY)


def test_daily_refresh_finds_a_price_that_changes_daily(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        found = 0
        for day in range(1, 11):
            site.pages["/p1"] = html("/", text=f"{WORDS} This is page 1. Price: ${100 + 7 * day}.00")
            found += refresh_on_day(site, tmp_path, day).changed
    assert found == 10


def test_every_is_stored_for_later_refreshes(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        hourly = RevisitSettings(every=("1h /p1$", "30d"))
        assert refresh_on_day(site, tmp_path, 1 / 48, hourly).due == 0
        assert [refresh_on_day(site, tmp_path, day / 12).due for day in (1, 2, 3)] == [1, 1, 1]
        assert refresh_on_day(site, tmp_path, 1, RevisitSettings(every=("auto",))).due == 3  # not p1


def test_gone_page_that_is_linked_again_has_returned(tmp_path: Path) -> None:
    pages = texts(2)
    with Site(pages) as site:
        crawl(tmp_path, request(site))
        lost = site.pages.pop("/p1")
        site.pages["/"] = html("/p0", text=f"{WORDS} One page less.")
        for day in (1, 3, 6):
            refresh_on_day(site, tmp_path, day)
        site.pages["/p1"] = lost
        assert refresh_on_day(site, tmp_path, 9).returned == 0
        site.pages["/"] = html("/p0", "/p1", text=f"{WORDS} The page is here again, and linked.")
        assert refresh_on_day(site, tmp_path, 12).returned == 1


def test_explain_says_the_next_check_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(texts(1)) as site:
        crawl(tmp_path, request(site))
        url = f"{site.root}/p0"
    main(["explain", url, "-C", str(tmp_path), "--json"])
    found = msgspec.json.decode(capsys.readouterr().out)
    assert found["next_check"].startswith("Next check to")  # today or tomorrow
    assert found["next_check"].endswith("; seen once, not checked again yet.")
    main(["status", "-C", str(tmp_path)])
    assert "a day" in capsys.readouterr().out

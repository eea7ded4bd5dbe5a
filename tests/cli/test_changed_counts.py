"""One meaning of "changed" everywhere: a difference that matters, as `sanderling changes` lists it."""

import json
import time
from pathlib import Path

import pytest
from tests.support.site import Page, Site, html

from sanderling.api.reports.crawl_view import CollectionCrawlView
from sanderling.cli import main

FLAGS = ["--delay", "0", "--allow-private", "--workers", "1"]


def lines(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, object]]:
    """Return what a command prints as JSON lines."""
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_view_counts_the_same_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["-C", str(tmp_path / "c")]
    pages = {"/": html("/news", "/token", text="home"), "/news": html(text="old words of the tide"), "/token": token(1)}
    with Site(pages) as site:
        main(["crawl", site.root + "/", *FLAGS, "--quiet", *at])
        site.pages |= {"/news": html(text="entirely other words about storms at sea"), "/token": token(2)}
        (refreshed,) = lines(capsys, "refresh", "--all", *at)
        news, noise = site.root + "/news", site.root + "/token"
    assert refreshed["changed"] == 1
    assert [row["url"] for row in lines(capsys, "changes", *at)] == [news]
    assert [row["url"] for row in lines(capsys, "pages", "--changed", *at)] == [news]
    assert {row["url"]: row["changes"] for row in lines(capsys, "pages", *at)} == {
        site.root + "/": 0,
        news: 1,
        noise: 0,
    }
    (status,) = lines(capsys, "status", *at)
    assert status["changes"] == {"pages": 1, "changes": 1, "last_day": 1}
    for url, expected in ((news, [False, True]), (noise, [False, False])):
        (history,) = lines(capsys, "history", url, *at)
        assert [visit["changed"] for visit in history["visits"]] == expected  # type: ignore[attr-defined]
        assert [visit["bytes_differ"] for visit in history["visits"]] == [True, True]  # type: ignore[attr-defined]
    check_window(tmp_path / "c", news, noise)


def token(number: int) -> Page:
    """Return a page of which only a comment differs."""
    body = f"<html><title>token</title><body><!-- {number} --><p>the same text, and a good deal of it</p></body>"
    return Page(body.encode())


def check_window(folder: Path, news: str, noise: str) -> None:
    """Compare what the dashboard, the list and the history of the web pages show."""
    window = CollectionCrawlView(folder)
    assert window.get_status().changed_today == 1
    assert [row.url for row in window.list_changes("", "", time.time() - 3600, 0, 9)] == [news]
    for url, count in ((news, 1), (noise, 0)):
        page = window.get_page(url)
        assert page is not None
        assert page.changes == count == sum(visit.changed for visit in window.list_visits(url, 9))

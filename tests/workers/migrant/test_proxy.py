"""Crawling with the eyes of a host beside the web server: the same pages, the same records, far fewer bytes."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from random import Random
from typing import Literal

import pytest
from msgspec.structs import replace
from tests.support.migrant_client import serving
from tests.support.site import Page as WebPage
from tests.support.site import Site as Web
from tests.support.site import html, redirect, tree

from sanderling.clock import Clock
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl
from sanderling.errors import UsageError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import FetchBatch, FetchTask, Host, RobotsTxt, Url
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages
from sanderling.workers.migrant import site_walk
from sanderling.workers.migrant.client import MigrantAddress, MigrantClient, RequestFailure, SentRequest
from sanderling.workers.migrant.messages import (
    EndMessage,
    MigrantMessage,
    MigrantRequest,
    PageMessage,
    RequestedUrl,
    RobotsMessage,
    generate_nonce,
)
from sanderling.workers.migrant.owner_rules import SiteRules
from sanderling.workers.migrant.proxy import RemoteFetchLoop
from sanderling.workers.migrant.shared_dictionary import SiteDictionary
from sanderling.workers.migrant.site_reader import SiteResponse


def go(web: Web, folder: Path, address: MigrantAddress | None, delay: float = 0.0) -> CrawlSummary:
    workers = (
        WorkerSettings(workers=1, migrant=(address.url,), key=address.key_file)
        if address
        else WorkerSettings(workers=1)
    )
    request = CrawlRequest(
        seeds=(web.root + "/",),
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=delay, backoff=0.2),
        fetching=HttpSettings(allow_private=True),
        workers=workers,
    )
    return crawl(folder, request)


def shelf(folder: Path) -> dict[str, tuple[object, ...]]:
    """What a collection holds, but for times and places."""
    with open_collection_read_only(folder) as collection:
        return {
            row.url: (row.status, row.body_bytes, row.digest, row.mime, row.title, row.depth)
            for row in load_pages(collection.db)
        }


@contextmanager
def failed_pages(folder: Path) -> Iterator[dict[str, str]]:
    with open_collection_read_only(folder) as collection:
        sql = (
            "SELECT h.name || u.path, u.reason FROM urls AS u JOIN hosts AS h ON h.id = u.host WHERE u.state = 'failed'"
        )
        yield dict(collection.db.execute(sql).fetchall())


@pytest.mark.parametrize("pack", ["small", "fast"])
def test_a_crawl_through_a_host_stores_what_a_crawl_from_afar_stores(
    tmp_path: Path, pack: Literal["small", "fast"]
) -> None:
    site = tree(120)
    site["/p5"] = redirect("/p6")
    site["/p8"] = WebPage(b"\x00\x01binary", headers={"Content-Type": "application/octet-stream"})
    site["/robots.txt"] = WebPage(b"User-agent: *\nDisallow: /p9\n", headers={"Content-Type": "text/plain"})
    with Web(site) as web, serving(tmp_path / "host", SiteRules(web.root, compression=pack)) as address:
        near = go(web, tmp_path / "near", address, delay=1.0)
        assert max(web.hits.values()) == 1, "each page is looked at once"
        web.hits.clear()
        far = go(web, tmp_path / "far", None)
        assert (near.finish_reason, near.pages, near.failed) == ("done", far.pages, far.failed)
        assert shelf(tmp_path / "near") == shelf(tmp_path / "far")


@pytest.mark.parametrize("pack", ["small", "fast"])
def test_a_second_visit_brings_only_what_changed(tmp_path: Path, pack: Literal["small", "fast"]) -> None:
    site, draw = tree(100), Random(7)
    for page in site.values():  # words of its own on every page, or all of them together would cost next to nothing
        page.body += f"<p>{draw.randbytes(500).hex()}</p>".encode()
    with Web(site) as web, serving(tmp_path / "host", SiteRules(web.root, compression=pack)) as address:
        first = go(web, tmp_path / "near", address)
        web.pages["/p42"] = html("/brand-new", text="changed")
        web.pages["/brand-new"] = html(text="new")
        second = go(web, tmp_path / "near", address)
        assert (first.fetched, second.fetched, second.not_modified) == (100, 2, 99)
        assert first.bytes > 100 * 500, "what cannot be compressed was paid for, and counted"
        assert second.bytes * 50 < first.bytes


def test_a_host_that_lies_about_its_pages_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = site_walk.SiteWalk._report_visit

    def lie(self: site_walk.SiteWalk, seen: SiteResponse) -> Iterator[MigrantMessage]:
        for message in honest(self, seen):
            if isinstance(message, PageMessage) and message.target == "/p3":
                yield PageMessage(
                    "/p3", message.issue_offset, message.duration_ms, message.head, b"<p>buy this</p>", message.digest
                )
            else:
                yield message

    monkeypatch.setattr(site_walk.SiteWalk, "_report_visit", lie)
    with Web(tree(10)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        summary = go(web, tmp_path / "near", address)
        assert (summary.pages, summary.failed) == (9, 1)
        with failed_pages(tmp_path / "near") as failed:
            assert failed == {web.root + "/p3": "digest_mismatch"}


def lies(change: Callable[[MigrantMessage], list[MigrantMessage]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a host say something else than it saw."""
    honest = site_walk.SiteWalk._report_visit

    def lie(self: site_walk.SiteWalk, seen: SiteResponse) -> Iterator[MigrantMessage]:
        for message in honest(self, seen):
            yield from change(message)

    monkeypatch.setattr(site_walk.SiteWalk, "_report_visit", lie)


def aged(message: MigrantMessage) -> list[MigrantMessage]:
    return (
        [replace(message, issue_offset=-(2**62), duration_ms=2**62)] if isinstance(message, PageMessage) else [message]
    )


def repeated(message: MigrantMessage) -> list[MigrantMessage]:
    return [message, message, *([replace(message, target=at) for at in (-1, 99, "no", "/" + "x" * 10**6)])] \
        if isinstance(message, PageMessage) else [message]  # fmt: skip


def ruled(message: MigrantMessage) -> list[MigrantMessage]:
    if not isinstance(message, PageMessage):
        return [message]
    return [
        RobotsMessage(RobotsTxt(Host("http://other.example"), 200, b"User-agent: *\nDisallow: /", 0.0, 1e9)),
        message,
    ]


@pytest.mark.parametrize("change", [aged, repeated, ruled])
def test_what_a_host_says_beside_its_pages_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[MigrantMessage], list[MigrantMessage]]
) -> None:
    lies(change, monkeypatch)
    with Web(tree(6)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        summary = go(web, tmp_path / "near", address)
        assert (summary.finish_reason, summary.pages, summary.failed) == ("done", 6, 0)


def test_rules_without_a_time_do_not_stop_a_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Web(tree(6)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        rules = RobotsMessage(RobotsTxt(Host(web.root), 200, b"", math.nan, math.nan))
        lies(lambda message: [rules, message], monkeypatch)
        assert go(web, tmp_path / "near", address).pages == 6


def test_what_follows_the_end_of_an_answer_is_not_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def end_often(self: site_walk.SiteWalk) -> Iterator[MigrantMessage]:
        yield from honest(self)
        yield EndMessage()
        yield EndMessage(-5, 10**9)

    honest = site_walk.SiteWalk.generate_messages
    monkeypatch.setattr(site_walk.SiteWalk, "messages", end_often)
    with Web(tree(6)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        summary = go(web, tmp_path / "near", address)
        assert (summary.pages, summary.failed) == (6, 0)
        lost = [
            line for line in (tmp_path / "near" / "logs" / "migrants.log").read_text().splitlines() if " lose " in line
        ]
        assert not lost


def test_a_letter_that_waited_is_issued_when_it_is_sent(tmp_path: Path) -> None:
    with Web(tree(2)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        post = MigrantClient(address)
        old = MigrantRequest(
            post.public_key, address.receiver, Host(web.root), 0.0, 120.0, generate_nonce(), (RequestedUrl("/"),)
        )
        post.outbox.put(SentRequest(old, {}))
        assert isinstance(post.inbox.get(timeout=30)[1], PageMessage)
        post.close()


def a_clock(ahead: float, began: float) -> Clock:
    """The clock of a host: so many seconds ahead of ours, and when it began it showed so many seconds ago."""
    moments = chain([time.time() + ahead - began], iter(lambda: time.time() + ahead, None))
    return lambda: next(moments)


@pytest.mark.parametrize(("ahead", "began"), [(-50.0, 120.0), (50.0, 120.0), (-50.0, 0.0), (1.0, 0.0)])
def test_clocks_may_differ_by_a_minute(tmp_path: Path, ahead: float, began: float) -> None:
    """One that has just begun obeys no letter from before, by its own clock: it is asked again until it does."""
    clock = a_clock(ahead, began)
    with Web(tree(5)) as web, serving(tmp_path / "host", SiteRules(web.root), clock=clock) as address:
        asked = time.time()
        assert go(web, tmp_path / "near", address).pages == 5
        with open_collection_read_only(tmp_path / "near") as collection:
            seen = [at for (at,) in collection.db.execute("SELECT at FROM visits")]
        assert asked <= min(seen) <= max(seen) <= time.time(), "pages bear our times"


@pytest.mark.parametrize(("ahead", "why"), [(-200.0, "from the future"), (400.0, "expired")])
def test_clocks_that_differ_by_more_are_a_named_failure(tmp_path: Path, ahead: float, why: str) -> None:
    with (
        Web(tree(5)) as web,
        serving(tmp_path / "host", SiteRules(web.root), clock=lambda: time.time() + ahead) as address,
    ):
        assert go(web, tmp_path / "near", address).failed == 1
    with open_collection_read_only(tmp_path / "near") as collection:
        (note,) = collection.db.execute("SELECT note FROM urls").fetchone()
    assert note == f"refused: {why} (do the clocks of both machines agree?)"


def test_a_site_the_host_does_not_speak_for_is_fetched_from_home(tmp_path: Path) -> None:
    with Web(tree(10)) as web, serving(tmp_path / "host", SiteRules("http://other.example")) as address:
        assert go(web, tmp_path / "near", address).pages == 10


def test_a_host_that_does_not_know_us_is_a_named_failure(tmp_path: Path) -> None:
    with Web(tree(4)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        (tmp_path / "host" / "senders").write_text("")
        summary = go(web, tmp_path / "near", address)
        assert (summary.pages, summary.failed) == (0, 1)
        with failed_pages(tmp_path / "near") as failed:
            assert failed == {web.root + "/": "host_refused"}
        assert not web.hits


def test_a_host_that_is_not_there_and_a_missing_key_are_said_before_the_crawl_begins(tmp_path: Path) -> None:
    with Web(tree(2)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        with pytest.raises(UsageError, match="no host answers"):
            go(web, tmp_path / "near", MigrantAddress("http://127.0.0.1:9", address.key_file))
        with pytest.raises(UsageError, match="cannot read the key"):
            go(web, tmp_path / "near", MigrantAddress(address.url, str(tmp_path / "no.key")))


def test_what_was_said_is_remembered_before_the_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the end the crawl may be over; a memory written later would often be lost."""
    order: list[str] = []
    put = MigrantClient._enqueue

    def told(self: MigrantClient, sent: SentRequest, message: MigrantMessage | RequestFailure, size: int = 0) -> None:
        order.append(type(message).__name__)
        put(self, sent, message, size)

    monkeypatch.setattr(MigrantClient, "_enqueue", told)
    monkeypatch.setattr(SiteDictionary, "save", lambda _self, content: order.append("kept" if content else "nothing"))
    with Web({"/": html(text="one")}) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        trip = RemoteFetchLoop(FetchSettings(allow_private=True), lambda _tree, _changed: {}, address)
        trip.submit(FetchBatch(Host(web.root), (FetchTask(1, 1, Url(web.root + "/")),)))
        while trip.load:
            trip.run_for(1.0)
        trip.close()
    assert order[-2:] == ["kept", "End"]

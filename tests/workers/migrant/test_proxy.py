"""Crawls through a migrant: same pages and records as a direct crawl, with far fewer bytes."""

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
from sanderling.config.settings import HttpSettings, LimitSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl
from sanderling.errors import UsageError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.response_processor import skip_fingerprints
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


def run_crawl(web: Web, folder: Path, address: MigrantAddress | None, delay: float = 0.0) -> CrawlSummary:
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


def load_stored(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return the pages of a collection, without times and file positions."""
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


def test_migrant_requests_no_pages_beyond_the_limit(tmp_path: Path) -> None:
    with Web(tree(60)) as web, serving(tmp_path / "host", SiteRules(web.root)) as address:
        request = CrawlRequest(
            seeds=(web.root + "/",),
            scope=ScopeSettings(sitemaps=False),
            limits=LimitSettings(limit=20),
            politeness=PolitenessSettings(delay=0),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=1, migrant=(address.url,), key=address.key_file),
        )
        assert crawl(tmp_path / "c", request).fetched == 20
    assert sum(count for path, count in web.hits.items() if path in web.pages) == 20


@pytest.mark.parametrize("compression", ["small", "fast"])
def test_crawl_through_a_migrant_stores_the_same_as_a_direct_crawl(
    tmp_path: Path, compression: Literal["small", "fast"]
) -> None:
    site = tree(120)
    site["/p5"] = redirect("/p6")
    site["/p8"] = WebPage(b"\x00\x01binary", headers={"Content-Type": "application/octet-stream"})
    site["/robots.txt"] = WebPage(b"User-agent: *\nDisallow: /p9\n", headers={"Content-Type": "text/plain"})
    with Web(site) as web, serving(tmp_path / "server", SiteRules(web.root, compression=compression)) as address:
        migrant = run_crawl(web, tmp_path / "migrant", address, delay=1.0)
        assert max(web.hits.values()) == 1, "each page is fetched once"
        web.hits.clear()
        direct = run_crawl(web, tmp_path / "direct", None)
        assert (migrant.finish_reason, migrant.pages, migrant.failed) == ("done", direct.pages, direct.failed)
        assert load_stored(tmp_path / "migrant") == load_stored(tmp_path / "direct")


@pytest.mark.parametrize("compression", ["small", "fast"])
def test_revisit_transfers_only_changed_pages(tmp_path: Path, compression: Literal["small", "fast"]) -> None:
    site, draw = tree(100), Random(7)
    for page in site.values():  # incompressible text
        page.body += f"<p>{draw.randbytes(500).hex()}</p>".encode()
    with Web(site) as web, serving(tmp_path / "server", SiteRules(web.root, compression=compression)) as address:
        first = run_crawl(web, tmp_path / "migrant", address)
        web.pages["/p42"] = html("/brand-new", text="changed")
        web.pages["/brand-new"] = html(text="new")
        second = run_crawl(web, tmp_path / "migrant", address)
        assert (first.fetched, second.fetched, second.not_modified) == (100, 2, 99)
        assert first.bytes > 100 * 500, "incompressible bytes are counted"
        assert second.bytes * 50 < first.bytes


def test_page_that_does_not_match_its_digest_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report_visit = site_walk.SiteWalk._report_visit

    def replace_body(self: site_walk.SiteWalk, response: SiteResponse) -> Iterator[MigrantMessage]:
        for message in report_visit(self, response):
            if isinstance(message, PageMessage) and message.target == "/p3":
                yield PageMessage(
                    "/p3", message.issue_offset, message.duration_ms, message.head, b"<p>buy this</p>", message.digest
                )
            else:
                yield message

    monkeypatch.setattr(site_walk.SiteWalk, "_report_visit", replace_body)
    with Web(tree(10)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        summary = run_crawl(web, tmp_path / "migrant", address)
        assert (summary.pages, summary.failed) == (9, 1)
        with failed_pages(tmp_path / "migrant") as failed:
            assert failed == {web.root + "/p3": "digest_mismatch"}


def alter_messages(change: Callable[[MigrantMessage], list[MigrantMessage]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace each message of the migrant by those that `change` returns."""
    report_visit = site_walk.SiteWalk._report_visit

    def report_altered(self: site_walk.SiteWalk, response: SiteResponse) -> Iterator[MigrantMessage]:
        for message in report_visit(self, response):
            yield from change(message)

    monkeypatch.setattr(site_walk.SiteWalk, "_report_visit", report_altered)


def change_times(message: MigrantMessage) -> list[MigrantMessage]:
    return (
        [replace(message, issue_offset=-(2**62), duration_ms=2**62)] if isinstance(message, PageMessage) else [message]
    )


def repeat_pages(message: MigrantMessage) -> list[MigrantMessage]:
    return [message, message, *([replace(message, target=target) for target in (-1, 99, "no", "/" + "x" * 10**6)])] \
        if isinstance(message, PageMessage) else [message]  # fmt: skip


def add_foreign_robots(message: MigrantMessage) -> list[MigrantMessage]:
    if not isinstance(message, PageMessage):
        return [message]
    return [
        RobotsMessage(RobotsTxt(Host("http://other.example"), 200, b"User-agent: *\nDisallow: /", 0.0, 1e9)),
        message,
    ]


@pytest.mark.parametrize("change", [change_times, repeat_pages, add_foreign_robots])
def test_unexpected_messages_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[MigrantMessage], list[MigrantMessage]]
) -> None:
    alter_messages(change, monkeypatch)
    with Web(tree(6)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        summary = run_crawl(web, tmp_path / "migrant", address)
        assert (summary.finish_reason, summary.pages, summary.failed) == ("done", 6, 0)


def test_robots_txt_without_valid_times_does_not_stop_a_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Web(tree(6)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        rules = RobotsMessage(RobotsTxt(Host(web.root), 200, b"", math.nan, math.nan))
        alter_messages(lambda message: [rules, message], monkeypatch)
        assert run_crawl(web, tmp_path / "migrant", address).pages == 6


def test_messages_after_the_end_of_a_response_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def generate_extra_ends(self: site_walk.SiteWalk) -> Iterator[MigrantMessage]:
        yield from generate_messages(self)
        yield EndMessage()
        yield EndMessage(-5, 10**9)

    generate_messages = site_walk.SiteWalk.generate_messages
    monkeypatch.setattr(site_walk.SiteWalk, "generate_messages", generate_extra_ends)
    with Web(tree(6)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        summary = run_crawl(web, tmp_path / "migrant", address)
        assert (summary.pages, summary.failed) == (6, 0)
        lost = [
            line
            for line in (tmp_path / "migrant" / "logs" / "workers.log").read_text().splitlines()
            if " lose " in line
        ]
        assert not lost


def test_request_is_dated_when_it_is_sent(tmp_path: Path) -> None:
    with Web(tree(2)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        client = MigrantClient(address)
        old = MigrantRequest(
            client.public_key, address.receiver, Host(web.root), 0.0, 120.0, generate_nonce(), (RequestedUrl("/"),)
        )
        client.outbox.put(SentRequest(old, {}))
        assert isinstance(client.inbox.get(timeout=30)[1], PageMessage)
        client.close()


def build_clock(ahead: float, uptime: float) -> Clock:
    """Build the clock of a migrant: seconds ahead of ours, and started `uptime` seconds ago."""
    times = chain([time.time() + ahead - uptime], iter(lambda: time.time() + ahead, None))
    return lambda: next(times)


@pytest.mark.parametrize(("ahead", "uptime"), [(-50.0, 120.0), (50.0, 120.0), (-50.0, 0.0), (1.0, 0.0)])
def test_clocks_may_differ_by_a_minute(tmp_path: Path, ahead: float, uptime: float) -> None:
    """A migrant that has just started refuses requests dated before its start; they are retried."""
    clock = build_clock(ahead, uptime)
    with Web(tree(5)) as web, serving(tmp_path / "server", SiteRules(web.root), clock=clock) as address:
        started_at = time.time()
        assert run_crawl(web, tmp_path / "migrant", address).pages == 5
        with open_collection_read_only(tmp_path / "migrant") as collection:
            visited_at = [at for (at,) in collection.db.execute("SELECT at FROM visits")]
        assert started_at <= min(visited_at) <= max(visited_at) <= time.time(), "times are by our clock"


@pytest.mark.parametrize(("ahead", "reason"), [(-200.0, "issued in the future"), (400.0, "expired")])
def test_larger_clock_difference_is_reported(tmp_path: Path, ahead: float, reason: str) -> None:
    with (
        Web(tree(5)) as web,
        serving(tmp_path / "server", SiteRules(web.root), clock=lambda: time.time() + ahead) as address,
    ):
        assert run_crawl(web, tmp_path / "migrant", address).failed == 1
    with open_collection_read_only(tmp_path / "migrant") as collection:
        (note,) = collection.db.execute("SELECT note FROM urls").fetchone()
    assert note == f"refused: {reason} (do the clocks of both machines agree?)"


def test_site_not_served_by_the_migrant_is_fetched_directly(tmp_path: Path) -> None:
    with Web(tree(10)) as web, serving(tmp_path / "server", SiteRules("http://other.example")) as address:
        assert run_crawl(web, tmp_path / "migrant", address).pages == 10


def test_refusal_of_an_unknown_sender_is_reported(tmp_path: Path) -> None:
    with Web(tree(4)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        (tmp_path / "server" / "senders").write_text("")
        summary = run_crawl(web, tmp_path / "migrant", address)
        assert (summary.pages, summary.failed) == (0, 1)
        with failed_pages(tmp_path / "migrant") as failed:
            assert failed == {web.root + "/": "migrant_refused"}
        assert not web.hits


def test_unreachable_migrant_and_missing_key_are_reported_before_the_crawl(tmp_path: Path) -> None:
    with Web(tree(2)) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        with pytest.raises(UsageError, match="no migrant answers"):
            run_crawl(web, tmp_path / "migrant", MigrantAddress("http://127.0.0.1:9", address.key_file))
        with pytest.raises(UsageError, match="cannot read the key"):
            run_crawl(web, tmp_path / "migrant", MigrantAddress(address.url, str(tmp_path / "no.key")))


def test_dictionary_is_stored_before_the_end_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The crawl may end with the last message; a dictionary stored later would often be lost."""
    order: list[str] = []
    enqueue = MigrantClient._enqueue

    def record(self: MigrantClient, sent: SentRequest, message: MigrantMessage | RequestFailure, size: int = 0) -> None:
        order.append(type(message).__name__)
        enqueue(self, sent, message, size)

    monkeypatch.setattr(MigrantClient, "_enqueue", record)
    monkeypatch.setattr(SiteDictionary, "save", lambda _self, content: order.append("stored" if content else "empty"))
    with Web({"/": html(text="one")}) as web, serving(tmp_path / "server", SiteRules(web.root)) as address:
        fetch_loop = RemoteFetchLoop(FetchSettings(allow_private=True), skip_fingerprints, address)
        fetch_loop.submit(FetchBatch(Host(web.root), (FetchTask(1, 1, Url(web.root + "/")),)))
        while fetch_loop.load:
            fetch_loop.run_for(1.0)
        fetch_loop.close()
    assert order[-2:] == ["stored", "EndMessage"]

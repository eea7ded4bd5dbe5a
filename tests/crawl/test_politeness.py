"""Mistakes observed in other crawlers, tested against the real crawler."""

import sqlite3
import threading
import time
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from tests.support.site import Page, Site, html, redirect, tree

from sanderling.api.reports.status_report import describe_collection
from sanderling.clock import Clock, system_clock
from sanderling.config.settings import HttpSettings, LimitSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import FetchBatch, Outcome, WorkerReport
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import CatalogRow, load_pages
from sanderling.workers.local import LocalEngine
from sanderling.workers.worker_engine import WorkerLost


def run_crawl(
    folder: Path, *sites: Site, limit: int = 0, sitemaps: bool = False, delay: float = 0.0, backoff: float = 0.2,
    clock: Clock = system_clock, logins: tuple[str, ...] = (), ignore_robots: tuple[str, ...] = (),
) -> CrawlSummary:  # fmt: skip
    request = CrawlRequest(
        tuple(site.root + "/" for site in sites),
        scope=ScopeSettings(sitemaps=sitemaps),
        limits=LimitSettings(limit=limit),
        politeness=PolitenessSettings(delay=delay, backoff=backoff, ignore_robots=ignore_robots),
        fetching=HttpSettings(allow_private=True, basic_auth=logins),
        workers=WorkerSettings(workers=1),
    )
    return crawl(folder, request, clock=clock)


def load_rows(folder: Path) -> dict[str, CatalogRow]:
    with open_collection_read_only(folder) as collection:
        return {"/" + row.url.split("/", 3)[3]: row for row in load_pages(collection.db)}


def load_rate_limited(folder: Path) -> list[dict[str, Any]]:
    """The rate-limited hosts that `sanderling status` lists."""
    with open_collection_read_only(folder) as collection:
        return cast(list[dict[str, Any]], describe_collection(collection)["rate_limited_hosts"])


def expire_robots(folder: Path) -> None:
    """Expire every robots.txt."""
    db = sqlite3.connect(folder / "sanderling.db")
    db.execute("UPDATE hosts SET robots_until = 0")
    db.commit()
    db.close()


def test_case_final_slash_and_empty_value_distinguish_urls(tmp_path: Path) -> None:
    paths = ("/A", "/a", "/dir", "/dir/", "/q", "/q?a", "/q?a=", "/q?a=&b=1")
    with Site({"/": html(*paths)} | {path: html(text=path) for path in paths}) as site:
        assert run_crawl(tmp_path, site).pages == 1 + len(paths)
        assert all(site.hits[path] == 1 for path in paths)


def test_page_that_redirects_to_variant_of_its_url_is_stored(tmp_path: Path) -> None:
    variants = {"/%7Ejoe": redirect("/~joe"), "/~joe": html(text="joe"), "/caf%C3%A9": redirect("/caf%c3%a9", 301)}
    loop = {"/%41": redirect("/A"), "/A": redirect("/%41")}
    pages = {"/": html("/%7Ejoe", "/caf%C3%A9", "/%41"), "/caf%c3%a9": html(text="coffee")}
    with Site(pages | variants | loop) as site:
        for _ in range(2):
            run_crawl(tmp_path, site)
            found = load_rows(tmp_path)
            assert (found["/~joe"].title, found["/caf%C3%A9"].title) == ("joe", "coffee")
        assert (site.hits["/%7Ejoe"], site.hits["/~joe"], site.hits["/caf%c3%a9"]) == (1, 2, 2)
        assert site.hits["/A"] + site.hits["/%41"] < 50  # the loop is given up


def test_redirect_to_variant_of_same_url_is_not_a_version(tmp_path: Path) -> None:
    preferred, other = {"/~joe": html(text="joe"), "/%7Ejoe": redirect("/~joe")}, {"/~joe": redirect("/%7Ejoe")}
    with Site({"/": html("/%7Ejoe")} | preferred) as site:
        for variants in (preferred, other | {"/%7Ejoe": html(text="joe")}, other | {"/%7Ejoe": redirect("/~joe")}):
            site.pages.update(variants)
            run_crawl(tmp_path, site)
            joe = load_rows(tmp_path)["/~joe"]
            assert (joe.status, joe.change_count, joe.title) == (200, 0, "joe")
            with open_collection_read_only(tmp_path) as collection:
                assert "redirect" not in {outcome for (outcome,) in collection.db.execute("SELECT outcome FROM visits")}
        assert site.hits["/~joe"] > 10  # in the end it loops


def test_redirect_hops_are_reset_between_crawls(tmp_path: Path) -> None:
    with Site({"/": html("/%7Ejoe"), "/~joe": html(text="joe"), "/%7Ejoe": redirect("/~joe")}) as site:
        run_crawl(tmp_path, site)
    with open_collection_read_only(tmp_path) as collection:
        assert collection.db.execute("SELECT max(hops) FROM urls").fetchone() == (0,)


def test_unchanged_robots_txt_is_reused(tmp_path: Path) -> None:
    with Site(tree(20)) as site:
        site.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /none", headers={"Content-Type": "text/plain"})
        run_crawl(tmp_path, site)
        expire_robots(tmp_path)
        run_crawl(tmp_path, site)
        assert site.hits["/robots.txt"] == 2


def test_robots_txt_error_blocks_host(tmp_path: Path) -> None:
    with Site(tree(9)) as site:
        run_crawl(tmp_path, site)
        expire_robots(tmp_path)
        site.pages["/robots.txt"] = Page(b"User-agent: *\nAllow: /", 503)
        before = sum(site.hits.values()) - site.hits["/robots.txt"]
        run_crawl(tmp_path, site)
        assert sum(site.hits.values()) - site.hits["/robots.txt"] == before


def test_robots_txt_is_refetched_with_credentials(tmp_path: Path) -> None:
    class LockedSite(Site):
        def answer(self, handler: BaseHTTPRequestHandler) -> None:
            if "Authorization" in handler.headers:
                super().answer(handler)
            else:
                handler.send_response(401)
                handler.send_header("Content-Length", "0")
                handler.end_headers()

    robots = Page(b"User-agent: *\nDisallow: /secret\n", headers={"Content-Type": "text/plain"})
    with LockedSite({"/": html("/open", "/secret"), "/open": html(), "/secret": html(), "/robots.txt": robots}) as site:
        run_crawl(tmp_path, site)
        run_crawl(tmp_path, site, logins=(f"{site.root}=me:word",))
        assert (site.hits["/open"], site.hits["/secret"]) == (1, 0)


def test_body_change_with_same_head_is_detected(tmp_path: Path) -> None:
    with Site({"/": Page(b"<head><title>same</title></head><p>old words", etag=False)}) as site:
        run_crawl(tmp_path, site)
        site.pages["/"] = Page(b"<head><title>same</title></head><p>new words", etag=False)
        run_crawl(tmp_path, site)
        assert load_rows(tmp_path)["/"].change_count == 1


def test_error_does_not_count_as_unchanged(tmp_path: Path) -> None:
    with Site({"/": html()}) as site:
        run_crawl(tmp_path, site)
        seen = load_rows(tmp_path)["/"]
        site.pages["/"] = Page(b"oops", 404)
        summary = run_crawl(tmp_path, site)
        assert (summary.fetched, summary.not_modified) == (0, 0)
        assert load_rows(tmp_path)["/"].digest == seen.digest


def test_sitemap_hints_are_stored(tmp_path: Path) -> None:
    with Site({"/": html(), "/x": html()}) as site:
        entry = f"<loc>{site.root}/x</loc><lastmod>2026-01-02</lastmod><changefreq>daily</changefreq>"
        body = f"<urlset><url>{entry}<priority>0.9</priority></url></urlset>"
        site.pages["/sitemap.xml"] = Page(body.encode(), headers={"Content-Type": "application/xml"})
        run_crawl(tmp_path, site, sitemaps=True)
        with open_collection_read_only(tmp_path) as collection:
            rows = collection.db.execute("SELECT lastmod, changefreq, priority FROM sitemap_hints").fetchall()
        assert rows == [(1767312000.0, "daily", 0.9)]


def test_queue_survives_interrupted_run(tmp_path: Path) -> None:
    with Site(tree(30)) as site:
        run_crawl(tmp_path, site, limit=5)
        assert run_crawl(tmp_path, site).pages == 30
        assert max(site.hits.values()) == 1


def test_retry_after_is_kept_in_next_run(tmp_path: Path) -> None:
    with Site({"/": Page(b"later", 429, {"Retry-After": "3600"})}) as site:
        assert run_crawl(tmp_path, site).finish_reason == "backed_off"
        assert run_crawl(tmp_path, site).finish_reason == "backed_off"
        assert site.hits["/"] == 1


def test_retry_after_of_robots_txt_is_kept(tmp_path: Path) -> None:
    with Site({"/": html(), "/robots.txt": Page(b"", 503, {"Retry-After": "3600"})}) as site:
        assert run_crawl(tmp_path, site).finish_reason == "backed_off"
        assert run_crawl(tmp_path, site).finish_reason == "backed_off"
        assert site.hits == {"/robots.txt": 1}


@pytest.mark.parametrize(("asked", "backoff"), [("3600", 0.2), ("1", 3600.0)])
def test_longest_backoff_of_concurrent_rate_limits_is_used(asked: str, backoff: float, tmp_path: Path) -> None:
    class BusySite(Site):
        together = threading.Barrier(2)

        def answer(self, handler: BaseHTTPRequestHandler) -> None:
            if handler.path in ("/a", "/b") and not self.hits[handler.path]:
                self.together.wait(300)
            super().answer(handler)

    limited = {"/a": Page(b"", 503), "/b": Page(b"", 429, {"Retry-After": asked})}
    with BusySite({"/": html("/a", "/b")} | limited) as site:
        assert run_crawl(tmp_path, site, backoff=backoff).finish_reason == "backed_off"
        assert (site.hits["/a"], site.hits["/b"]) == (1, 1)


def test_ignore_robots_crawls_own_site(tmp_path: Path) -> None:
    rules = b"User-agent: *\nDisallow: /\nCrawl-delay: 0.3\nSitemap: /map.txt\n"
    with Site({**tree(3), "/robots.txt": Page(rules, 200, {"Content-Type": "text/plain"})}) as site:
        site.pages["/map.txt"] = Page(f"{site.root}/alone\n".encode(), 200, {"Content-Type": "text/plain"})
        site.pages["/alone"] = html(text="no link leads here")
        assert run_crawl(tmp_path, site, sitemaps=True, ignore_robots=("127.0.0.2", "example.org")).pages == 0
        name = site.root.removeprefix("http://")
        summary = run_crawl(tmp_path, site, sitemaps=True, ignore_robots=(name,))
        assert summary.pages == 4
        assert summary.seconds > 0.3 * 3  # its crawl delay applies
        before = site.hits["/p1"]
        assert run_crawl(tmp_path, site, sitemaps=True).fetched == 0
        assert site.hits["/p1"] == before  # disallowed again


def test_ignore_robots_ignores_unreachable_robots_txt(tmp_path: Path) -> None:
    with Site({**tree(3), "/robots.txt": Page(b"", 503)}) as site:
        assert run_crawl(tmp_path, site).pages == 0
        assert run_crawl(tmp_path, site, ignore_robots=("127.0.0.1",)).pages == 3


class StrictSite(Site):
    """Allows three pages in `window` seconds, and returns 429 for more."""

    window = 0.5

    def __init__(self, pages: dict[str, Page]) -> None:
        super().__init__(pages)
        self.allowed: list[float] = []
        self.is_limited: list[bool] = []

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        now = time.monotonic()
        with self.lock:
            self.allowed = [at for at in self.allowed if at > now - self.window]
            self.is_limited.append(len(self.allowed) >= 3)
            if not self.is_limited[-1]:
                self.allowed.append(now)
        if self.is_limited[-1]:
            handler.send_response(429)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        else:
            super().answer(handler)


def test_crawl_delay_is_learned_from_rate_limits(tmp_path: Path) -> None:
    with StrictSite({"/robots.txt": Page(b"", 404), **tree(30, fan=29)}) as site:
        assert run_crawl(tmp_path, site).pages == 30
        assert any(site.is_limited)
        assert not any(site.is_limited[-8:])
        settled = len(site.is_limited)
        run_crawl(tmp_path, site)  # the learned delay is stored
        assert not any(site.is_limited[settled:])
        (host,) = load_rate_limited(tmp_path)
        assert host["host"] == site.root
        assert host["count"] >= 2
        assert host["seconds_between"] >= 0.1


def test_always_rate_limited_page_is_given_up_without_slowing_host(tmp_path: Path) -> None:
    with Site({**tree(12, fan=11), "/p1": Page(b"", 429)}) as site:
        assert run_crawl(tmp_path, site, backoff=0.05).pages == 11
        (host,) = load_rate_limited(tmp_path)
        assert (host["seconds_between"], host["count"], site.hits["/p1"]) == (0, 4, 4)


def test_too_short_retry_after_loses_no_page(tmp_path: Path) -> None:
    busy = Page(b"", 429, {"Retry-After": "1"})

    class BusySite(Site):
        def answer(self, handler: BaseHTTPRequestHandler) -> None:
            if self.hits["/p1"] == 3:  # after three responses with Retry-After: 1
                self.pages["/p1"] = html(text="here at last")
            super().answer(handler)

    with BusySite({"/": html("/p1"), "/p1": busy}) as site:
        assert run_crawl(tmp_path, site, backoff=0.3).pages == 2


def test_latency_delay_of_slow_host_is_kept_in_next_run(tmp_path: Path) -> None:
    """Workers of the next run have not measured the latency themselves."""

    class SlowSite(Site):
        def answer(self, handler: BaseHTTPRequestHandler) -> None:
            if handler.path != "/robots.txt":
                threading.Event().wait(0.4)
            super().answer(handler)

    with SlowSite({"/": html("/a"), "/a": html()}) as site:
        for limit in (1, 2):
            run_crawl(tmp_path, site, limit=limit, delay=0.01)
    with open_collection_read_only(tmp_path) as collection:
        rows = collection.db.execute("SELECT at, seconds FROM visits ORDER BY at").fetchall()
    assert len(rows) == 2, rows
    (first, seconds_taken), (second, next_seconds) = rows
    assert seconds_taken > 0.3
    assert second - next_seconds >= first - seconds_taken + 5 * seconds_taken - 0.05


def test_crawl_delay_of_fast_host_is_exact(tmp_path: Path) -> None:
    with Site({"/": html()}) as site:
        run_crawl(tmp_path, site, delay=0.5)
    with open_collection_read_only(tmp_path) as collection:
        ((at, seconds),) = collection.db.execute("SELECT at, seconds FROM visits").fetchall()
        ((next_request_at,),) = collection.db.execute("SELECT next_request_at FROM hosts").fetchall()
    assert next_request_at == max(at + 0.5, at - seconds + 5 * seconds)


def test_crawl_continues_if_clock_was_set_back_between_runs(tmp_path: Path) -> None:
    with Site({"/": html("/a"), "/a": html()}) as site:
        run_crawl(tmp_path, site, limit=1, delay=0.01, clock=lambda: system_clock() + 100 * 86_400)
        assert run_crawl(tmp_path, site, delay=0.01).finish_reason == "done"
        assert (site.hits["/"], site.hits["/a"]) == (1, 1)


def test_crawl_continues_if_clock_is_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.crawl.coordinator.MAX_LATENCY_DELAY", 0.01)
    with Site({"/": html("/a"), "/a": html("/b"), "/b": html()}) as site:
        done = run_crawl(
            tmp_path, site, delay=0.01, clock=lambda: system_clock() if site.hits["/a"] else system_clock() + 3600
        )
        assert done.finish_reason == "done"
        assert [site.hits[path] for path in ("/", "/a", "/b")] == [1, 1, 1]


def test_rate_limited_host_does_not_slow_other_hosts(tmp_path: Path) -> None:
    with (
        Site({"/": Page(b"", 429, {"Retry-After": "3600"})}) as first_site,
        Site(tree(20), host="127.0.0.2") as second_site,
    ):
        assert run_crawl(tmp_path, first_site, second_site).pages == 20
        assert first_site.hits["/"] == 1


class ObservedEngine(LocalEngine):
    """Records when two workers have tasks of a site, and when a worker returns tasks without a reason."""

    def __init__(self) -> None:
        super().__init__(FetchSettings(allow_private=True))
        self.sent: set[str] = set()
        self.shared, self.returned = threading.Event(), threading.Event()

    def send_batch(self, worker: str, batch: FetchBatch) -> None:
        super().send_batch(worker, batch)
        if len(batch.tasks) > 1:
            self.sent.add(worker)
        if len(self.sent) > 1:
            self.shared.set()

    def receive_reports(self, timeout: float) -> list[WorkerReport | WorkerLost]:
        messages = super().receive_reports(timeout)
        visits = [visit for message in messages if isinstance(message, WorkerReport) for visit in message.visits]
        if any(visit.outcome is Outcome.RETURNED and not visit.reason for visit in visits):
            self.returned.set()
        return messages


def test_rate_limit_of_one_worker_stops_all_workers_at_host(tmp_path: Path) -> None:
    engine = ObservedEngine()

    class LimitedSite(Site):
        answered = 0

        def answer(self, handler: BaseHTTPRequestHandler) -> None:
            if handler.path.startswith("/p"):
                engine.shared.wait(300)
                with self.lock:
                    self.answered += 1
                    is_first = self.answered == 1
                if not is_first:  # requests in flight
                    engine.returned.wait(300)
            super().answer(handler)

    limited = Page(b"", 429, {"Retry-After": "3600"})
    numbers = [f"/p{number}" for number in range(60)]
    with LimitedSite({"/": html(*numbers)} | dict.fromkeys(numbers, limited)) as site:
        request = CrawlRequest(
            (site.root + "/",),
            scope=ScopeSettings(sitemaps=False),
            politeness=PolitenessSettings(delay=0, concurrency=2),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=2),
        )
        assert crawl(tmp_path, request, engine=engine).finish_reason == "backed_off"
        assert engine.returned.is_set()
        assert sum(site.hits.values()) <= 2 + 2 * 2  # robots.txt, the first page, and requests in flight


def test_known_page_is_fetched_again(tmp_path: Path) -> None:
    with Site({"/": html(text="one")}) as site:
        run_crawl(tmp_path, site)
        site.pages["/"] = html(text="two")
        assert run_crawl(tmp_path, site).fetched == 1
        assert load_rows(tmp_path)["/"].title == "two"


def test_hosts_with_crawl_delay_are_crawled_concurrently(tmp_path: Path) -> None:
    with Site(tree(9), host="0.0.0.0") as site:
        port = site.root.rpartition(":")[2]
        request = CrawlRequest(
            tuple(f"http://127.3.0.{n}:{port}{path}" for n in range(1, 41) for path in site.pages),
            scope=ScopeSettings(sitemaps=False),
            politeness=PolitenessSettings(delay=0.2),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=1),
        )
        assert crawl(tmp_path, request).pages == 40 * 9
        asked = [headers["host"] for path, headers in site.requests if path != "/robots.txt"]
    # Slow responses extend the crawl delay of their host, so on a busy machine some hosts have fewer turns than others.
    first, last = {host: n for n, host in reversed([*enumerate(asked)])}, {host: n for n, host in enumerate(asked)}
    in_progress = [sum(first[host] <= n < last[host] for host in first) for n in range(len(asked))]
    assert max(in_progress) > 30, "hosts are crawled concurrently"
    same_host = sum(host == following for host, following in pairwise(asked))
    assert same_host < len(asked) / 20, "hosts take turns"

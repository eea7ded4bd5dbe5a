"""What other crawlers were seen to do wrong, each once, by the real crawler: it must not happen here."""

import sqlite3
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, cast

import pytest
from tests.support.site import Page, Site, html, redirect, tree

from sanderling.cli.commands.status import describe_collection
from sanderling.clock import Clock, system_clock
from sanderling.config.settings import HttpSettings, LimitSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import FetchBatch, Outcome, WorkerReport
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import CatalogRow, load_pages
from sanderling.workers.local import LocalEngine, WorkerLost


def go(
    folder: Path, *sites: Site, limit: int = 0, sitemaps: bool = False, delay: float = 0.0, backoff: float = 0.2,
    clock: Clock = system_clock, logins: tuple[str, ...] = (), own: tuple[str, ...] = (),
) -> CrawlSummary:  # fmt: skip
    request = CrawlRequest(
        tuple(site.root + "/" for site in sites),
        scope=ScopeSettings(sitemaps=sitemaps),
        limits=LimitSettings(limit=limit),
        politeness=PolitenessSettings(delay=delay, backoff=backoff, ignore_robots=own),
        fetching=HttpSettings(allow_private=True, basic_auth=logins),
        workers=WorkerSettings(workers=1),
    )
    return crawl(folder, request, clock=clock)


def held(folder: Path) -> dict[str, CatalogRow]:
    with open_collection_read_only(folder) as collection:
        return {"/" + row.url.split("/", 3)[3]: row for row in load_pages(collection.db)}


def told(folder: Path) -> list[dict[str, Any]]:
    """The hosts that complained, as `sanderling status` lists them."""
    with open_collection_read_only(folder) as collection:
        return cast(list[dict[str, Any]], describe_collection(collection)["complaints"])


def age(folder: Path) -> None:
    """Let a day pass for every robots.txt."""
    db = sqlite3.connect(folder / "sanderling.db")
    db.execute("UPDATE hosts SET robots_until = 0")
    db.commit()
    db.close()


def test_capitals_final_slashes_and_empty_values_make_different_pages(tmp_path: Path) -> None:
    paths = ("/A", "/a", "/dir", "/dir/", "/q", "/q?a", "/q?a=", "/q?a=&b=1")
    with Site({"/": html(*paths)} | {path: html(text=path) for path in paths}) as site:
        assert go(tmp_path, site).pages == 1 + len(paths)
        assert all(site.hits[path] == 1 for path in paths)


def test_a_page_that_redirects_to_another_spelling_of_itself_is_had(tmp_path: Path) -> None:
    spelled = {"/%7Ejoe": redirect("/~joe"), "/~joe": html(text="joe"), "/caf%C3%A9": redirect("/caf%c3%a9", 301)}
    turning = {"/%41": redirect("/A"), "/A": redirect("/%41")}
    there = {"/": html("/%7Ejoe", "/caf%C3%A9", "/%41"), "/caf%c3%a9": html(text="coffee")}
    with Site(there | spelled | turning) as site:
        for _ in range(2):
            go(tmp_path, site)
            found = held(tmp_path)
            assert (found["/~joe"].title, found["/caf%C3%A9"].title) == ("joe", "coffee")
        assert (site.hits["/%7Ejoe"], site.hits["/~joe"], site.hits["/caf%c3%a9"]) == (1, 2, 2)
        assert site.hits["/A"] + site.hits["/%41"] < 50  # it goes to and fro, and is given up


def test_a_redirect_to_another_spelling_of_a_page_is_no_version_of_it(tmp_path: Path) -> None:
    liked, other = {"/~joe": html(text="joe"), "/%7Ejoe": redirect("/~joe")}, {"/~joe": redirect("/%7Ejoe")}
    with Site({"/": html("/%7Ejoe")} | liked) as site:
        for spelled in (liked, other | {"/%7Ejoe": html(text="joe")}, other | {"/%7Ejoe": redirect("/~joe")}):
            site.pages.update(spelled)
            go(tmp_path, site)
            joe = held(tmp_path)["/~joe"]
            assert (joe.status, joe.change_count, joe.title) == (200, 0, "joe")
            with open_collection_read_only(tmp_path) as collection:
                assert "redirect" not in {outcome for (outcome,) in collection.db.execute("SELECT outcome FROM visits")}
        assert site.hits["/~joe"] > 10  # in the end it went to and fro


def test_hops_of_earlier_crawls_do_not_count(tmp_path: Path) -> None:
    with Site({"/": html("/%7Ejoe"), "/~joe": html(text="joe"), "/%7Ejoe": redirect("/~joe")}) as site:
        go(tmp_path, site)
    with open_collection_read_only(tmp_path) as collection:
        assert collection.db.execute("SELECT max(hops) FROM urls").fetchone() == (0,)


def test_a_robots_txt_that_did_not_change_is_believed_again(tmp_path: Path) -> None:
    with Site(tree(20)) as site:
        site.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /none", headers={"Content-Type": "text/plain"})
        go(tmp_path, site)
        age(tmp_path)
        go(tmp_path, site)
        assert site.hits["/robots.txt"] == 2


def test_a_robots_txt_that_became_an_error_closes_the_host(tmp_path: Path) -> None:
    with Site(tree(9)) as site:
        go(tmp_path, site)
        age(tmp_path)
        site.pages["/robots.txt"] = Page(b"User-agent: *\nAllow: /", 503)
        before = sum(site.hits.values()) - site.hits["/robots.txt"]
        go(tmp_path, site)
        assert sum(site.hits.values()) - site.hits["/robots.txt"] == before


def test_a_robots_txt_that_wanted_a_password_is_asked_for_again_by_the_run_that_has_it(tmp_path: Path) -> None:
    class Locked(Site):
        def answer(self, handler: BaseHTTPRequestHandler) -> None:
            if "Authorization" in handler.headers:
                super().answer(handler)
            else:
                handler.send_response(401)
                handler.send_header("Content-Length", "0")
                handler.end_headers()

    robots = Page(b"User-agent: *\nDisallow: /secret\n", headers={"Content-Type": "text/plain"})
    with Locked({"/": html("/open", "/secret"), "/open": html(), "/secret": html(), "/robots.txt": robots}) as site:
        go(tmp_path, site)
        go(tmp_path, site, logins=(f"{site.root}=me:word",))
        assert (site.hits["/open"], site.hits["/secret"]) == (1, 0)


def test_a_page_whose_head_stayed_the_same_has_changed_all_the_same(tmp_path: Path) -> None:
    with Site({"/": Page(b"<head><title>same</title></head><p>old words", etag=False)}) as site:
        go(tmp_path, site)
        site.pages["/"] = Page(b"<head><title>same</title></head><p>new words", etag=False)
        go(tmp_path, site)
        assert held(tmp_path)["/"].change_count == 1


def test_an_error_is_no_sign_that_a_page_is_fresh(tmp_path: Path) -> None:
    with Site({"/": html()}) as site:
        go(tmp_path, site)
        seen = held(tmp_path)["/"]
        site.pages["/"] = Page(b"oops", 404)
        summary = go(tmp_path, site)
        assert (summary.fetched, summary.not_modified) == (0, 0)
        assert held(tmp_path)["/"].digest == seen.digest


def test_what_a_sitemap_says_is_kept(tmp_path: Path) -> None:
    with Site({"/": html(), "/x": html()}) as site:
        entry = f"<loc>{site.root}/x</loc><lastmod>2026-01-02</lastmod><changefreq>daily</changefreq>"
        body = f"<urlset><url>{entry}<priority>0.9</priority></url></urlset>"
        site.pages["/sitemap.xml"] = Page(body.encode(), headers={"Content-Type": "application/xml"})
        go(tmp_path, site, sitemaps=True)
        with open_collection_read_only(tmp_path) as collection:
            rows = collection.db.execute("SELECT lastmod, changefreq, priority FROM hints").fetchall()
        assert rows == [(1767312000.0, "daily", 0.9)]


def test_the_queue_is_still_there_after_a_run_that_was_cut_short(tmp_path: Path) -> None:
    with Site(tree(30)) as site:
        go(tmp_path, site, limit=5)
        assert go(tmp_path, site).pages == 30
        assert max(site.hits.values()) == 1


def test_a_host_that_asked_for_rest_has_it_in_the_next_run_too(tmp_path: Path) -> None:
    with Site({"/": Page(b"later", 429, {"Retry-After": "3600"})}) as site:
        assert go(tmp_path, site).finish_reason == "held"
        assert go(tmp_path, site).finish_reason == "held"
        assert site.hits["/"] == 1


def test_a_robots_txt_that_asks_for_rest_has_it_too(tmp_path: Path) -> None:
    with Site({"/": html(), "/robots.txt": Page(b"", 503, {"Retry-After": "3600"})}) as site:
        assert go(tmp_path, site).finish_reason == "held"
        assert go(tmp_path, site).finish_reason == "held"
        assert site.hits == {"/robots.txt": 1}


@pytest.mark.parametrize(("asked", "backoff"), [("3600", 0.2), ("1", 3600.0)])
def test_of_complaints_that_come_together_the_longest_rest_is_granted(
    asked: str, backoff: float, tmp_path: Path
) -> None:
    class Busy(Site):
        together = threading.Barrier(2)

        def answer(self, handler: BaseHTTPRequestHandler) -> None:
            if handler.path in ("/a", "/b") and not self.hits[handler.path]:
                self.together.wait(300)
            super().answer(handler)

    complaints = {"/a": Page(b"", 503), "/b": Page(b"", 429, {"Retry-After": asked})}
    with Busy({"/": html("/a", "/b")} | complaints) as site:
        assert go(tmp_path, site, backoff=backoff).finish_reason == "held"
        assert (site.hits["/a"], site.hits["/b"]) == (1, 1)


def test_a_person_may_crawl_a_site_of_their_own_whatever_its_robots_txt_forbids(tmp_path: Path) -> None:
    rules = b"User-agent: *\nDisallow: /\nCrawl-delay: 0.3\nSitemap: /map.txt\n"
    with Site({**tree(3), "/robots.txt": Page(rules, 200, {"Content-Type": "text/plain"})}) as site:
        site.pages["/map.txt"] = Page(f"{site.root}/alone\n".encode(), 200, {"Content-Type": "text/plain"})
        site.pages["/alone"] = html(text="no link leads here")
        assert go(tmp_path, site, sitemaps=True, own=("127.0.0.2", "example.org")).pages == 0
        name = site.root.removeprefix("http://")
        summary = go(tmp_path, site, sitemaps=True, own=(name,))
        assert summary.pages == 4
        assert summary.seconds > 0.3 * 3  # its pauses are kept
        before = site.hits["/p1"]
        assert go(tmp_path, site, sitemaps=True).fetched == 0
        assert site.hits["/p1"] == before  # and what it forbids is forbidden again


def test_a_robots_txt_that_cannot_be_had_keeps_nobody_out_of_their_own_site(tmp_path: Path) -> None:
    with Site({**tree(3), "/robots.txt": Page(b"", 503)}) as site:
        assert go(tmp_path, site).pages == 0
        assert go(tmp_path, site, own=("127.0.0.1",)).pages == 3


class Strict(Site):
    """Allows three pages in `window` seconds, and complains about each one more."""

    window = 0.5

    def __init__(self, pages: dict[str, Page]) -> None:
        super().__init__(pages)
        self.allowed: list[float] = []
        self.complaints: list[bool] = []

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        now = time.monotonic()
        with self.lock:
            self.allowed = [at for at in self.allowed if at > now - self.window]
            self.complaints.append(len(self.allowed) >= 3)
            if not self.complaints[-1]:
                self.allowed.append(now)
        if self.complaints[-1]:
            handler.send_response(429)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        else:
            super().answer(handler)


def test_a_crawl_settles_on_the_pace_that_a_host_bears(tmp_path: Path) -> None:
    with Strict({"/robots.txt": Page(b"", 404), **tree(30, fan=29)}) as site:
        assert go(tmp_path, site).pages == 30
        assert any(site.complaints)
        assert not any(site.complaints[-8:])
        settled = len(site.complaints)
        go(tmp_path, site)  # what was learned outlives the run
        assert not any(site.complaints[settled:])
        (host,) = told(tmp_path)
        assert host["host"] == site.root
        assert host["complaints"] >= 2
        assert host["seconds_between"] >= 0.1


def test_a_page_that_always_complains_is_given_up_and_slows_no_other(tmp_path: Path) -> None:
    with Site({**tree(12, fan=11), "/p1": Page(b"", 429)}) as site:
        assert go(tmp_path, site, backoff=0.05).pages == 11
        (host,) = told(tmp_path)
        assert (host["seconds_between"], host["complaints"], site.hits["/p1"]) == (0, 4, 4)


def test_a_host_that_names_too_short_a_time_costs_no_page(tmp_path: Path) -> None:
    busy = Page(b"", 429, {"Retry-After": "1"})

    class Busy(Site):
        def answer(self, handler: BaseHTTPRequestHandler) -> None:
            if self.hits["/p1"] == 3:  # three times told to come back in a second
                self.pages["/p1"] = html(text="here at last")
            super().answer(handler)

    with Busy({"/": html("/p1"), "/p1": busy}) as site:
        assert go(tmp_path, site, backoff=0.3).pages == 2


def test_a_slow_host_has_its_rest_whoever_asks_next(tmp_path: Path) -> None:
    """The migrant that saw how slow it is is gone: the next run has others."""

    class Slow(Site):
        def answer(self, handler: BaseHTTPRequestHandler) -> None:
            if handler.path != "/robots.txt":
                threading.Event().wait(0.4)
            super().answer(handler)

    with Slow({"/": html("/a"), "/a": html()}) as site:
        for limit in (1, 2):
            go(tmp_path, site, limit=limit, delay=0.01)
    with open_collection_read_only(tmp_path) as collection:
        rows = collection.db.execute("SELECT at, seconds FROM visits ORDER BY at").fetchall()
    assert len(rows) == 2, rows
    (first, took), (second, took_again) = rows
    assert took > 0.3
    assert second - took_again >= first - took + 5 * took - 0.05


def test_a_fast_host_rests_as_long_as_asked_for_and_no_longer(tmp_path: Path) -> None:
    with Site({"/": html()}) as site:
        go(tmp_path, site, delay=0.5)
    with open_collection_read_only(tmp_path) as collection:
        ((at, seconds),) = collection.db.execute("SELECT at, seconds FROM visits").fetchall()
        ((open_at,),) = collection.db.execute("SELECT open_at FROM hosts").fetchall()
    assert open_at == max(at + 0.5, at - seconds + 5 * seconds)


def test_a_crawl_goes_on_though_the_clock_was_set_back_since(tmp_path: Path) -> None:
    with Site({"/": html("/a"), "/a": html()}) as site:
        go(tmp_path, site, limit=1, delay=0.01, clock=lambda: system_clock() + 100 * 86_400)
        assert go(tmp_path, site, delay=0.01).finish_reason == "done"
        assert (site.hits["/"], site.hits["/a"]) == (1, 1)


def test_a_crawl_goes_on_though_the_clock_is_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.crawl.coordinator.MAX_LATENCY_DELAY", 0.01)
    with Site({"/": html("/a"), "/a": html("/b"), "/b": html()}) as site:
        done = go(
            tmp_path, site, delay=0.01, clock=lambda: system_clock() if site.hits["/a"] else system_clock() + 3600
        )
        assert done.finish_reason == "done"
        assert [site.hits[path] for path in ("/", "/a", "/b")] == [1, 1, 1]


def test_one_host_that_complains_does_not_slow_the_others(tmp_path: Path) -> None:
    with Site({"/": Page(b"", 429, {"Retry-After": "3600"})}) as one, Site(tree(20), host="127.0.0.2") as two:
        assert go(tmp_path, one, two).pages == 20
        assert one.hits["/"] == 1


class Watched(LocalEngine):
    """Sees when two migrants have pages of a site in hand, and when one hands them back whom nobody complained to."""

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
        news = super().receive_reports(timeout)
        came = [visit for parcel in news if isinstance(parcel, WorkerReport) for visit in parcel.visits]
        if any(visit.outcome is Outcome.RETURNED and not visit.reason for visit in came):
            self.returned.set()
        return news


def test_a_host_that_complains_to_one_migrant_rests_from_all(tmp_path: Path) -> None:
    engine = Watched()

    class Tired(Site):
        answered = 0

        def answer(self, handler: BaseHTTPRequestHandler) -> None:
            if handler.path.startswith("/p"):
                engine.shared.wait(300)
                with self.lock:
                    self.answered += 1
                    is_first = self.answered == 1
                if not is_first:  # these were on their way
                    engine.returned.wait(300)
            super().answer(handler)

    limited = Page(b"", 429, {"Retry-After": "3600"})
    numbers = [f"/p{number}" for number in range(60)]
    with Tired({"/": html(*numbers)} | dict.fromkeys(numbers, limited)) as site:
        request = CrawlRequest(
            (site.root + "/",),
            scope=ScopeSettings(sitemaps=False),
            politeness=PolitenessSettings(delay=0, concurrency=2),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=2),
        )
        assert crawl(tmp_path, request, engine=engine).finish_reason == "held"
        assert engine.returned.is_set()
        assert sum(site.hits.values()) <= 2 + 2 * 2  # robots.txt, the first page, and what was on its way


def test_a_page_that_was_seen_before_is_asked_for_again(tmp_path: Path) -> None:
    with Site({"/": html(text="one")}) as site:
        go(tmp_path, site)
        site.pages["/"] = html(text="two")
        assert go(tmp_path, site).fetched == 1
        assert held(tmp_path)["/"].title == "two"


def test_many_hosts_that_want_pauses_are_asked_side_by_side(tmp_path: Path) -> None:
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
    turns = [len(set(asked[start : start + 40])) for start in range(40, 280, 40)]
    assert min(turns) > 20, "whoever may be asked is asked, before others are asked again"

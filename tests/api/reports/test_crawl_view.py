"""Reading a collection, and crawl control."""

import threading
from pathlib import Path

import pytest
from tests.support.site import Page, Site, tree
from tests.web.conftest import CrawledSite

from sanderling.api.reports.crawl_process import build_crawl_arguments
from sanderling.api.reports.crawl_view import CollectionCrawlView
from sanderling.api.reports.status_report import describe_collection
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.crawl.stop import FinishReason
from sanderling.storage.collection import open_collection_read_only


def test_status_matches_the_crawl(crawled_site: CrawledSite) -> None:
    crawl_view = CollectionCrawlView(crawled_site.folder)
    status = crawl_view.get_status()
    assert (status.pages, status.running, status.waiting, status.complete) == (17, False, 0, True)
    assert status.bytes_saved > 0
    assert status.urls["visited"] == 17
    assert sum(point.value for point in crawl_view.compute_visit_rates(60)) * 60 == pytest.approx(status.visits)
    assert crawl_view.compute_freshness()[0].value == 1.0
    assert [host.pages for host in crawl_view.list_hosts(5)] == [17]


def test_sitemap_is_not_counted_as_page(tmp_path: Path) -> None:
    with Site(tree(3)) as site:
        site.pages["/robots.txt"] = Page(
            f"Sitemap: {site.root}/map.txt\n".encode(), 200, {"Content-Type": "text/plain"}
        )
        site.pages["/map.txt"] = Page(f"{site.root}/\n".encode(), 200, {"Content-Type": "text/plain"})
        crawl(
            tmp_path,
            CrawlRequest(
                seeds=(site.root + "/",),
                politeness=PolitenessSettings(delay=0),
                fetching=HttpSettings(allow_private=True),
                workers=WorkerSettings(workers=1),
            ),
        )
    crawl_view = CollectionCrawlView(tmp_path)
    with open_collection_read_only(tmp_path) as collection:
        status = describe_collection(collection)
    assert (crawl_view.get_status().pages, crawl_view.get_status().urls) == (status["pages"], status["urls"])
    assert [host.pages for host in crawl_view.list_hosts(5)] == [status["pages"]]


def test_body_is_loaded_by_visit_and_by_time(crawled_site: CrawledSite) -> None:
    crawl_view = CollectionCrawlView(crawled_site.folder)
    url = crawled_site.url("/tern")
    newest, oldest = (v for v in crawl_view.list_visits(url, 10) if v.outcome == "fetched")
    first, last = crawl_view.load_body(url, oldest.visit), crawl_view.load_body(url)
    assert first is not None
    assert last is not None
    assert b"hovers" not in first.content
    assert b"hovers" in last.content
    then = crawl_view.load_body(url, at=newest.at - 0.001)
    assert then is not None
    assert then.visit == oldest.visit
    report = crawl_view.compare_versions(url, oldest.visit, newest.visit)
    assert report is not None
    assert "content" in report.change.kinds


def test_not_modified_page_keeps_its_type(crawled_site: CrawledSite) -> None:
    body = CollectionCrawlView(crawled_site.folder).load_body(crawled_site.url("/notes.txt"))
    assert body is not None
    assert (body.mime, body.content[:5]) == ("text/plain", b"Shore")


def test_unknown_url_gives_none(crawled_site: CrawledSite) -> None:
    crawl_view = CollectionCrawlView(crawled_site.folder)
    for url in ("", "nonsense", "https://never.example/", crawled_site.url("/nowhere")):
        assert crawl_view.get_page(url) is None
        assert crawl_view.load_body(url) is None
        assert crawl_view.list_visits(url, 5) == []


def test_scheduled_pages_have_a_reason(crawled_site: CrawledSite) -> None:
    due = CollectionCrawlView(crawled_site.folder).list_due_urls(5)
    assert len(due) == 5
    assert all(row.visited and row.reason for row in due)


def test_running_crawl_is_paused_resumed_and_stopped(tmp_path: Path) -> None:
    started = threading.Event()
    reasons: list[str] = []
    coordinators: list[Coordinator] = []

    def on_start(coordinator: Coordinator) -> None:
        coordinators.append(coordinator)
        started.set()

    with Site(tree(2000)) as site:
        request = CrawlRequest(
            seeds=(site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0.02),
            fetching=HttpSettings(allow_private=True), workers=WorkerSettings(workers=1),
        )  # fmt: skip

        def run() -> None:
            reasons.append(crawl(tmp_path, request, on_start=on_start).finish_reason)

        thread = threading.Thread(target=run)
        thread.start()
        assert started.wait(300)
        crawl_view = CollectionCrawlView(tmp_path)
        while not crawl_view.crawl_process.list_workers():
            crawl_view.crawl_process.cached_workers = (-1e9, [])
        assert crawl_view.get_status().running
        assert crawl_view.pause_crawl() == "paused 1 worker"
        crawl_view.crawl_process.cached_workers = (-1e9, [])
        assert crawl_view.get_status().paused
        assert crawl_view.start_crawl(()) == "resumed 1 worker"
        coordinators[0].stop(FinishReason.INTERRUPTED)
        thread.join(300)
    assert reasons == ["interrupted"]
    assert not CollectionCrawlView(tmp_path).get_status().running
    assert CollectionCrawlView(tmp_path).stop_crawl() == "no crawl is running"


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("", "crawl -C X --quiet"),
        ("crawl https://a/ --delay 2 -C old --clean --yes", "crawl -C X --quiet https://a/ --delay 2"),
        ("refresh --follow --collection old", "refresh -C X --quiet --follow"),
        ("refresh --watch --park big", "refresh -C X --quiet --follow --pause-crawl big"),
        ("crawl https://a/ --collection=old --delay 2", "crawl -C X --quiet https://a/ --delay 2"),
        ("crawl -Cold https://a/", "crawl -C X --quiet https://a/"),
        ("crawl -C old --collection=older -C oldest", "crawl -C X --quiet"),
        ("crawl --quiet -- -C https://a/", "crawl -C X --quiet -- -C https://a/"),
        ("serve --port 1", "crawl -C X --quiet"),
        ("crawl 'broken", "crawl -C X --quiet"),
    ],
)
def test_resume_uses_the_settings_of_the_last_run(last: str, expected: str) -> None:
    assert " ".join(build_crawl_arguments(last, Path("X"))) == expected

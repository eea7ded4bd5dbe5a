"""The window onto a collection, and the errands it can send."""

import threading
from pathlib import Path

import pytest
from tests.support.site import Page, Site, tree
from tests.web.conftest import World

from sanderling.cli.commands.status import describe_collection
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.crawl.stop import FinishReason
from sanderling.storage.collection import open_collection_read_only
from sanderling.web.crawl_process import build_crawl_arguments
from sanderling.web.crawl_view import CollectionCrawlView


def test_numbers_agree_with_what_was_crawled(world: World) -> None:
    window = CollectionCrawlView(world.folder)
    status = window.get_status()
    assert (status.pages, status.running, status.waiting, status.complete) == (17, False, 0, True)
    assert status.bytes_saved > 0
    assert status.urls["visited"] == 17
    assert sum(point.value for point in window.compute_visit_rates(60)) * 60 == pytest.approx(status.visits)
    assert window.compute_freshness()[0].value == 1.0
    assert [host.pages for host in window.list_hosts(5)] == [17]


def test_a_sitemap_is_no_page(tmp_path: Path) -> None:
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
    window = CollectionCrawlView(tmp_path)
    with open_collection_read_only(tmp_path) as collection:
        told = describe_collection(collection)
    assert (window.get_status().pages, window.get_status().urls) == (told["pages"], told["urls"])
    assert [host.pages for host in window.list_hosts(5)] == [told["pages"]]


def test_a_stored_page_is_found_by_visit_and_by_time(world: World) -> None:
    window = CollectionCrawlView(world.folder)
    url = world.url("/tern")
    newest, oldest = (v for v in window.list_visits(url, 10) if v.outcome == "fetched")
    first, last = window.load_body(url, oldest.visit), window.load_body(url)
    assert first is not None
    assert last is not None
    assert b"hovers" not in first.content
    assert b"hovers" in last.content
    then = window.load_body(url, at=newest.at - 0.001)
    assert then is not None
    assert then.visit == oldest.visit
    report = window.compare_versions(url, oldest.visit, newest.visit)
    assert report is not None
    assert "content" in report.change.kinds


def test_a_page_that_was_not_modified_still_has_its_type(world: World) -> None:
    body = CollectionCrawlView(world.folder).load_body(world.url("/notes.txt"))
    assert body is not None
    assert (body.mime, body.content[:5]) == ("text/plain", b"Shore")


def test_what_nobody_stored_is_none(world: World) -> None:
    window = CollectionCrawlView(world.folder)
    for url in ("", "nonsense", "https://never.example/", world.url("/nowhere")):
        assert window.get_page(url) is None
        assert window.load_body(url) is None
        assert window.list_visits(url, 5) == []


def test_pages_that_wait_for_their_time_say_why(world: World) -> None:
    due = CollectionCrawlView(world.folder).list_due_urls(5)
    assert len(due) == 5
    assert all(row.visited and row.reason for row in due)


def test_a_running_crawl_is_seen_paused_woken_and_stopped(tmp_path: Path) -> None:
    begun = threading.Event()
    ended: list[str] = []
    crawls: list[Coordinator] = []

    def started(crew: Coordinator) -> None:
        crawls.append(crew)
        begun.set()

    with Site(tree(2000)) as site:
        request = CrawlRequest(
            seeds=(site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0.02),
            fetching=HttpSettings(allow_private=True), workers=WorkerSettings(workers=1),
        )  # fmt: skip

        def run() -> None:
            ended.append(crawl(tmp_path, request, on_start=started).finish_reason)

        thread = threading.Thread(target=run)
        thread.start()
        assert begun.wait(300)
        window = CollectionCrawlView(tmp_path)
        while not window.crawl_process.list_workers():
            window.crawl_process.cached_workers = (-1e9, [])
        assert window.get_status().running
        assert "1 migrants rest" in window.pause_crawl()
        window.crawl_process.cached_workers = (-1e9, [])
        assert window.get_status().paused
        assert "1 migrants go on" in window.start_crawl(())
        crawls[0].stop(FinishReason.INTERRUPTED)
        thread.join(300)
    assert ended == ["interrupted"]
    assert not CollectionCrawlView(tmp_path).get_status().running
    assert CollectionCrawlView(tmp_path).stop_crawl() == "no crawl is running"


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("", "crawl -C X --quiet"),
        ("crawl https://a/ --delay 2 -C old --clean --yes", "crawl -C X --quiet https://a/ --delay 2"),
        ("refresh --watch --collection old", "refresh -C X --quiet --watch"),
        ("crawl https://a/ --collection=old --delay 2", "crawl -C X --quiet https://a/ --delay 2"),
        ("crawl -Cold https://a/", "crawl -C X --quiet https://a/"),
        ("crawl -C old --collection=older -C oldest", "crawl -C X --quiet"),
        ("crawl --quiet -- -C https://a/", "crawl -C X --quiet -- -C https://a/"),
        ("serve --port 1", "crawl -C X --quiet"),
        ("crawl 'broken", "crawl -C X --quiet"),
    ],
)
def test_going_on_uses_the_settings_of_the_last_run(last: str, expected: str) -> None:
    assert " ".join(build_crawl_arguments(last, Path("X"))) == expected

"""The window onto a collection, and the errands it can send."""

import threading
from pathlib import Path

import pytest
from tests.support.site import Page, Site, tree
from tests.web.conftest import World

from sanderling.cli.commands.status import describe
from sanderling.config.settings import Fetching, Politeness, Scope, Workers
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.session import Request, crawl
from sanderling.crawl.stop import Finish
from sanderling.storage.collection import read_collection
from sanderling.web.crawl_process import again
from sanderling.web.crawl_view import CrawlWindow


def test_numbers_agree_with_what_was_crawled(world: World) -> None:
    window = CrawlWindow(world.folder)
    status = window.status()
    assert (status.pages, status.running, status.waiting, status.complete) == (17, False, 0, True)
    assert status.bytes_saved > 0
    assert status.urls["visited"] == 17
    assert sum(point.value for point in window.rates(60)) * 60 == pytest.approx(status.visits)
    assert window.freshness()[0].value == 1.0
    assert [host.pages for host in window.hosts(5)] == [17]


def test_a_sitemap_is_no_page(tmp_path: Path) -> None:
    with Site(tree(3)) as site:
        site.pages["/robots.txt"] = Page(
            f"Sitemap: {site.root}/map.txt\n".encode(), 200, {"Content-Type": "text/plain"}
        )
        site.pages["/map.txt"] = Page(f"{site.root}/\n".encode(), 200, {"Content-Type": "text/plain"})
        crawl(
            tmp_path,
            Request(seeds=(site.root + "/",), politeness=Politeness(delay=0), fetching=Fetching(allow_private=True),
                    workers=Workers(migrants=1)),
        )  # fmt: skip
    window = CrawlWindow(tmp_path)
    with read_collection(tmp_path) as collection:
        told = describe(collection)
    assert (window.status().pages, window.status().urls) == (told["pages"], told["urls"])
    assert [host.pages for host in window.hosts(5)] == [told["pages"]]


def test_a_stored_page_is_found_by_visit_and_by_time(world: World) -> None:
    window = CrawlWindow(world.folder)
    url = world.url("/tern")
    newest, oldest = (v for v in window.history(url, 10) if v.outcome == "fetched")
    first, last = window.body(url, oldest.visit), window.body(url)
    assert first is not None
    assert last is not None
    assert b"hovers" not in first.body
    assert b"hovers" in last.body
    then = window.body(url, at=newest.at - 0.001)
    assert then is not None
    assert then.visit == oldest.visit
    report = window.compare(url, oldest.visit, newest.visit)
    assert report is not None
    assert "content" in report.change.kinds


def test_a_page_that_was_not_modified_still_has_its_type(world: World) -> None:
    body = CrawlWindow(world.folder).body(world.url("/notes.txt"))
    assert body is not None
    assert (body.mime, body.body[:5]) == ("text/plain", b"Shore")


def test_what_nobody_stored_is_none(world: World) -> None:
    window = CrawlWindow(world.folder)
    for url in ("", "nonsense", "https://never.example/", world.url("/nowhere")):
        assert window.page(url) is None
        assert window.body(url) is None
        assert window.history(url, 5) == []


def test_pages_that_wait_for_their_time_say_why(world: World) -> None:
    due = CrawlWindow(world.folder).due(5)
    assert len(due) == 5
    assert all(row.visited and row.why for row in due)


def test_a_running_crawl_is_seen_paused_woken_and_stopped(tmp_path: Path) -> None:
    begun = threading.Event()
    ended: list[str] = []
    crawls: list[Coordinator] = []

    def started(crew: Coordinator) -> None:
        crawls.append(crew)
        begun.set()

    with Site(tree(2000)) as site:
        request = Request(
            seeds=(site.root + "/",), scope=Scope(sitemaps=False), politeness=Politeness(delay=0.02),
            fetching=Fetching(allow_private=True), workers=Workers(migrants=1),
        )  # fmt: skip

        def run() -> None:
            ended.append(crawl(tmp_path, request, on_start=started).finish_reason)

        thread = threading.Thread(target=run)
        thread.start()
        assert begun.wait(300)
        window = CrawlWindow(tmp_path)
        while not window.errand.migrants():
            window.errand.heard = (-1e9, [])
        assert window.status().running
        assert "1 migrants rest" in window.pause()
        window.errand.heard = (-1e9, [])
        assert window.status().paused
        assert "1 migrants go on" in window.start(())
        crawls[0].stop(Finish.INTERRUPTED)
        thread.join(300)
    assert ended == ["interrupted"]
    assert not CrawlWindow(tmp_path).status().running
    assert CrawlWindow(tmp_path).stop() == "no crawl is running"


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
    assert " ".join(again(last, Path("X"))) == expected

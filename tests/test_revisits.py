"""Coming back: the real crawler refreshes a real site."""

import json
import threading
import time
from pathlib import Path

import pytest
from tests.web import Page, Site, html, redirect, tree

from sanderling.cli import main
from sanderling.errors import CollectionError, UsageError
from sanderling.revisits import Mode, Refreshed, expected, refresh
from sanderling.session import Request, crawl
from sanderling.settings import Fetching, Politeness, Revisit, Scope, Workers
from sanderling.store.catalogue import pages
from sanderling.store.collection import read_collection

DAY = 86_400.0
WORDS = "The tide comes in twice a day and leaves behind what it brought, and the birds know it well."
XML = {"Content-Type": "application/xml"}


def request(site: Site, revisit: Revisit | None = None, maps: bool = False) -> Request:
    return Request(
        (site.root + "/",),
        scope=Scope(sitemaps=maps),
        politeness=Politeness(delay=0, backoff=0.2),
        fetching=Fetching(allow_private=True),
        workers=Workers(migrants=1),
        revisit=revisit or Revisit(),
    )


def go(site: Site, folder: Path, mode: Mode, days: float = 0.0, maps: bool = False) -> Refreshed:
    return refresh(folder, request(site, maps=maps), mode, clock=lambda: time.time() + days * DAY)


def texts(number: int) -> dict[str, Page]:
    site = {"/": html(*(f"/p{n}" for n in range(number)), text=WORDS)}
    return site | {f"/p{n}": html("/", text=f"{WORDS} This is page {n}.") for n in range(number)}


def test_nothing_is_due_right_after_a_crawl_and_everything_later(tmp_path: Path) -> None:
    with Site(texts(5)) as site:
        crawl(tmp_path, request(site))
        assert go(site, tmp_path, Mode.ONCE).visited == 0
        later = go(site, tmp_path, Mode.ONCE, days=30)
        assert (later.due, later.visited, later.not_modified, later.changed) == (6, 6, 6, 0)
        assert later.bytes_saved > 0


def test_all_visits_everything_and_says_what_became_of_it(tmp_path: Path) -> None:
    with Site(texts(6)) as site:
        crawl(tmp_path, request(site))
        site.pages["/p1"] = html("/", "/new", text=WORDS + " But today a quite different story is told about the sea.")
        site.pages["/new"] = html(text="new")
        site.pages["/p2"] = redirect("/p3", 301)
        site.pages["/p4"].etag = False
        seen = go(site, tmp_path, Mode.ALL)
        assert (seen.changed, seen.new, seen.moved, seen.gone) == (1, 1, 1, 0)
        assert (seen.not_modified, seen.unchanged) == (4, 1)


def test_a_page_is_gone_when_it_was_missing_twice(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        del site.pages["/p1"]
        first = go(site, tmp_path, Mode.ALL)
        with read_collection(tmp_path) as collection:
            assert site.root + "/p1" in {row.url for row in pages(collection.db, "p.status = 200")}
        second = go(site, tmp_path, Mode.ALL)
        assert (first.gone, second.gone) == (0, 1)
        with read_collection(tmp_path) as collection:
            assert site.root + "/p1" not in {row.url for row in pages(collection.db, "p.status = 200")}


def test_trouble_is_no_change_and_loses_nothing(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        site.pages["/p1"] = Page(b"oops", 500)
        seen = go(site, tmp_path, Mode.ALL)
        assert (seen.changed, seen.gone) == (0, 0)
        with read_collection(tmp_path) as collection:
            assert len(list(pages(collection.db, "p.status = 200"))) == 4


def urlset(site: Site, lastmods: dict[str, str]) -> Page:
    rows = "".join(f"<url><loc>{site.root}{p}</loc><lastmod>{at}</lastmod></url>" for p, at in lastmods.items())
    return Page(f"<urlset>{rows}</urlset>".encode(), headers=XML)


def test_with_an_honest_sitemap_unchanged_pages_are_not_even_asked_for(tmp_path: Path) -> None:
    with Site(texts(8)) as site:
        old = dict.fromkeys(site.pages, "2020-01-01T00:00:00Z")
        site.pages["/sitemap.xml"] = urlset(site, old)
        crawl(tmp_path, request(site, maps=True))
        site.hits.clear()
        site.pages["/p5"] = html("/", text=WORDS + " Something else entirely has been written here since then.")
        later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
        site.pages["/sitemap.xml"] = urlset(site, old | {"/p5": later})
        seen = go(site, tmp_path, Mode.ONCE, maps=True)
        assert (seen.visited, seen.changed) == (1, 1)
        assert {path for path in site.hits if path.startswith("/p")} == {"/p5"}


def test_a_sitemap_that_cries_wolf_is_not_believed_for_ever(tmp_path: Path) -> None:
    with Site(texts(12)) as site:
        names = [path for path in site.pages if path != "/"]
        site.pages["/sitemap.xml"] = urlset(site, dict.fromkeys(names, "2020-01-01T00:00:00Z"))
        crawl(tmp_path, request(site, maps=True))
        asked = []
        for round_ in range(1, 4):
            site.hits.clear()
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600 * round_))
            site.pages["/sitemap.xml"] = urlset(site, dict.fromkeys(names, stamp))
            go(site, tmp_path, Mode.ONCE, maps=True)
            asked.append(sum(site.hits[name] for name in names))
        assert asked[0] == 12
        assert asked[-1] == 0


def test_watching_finds_changes_by_itself_and_stops_when_told(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        ahead = 30 * DAY
        stopped = threading.Event()

        def stop_when_seen(coordinator: object) -> None:
            def wait() -> None:
                deadline = time.monotonic() + 20
                while site.hits["/p2"] < 2 and time.monotonic() < deadline:
                    stopped.wait(0.02)
                from sanderling.coordinator import Coordinator, Finish

                assert isinstance(coordinator, Coordinator)
                coordinator.stop(Finish.INTERRUPTED)

            threading.Thread(target=wait, daemon=True).start()

        seen = refresh(tmp_path, request(site), Mode.WATCH, on_start=stop_when_seen, clock=lambda: time.time() + ahead)
        assert (seen.finish_reason, seen.visited) == ("interrupted", 4)


def test_a_budget_is_kept(tmp_path: Path) -> None:
    with Site(texts(30)) as site:
        crawl(tmp_path, request(site))
        seen = refresh(
            tmp_path, request(site, Revisit(budget="5/minute")), Mode.ONCE, clock=lambda: time.time() + 30 * DAY
        )
        assert seen.visited == 5


def test_a_dry_run_says_why_and_asks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(tree(4)) as site:
        crawl(tmp_path, request(site))
        hits = sum(site.hits.values())
        rows = expected(tmp_path, Mode.ALL, time.time())
        assert len(rows) == 4
        assert all(row.why for row in rows)
        assert main(["refresh", "-C", str(tmp_path), "--all", "--dry-run", "--json"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 4
        assert sum(site.hits.values()) == hits


def test_the_command_remembers_how_the_crawl_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(tree(5)) as site:
        common = ["-C", str(tmp_path), "--quiet"]
        main(["crawl", site.root, *common, "--delay", "0", "--allow-private", "--no-sitemaps", "--migrants", "1"])
        assert main(["refresh", *common, "--all", "--json"]) == 0
        summary = json.loads(capsys.readouterr().out.splitlines()[-1])
        keys = ["due", "visited", "not_modified", "unchanged", "changed", "new", "gone", "moved", "bytes"]
        keys += ["bytes_saved", "seconds"]
        assert list(summary)[: len(keys)] == keys
        assert (summary["visited"], summary["not_modified"]) == (5, 5)


def test_bad_wishes_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="no collection"):
        refresh(tmp_path / "none", Request(()))
    with Site(tree(1)) as site:
        crawl(tmp_path, request(site))
        with pytest.raises(UsageError, match="cannot be read"):
            refresh(tmp_path, request(site, Revisit(budget="lots")))
        with pytest.raises(UsageError, match="there is no policy"):
            refresh(tmp_path, request(site, Revisit(policy="weekly")))


def test_etags_that_change_without_a_reason_are_no_longer_sent(tmp_path: Path) -> None:
    class Liar(Site):
        def answer(self, handler: object) -> None:
            for page in self.pages.values():
                page.etag = False
                page.headers = {
                    **page.headers,
                    "ETag": f'"{len(self.requests)}"',
                    "Last-Modified": "Tue, 01 Oct 2024 10:00:00 GMT",
                }
            super().answer(handler)  # type: ignore[arg-type]

    with Liar(texts(4)) as site:
        crawl(tmp_path, request(site))
        go(site, tmp_path, Mode.ALL)
        site.requests.clear()
        go(site, tmp_path, Mode.ALL)
        sent = [headers for path, headers in site.requests if path.startswith("/p")]
        assert sent
        assert not any("if-none-match" in headers for headers in sent)
        assert all("if-modified-since" in headers for headers in sent)

"""Pages that a refresh queues: due, announced and rated pages, within a budget."""

import threading
import time
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from tests.support.revisiting import DAY, WORDS, go, request, texts
from tests.support.site import Page, Site, html, tree

from sanderling.cli import main
from sanderling.config.settings import LimitSettings, RevisitSettings
from sanderling.crawl.refresh import RefreshMode, list_due_pages, refresh
from sanderling.crawl.session import crawl
from sanderling.revisit.visit_history import decode_history
from sanderling.search.feedback.event_log import open_event_log
from sanderling.storage.collection import open_collection, open_collection_read_only
from sanderling.urls import dust

XML = {"Content-Type": "application/xml"}


def urlset(site: Site, lastmods: dict[str, str]) -> Page:
    rows = "".join(f"<url><loc>{site.root}{p}</loc><lastmod>{at}</lastmod></url>" for p, at in lastmods.items())
    return Page(f"<urlset>{rows}</urlset>".encode(), headers=XML)


def load_announcers(folder: Path) -> dict[str, int]:
    """Load the announcers of each page, as bits."""
    with open_collection_read_only(folder) as collection:
        sql = "SELECT u.path, d.state FROM due AS d JOIN urls AS u ON u.id = d.url"
        rows = collection.db.execute(sql).fetchall()
    return {path: bits for path, state in rows if (bits := decode_history(state).announcer_bits)}


def test_all_pages_become_due_after_crawl(tmp_path: Path) -> None:
    with Site(texts(5)) as site:
        crawl(tmp_path, request(site))
        assert go(site, tmp_path, RefreshMode.ONCE).visited == 0
        later = go(site, tmp_path, RefreshMode.ONCE, days=30)
        assert (later.due, later.visited, later.not_modified, later.changed) == (6, 6, 6, 0)
        assert later.bytes_saved > 0


@pytest.mark.parametrize("status", [200, 203])
def test_refresh_skips_url_variants(tmp_path: Path, status: int) -> None:
    page = html("/", text=WORDS)
    pages = {"/": html("/a?ref=1", "/a", text=WORDS)} | dict.fromkeys(
        ("/a", "/a?ref=1"), Page(page.body, status, page.headers)
    )
    with Site(pages) as site:
        crawl(tmp_path, request(site))
        with open_collection(tmp_path) as collection:
            dust.save_rules(
                collection.db, [dust.DustRule(dust.get_site_name(site.root + "/"), dust.DustRuleKind.PARAMETER, "ref")]
            )
        assert len(list_due_pages(tmp_path, request(site), RefreshMode.ALL, time.time())) == 2
        assert go(site, tmp_path, RefreshMode.ONCE, days=30).visited == 2
        assert go(site, tmp_path, RefreshMode.ALL).visited == 2
        with open_collection(tmp_path) as collection:
            dust.save_rules(collection.db, [])
        assert go(site, tmp_path, RefreshMode.ALL).visited == 3


def test_reliable_sitemap_saves_requests_for_unchanged_pages(tmp_path: Path) -> None:
    with Site(texts(8)) as site:
        old = dict.fromkeys(site.pages, "2020-01-01T00:00:00Z")
        site.pages["/sitemap.xml"] = urlset(site, old)
        crawl(tmp_path, request(site, maps=True))
        site.hits.clear()
        site.pages["/p5"] = html("/", text=WORDS + " Something else entirely has been written here since then.")
        later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
        site.pages["/sitemap.xml"] = urlset(site, old | {"/p5": later})
        seen = go(site, tmp_path, RefreshMode.ONCE, maps=True)
        assert (seen.visited, seen.changed) == (1, 1)
        assert {path for path in site.hits if path.startswith("/p")} == {"/p5"}


def test_sitemap_with_false_lastmod_loses_trust(tmp_path: Path) -> None:
    with Site(texts(12)) as site:
        names = [path for path in site.pages if path != "/"]
        site.pages["/sitemap.xml"] = urlset(site, dict.fromkeys(names, "2020-01-01T00:00:00Z"))
        crawl(tmp_path, request(site, maps=True))
        asked = []
        for round_ in range(1, 4):
            site.hits.clear()
            lastmod = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600 * round_))
            site.pages["/sitemap.xml"] = urlset(site, dict.fromkeys(names, lastmod))
            go(site, tmp_path, RefreshMode.ONCE, maps=True)
            asked.append(sum(site.hits[name] for name in names))
        assert asked[0] == 12
        assert asked[-1] == 0


def test_watch_mode_visits_due_pages_until_stopped(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        ahead = 30 * DAY
        stopped = threading.Event()

        def stop_after_visit(coordinator: object) -> None:
            def wait() -> None:
                deadline = time.monotonic() + 300
                while site.hits["/p2"] < 2 and time.monotonic() < deadline:
                    stopped.wait(0.02)
                from sanderling.crawl.coordinator import Coordinator
                from sanderling.crawl.stop import FinishReason

                assert isinstance(coordinator, Coordinator)
                coordinator.stop(FinishReason.INTERRUPTED)

            threading.Thread(target=wait, daemon=True).start()

        seen = refresh(
            tmp_path,
            request(site),
            RefreshMode.CONTINUOUS,
            on_start=stop_after_visit,
            clock=lambda: time.time() + ahead,
        )
        assert (seen.finish_reason, seen.visited) == ("interrupted", 4)


def test_budget_limits_visits(tmp_path: Path) -> None:
    with Site(texts(30)) as site:
        crawl(tmp_path, request(site))
        seen = refresh(
            tmp_path,
            request(site, RevisitSettings(budget="5/minute")),
            RefreshMode.ONCE,
            clock=lambda: time.time() + 30 * DAY,
        )
        assert seen.visited == 5


def test_page_limit_applies_to_refresh(tmp_path: Path) -> None:
    with Site(texts(9)) as site:
        crawl(tmp_path, request(site))
        limited_request = msgspec.structs.replace(request(site), limits=LimitSettings(limit=4))
        seen = refresh(tmp_path, limited_request, RefreshMode.ALL)
        assert (seen.finish_reason, seen.visited) == ("limit", 4)


def test_dry_run_prints_reasons_and_fetches_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(tree(4)) as site:
        crawl(tmp_path, request(site))
        hits = sum(site.hits.values())
        rows = list_due_pages(tmp_path, request(site), RefreshMode.ALL, time.time())
        assert len(rows) == 4
        assert all(row.reason for row in rows)
        assert main(["refresh", "-C", str(tmp_path), "--all", "--dry-run", "--json"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 4
        assert main(["refresh", "-C", str(tmp_path), "--all", "--dry-run"]) == 0
        head, *lines = capsys.readouterr().out.splitlines()
        assert head.split() == ["due", "url", "why"], "the widest column is last"
        assert len({line.index("seen once") for line in lines}) == 1
        assert sum(site.hits.values()) == hits


def test_unspent_budget_is_saved_for_its_period(tmp_path: Path) -> None:
    with Site(texts(30)) as site:
        crawl(tmp_path, request(site))

        def visited(days: float) -> int:
            limited_request = request(site, RevisitSettings(budget="20/day"))
            return refresh(tmp_path, limited_request, RefreshMode.ONCE, clock=lambda: time.time() + days * DAY).visited

        assert visited(30) == 20
        assert visited(30.25) == 5
        assert 6 <= visited(40) <= 20


def test_dry_run_lists_pages_that_budgeted_refresh_visits(tmp_path: Path) -> None:
    with Site(texts(12)) as site:
        crawl(tmp_path, request(site))
        limited_request = request(site, RevisitSettings(budget="5/minute"))
        rows = list_due_pages(tmp_path, limited_request, RefreshMode.ONCE, time.time() + 30 * DAY)
        assert len(rows) == 5
        assert all("seen once" in row.reason for row in rows)
        before = site.hits.copy()
        refresh(tmp_path, limited_request, RefreshMode.ONCE, clock=lambda: time.time() + 30 * DAY)
        asked = {site.root + path for path in site.hits - before if path.startswith("/p") or path == "/"}
        assert asked == {row.url for row in rows}


def test_hints_are_cleared_when_url_leaves_sitemap(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        site.pages["/sitemap.xml"] = urlset(site, dict.fromkeys(("/p0", "/p1"), "2020-01-01T00:00:00Z"))
        crawl(tmp_path, request(site, maps=True))
        assert load_announcers(tmp_path) == {"/p0": 1, "/p1": 1}
        site.pages["/sitemap.xml"] = urlset(site, {"/p1": "2020-01-01T00:00:00Z"})
        go(site, tmp_path, RefreshMode.ONCE, maps=True)
        assert load_announcers(tmp_path) == {"/p1": 1}
        del site.pages["/sitemap.xml"]
        for day in range(6):
            go(site, tmp_path, RefreshMode.ONCE, days=8 * day, maps=True)
        assert load_announcers(tmp_path) == {}


def test_pages_rated_by_users_get_more_weight(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        with closing(open_event_log(tmp_path)) as log:
            log.db.execute("INSERT INTO weights VALUES ('', ?, 1.0, 9, 9, 5, '', 0)", (site.root + "/p1",))
        go(site, tmp_path, RefreshMode.ONCE)
        with open_collection_read_only(tmp_path) as collection:
            sql = "SELECT u.path, d.weight FROM due AS d JOIN urls AS u ON u.id = d.url WHERE d.weight <> 1"
            assert collection.db.execute(sql).fetchall() == [("/p1", 2.0)]

"""Coming back: the real crawler refreshes a real site."""

import json
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.revisiting import DAY, WORDS, go, request, texts
from tests.web import Page, Site, html, redirect, tree

from sanderling.cli import main
from sanderling.errors import CollectionError, UsageError
from sanderling.feedback.log import open_log
from sanderling.organise import dust
from sanderling.pages.again import is_served
from sanderling.refresh.history import decode
from sanderling.revisits import Mode, expected, refresh
from sanderling.session import Request, crawl
from sanderling.settings import Revisit
from sanderling.store.collection import open_collection, read_collection
from sanderling.store.listing import pages

XML = {"Content-Type": "application/xml"}


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


def test_a_page_with_another_clock_is_unchanged(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        site.pages["/p1"] = html("/", text=f"{WORDS} Generated on 2026-03-01 at 08:15:01.")
        crawl(tmp_path, request(site))
        site.pages["/p1"] = html("/", text=f"{WORDS} Generated on 2026-03-02 at 09:20:44.")
        seen = go(site, tmp_path, Mode.ALL)
        assert (seen.visited, seen.not_modified, seen.unchanged, seen.changed) == (4, 3, 1, 0)


def test_the_mark_of_a_restless_page_is_made_from_that_of_its_last_version(tmp_path: Path) -> None:
    text = "".join(f"<p>{WORDS} Paragraph {number} of many.</p>" for number in range(30))
    with Site(texts(1)) as site:
        crawl(tmp_path, request(site))
        served = []
        for visit in range(5):
            site.pages["/p0"] = html("/", text=f"{text}<p>Generated on 2026-03-0{visit + 1} at 08:15:0{visit}.</p>")
            seen = go(site, tmp_path, Mode.ALL)
            assert seen.changed == (not visit)
            with closing(read_collection(tmp_path)) as collection:
                rows = collection.db.execute("SELECT value FROM marks WHERE kind = 'signature'").fetchall()
            served.append([is_served(value) for (value,) in rows])
        assert served == [[False], [False], [True], [True], [True]]


def test_a_refresh_passes_over_other_spellings_of_a_page(tmp_path: Path) -> None:
    pages = {"/": html("/a?ref=1", "/a", text=WORDS)} | dict.fromkeys(("/a", "/a?ref=1"), html("/", text=WORDS))
    with Site(pages) as site:
        crawl(tmp_path, request(site))
        with open_collection(tmp_path) as collection:
            dust.save(collection.db, [dust.Rule(dust.site_of(site.root + "/"), dust.Kind.PARAMETER, "ref")])
        assert len(expected(tmp_path, request(site), Mode.ALL, time.time())) == 2
        assert go(site, tmp_path, Mode.ONCE, days=30).visited == 2
        assert go(site, tmp_path, Mode.ALL).visited == 2
        with open_collection(tmp_path) as collection:
            dust.save(collection.db, [])
        assert go(site, tmp_path, Mode.ALL).visited == 3


def test_a_notice_in_the_place_of_a_page_is_an_outage_and_no_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site(texts(2)) as site:
        there = site.pages["/p1"]
        crawl(tmp_path, request(site))
        site.pages["/p1"] = html(text="<h1>We are down for maintenance</h1>")
        assert go(site, tmp_path, Mode.ALL).changed == 0
        site.pages["/p1"] = there
        assert go(site, tmp_path, Mode.ALL).changed == 0
        assert main(["changes", "--json", "-C", str(tmp_path)]) == 0
        assert capsys.readouterr().out == ""


def test_a_login_that_always_was_one_is_a_page(tmp_path: Path) -> None:
    form = "<h1>Log in</h1><form><input name=who><input type=password name=word></form>"
    with Site(texts(1)) as site:
        site.pages["/p0"] = html("/", text=form)
        crawl(tmp_path, request(site))
        site.pages["/p0"] = html("/", text=f"{form}<p>New here? Ask the warden for a key to the hide.</p>")
        assert go(site, tmp_path, Mode.ALL).changed == 1


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


def test_a_page_that_returns_with_other_words_is_a_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        before, site.pages["/p1"] = site.pages["/p1"], Page(b"", 404)
        assert [go(site, tmp_path, Mode.ALL).gone for _ in range(2)] == [0, 1]
        site.pages["/p1"] = before
        crawl(tmp_path, request(site))
        assert main(["changes", "-C", str(tmp_path), "--json"]) == 0
        assert capsys.readouterr().out == ""
        site.pages["/p1"] = Page(b"", 404)
        assert [go(site, tmp_path, Mode.ALL).gone for _ in range(2)] == [0, 1]
        site.pages["/p1"] = html("/", text="Quite another story is told here since it came back, of gulls and of rope.")
        crawl(tmp_path, request(site))
        assert main(["changes", "-C", str(tmp_path), "--json"]) == 0
        (change,) = map(json.loads, capsys.readouterr().out.splitlines())
        assert (change["url"], "content" in change["kinds"]) == (f"{site.root}/p1", True)


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
                from sanderling.coordinator import Coordinator
                from sanderling.ending import Finish

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
        rows = expected(tmp_path, request(site), Mode.ALL, time.time())
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


def test_a_page_that_moved_keeps_its_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        for days in (20, 40):
            site.pages["/p1"] = html("/", text=f"{WORDS} And another long story of {days} days was told since then.")
            go(site, tmp_path, Mode.ALL, days=days)
        site.pages["/moved"], site.pages["/p1"] = site.pages["/p1"], redirect("/moved", 301)
        go(site, tmp_path, Mode.ALL, days=60)
        with read_collection(tmp_path) as collection:
            sql = "SELECT d.state FROM due AS d JOIN urls AS u ON u.id = d.url WHERE u.path = '/moved'"
            (state,) = collection.db.execute(sql).fetchone()
        assert (decode(state).visits, decode(state).changes) == (4, 2)
        assert main(["history", site.root + "/moved", "-C", str(tmp_path), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["moved_from"] == [site.root + "/p1"]
        assert len(told["visits"]) == 5


def test_a_host_that_vanished_loses_nothing_and_may_come_back(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
    root = site.root
    down = refresh(tmp_path, request(site), Mode.ONCE, clock=lambda: time.time() + 30 * DAY)
    assert (down.changed, down.gone, down.unreachable) == (0, 0, (root,))
    with read_collection(tmp_path) as collection:
        assert len(list(pages(collection.db, "p.status = 200"))) == 4
    with Site(texts(3), port=int(root.rpartition(":")[2])) as back:
        assert back.root == root
        assert go(back, tmp_path, Mode.ONCE, days=60).visited == 4


def test_a_clock_that_jumped_back_loses_nothing(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        go(site, tmp_path, Mode.ALL, days=100)
        back = go(site, tmp_path, Mode.ALL, days=-50)
        assert (back.visited, back.gone) == (4, 0)
        assert go(site, tmp_path, Mode.ONCE, days=300).visited == 4


def test_an_empty_collection_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": Page(b"", 404)}) as site:
        crawl(tmp_path, request(site))
        assert main(["refresh", "-C", str(tmp_path), "--json"]) == 0
        shown = capsys.readouterr()
        assert json.loads(shown.out)["visited"] == 0
        assert "holds no page" in shown.err


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--budget", "lots"], "cannot be read"),
        (["--budget", "0/day"], "leaves nothing to visit"),
        (["--budget", "5/fortnight"], "no period of time"),
        (["--policy", "learnt"], "did you mean learned"),
    ],
)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_a_bad_wish_gets_one_sentence_and_code_four(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], sentence: str, dry: list[str]
) -> None:
    with Site(tree(1)) as site:
        crawl(tmp_path, request(site))
    assert main(["refresh", "-C", str(tmp_path), *flags, *dry]) == 4
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert len(shown.err.strip().splitlines()) == 1


def test_a_budget_that_was_not_spent_is_saved_up_for_its_period(tmp_path: Path) -> None:
    with Site(texts(30)) as site:
        crawl(tmp_path, request(site))

        def visited(days: float) -> int:
            wish = request(site, Revisit(budget="20/day"))
            return refresh(tmp_path, wish, Mode.ONCE, clock=lambda: time.time() + days * DAY).visited

        assert visited(30) == 20
        assert visited(30.25) == 5
        assert visited(40) == 6


def test_a_dry_run_keeps_to_the_budget_and_visits_what_a_refresh_visits(tmp_path: Path) -> None:
    with Site(texts(12)) as site:
        crawl(tmp_path, request(site))
        wish = request(site, Revisit(budget="5/minute"))
        rows = expected(tmp_path, wish, Mode.ONCE, time.time() + 30 * DAY)
        assert len(rows) == 5
        assert all("seen once" in row.why for row in rows)
        before = site.hits.copy()
        refresh(tmp_path, wish, Mode.ONCE, clock=lambda: time.time() + 30 * DAY)
        asked = {site.root + path for path in site.hits - before if path.startswith("/p") or path == "/"}
        assert asked == {row.url for row in rows}


def test_hints_go_when_the_url_leaves_the_sitemap(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        site.pages["/sitemap.xml"] = urlset(site, dict.fromkeys(("/p0", "/p1"), "2020-01-01T00:00:00Z"))
        crawl(tmp_path, request(site, maps=True))
        assert covered(tmp_path) == {"/p0": 1, "/p1": 1}
        site.pages["/sitemap.xml"] = urlset(site, {"/p1": "2020-01-01T00:00:00Z"})
        go(site, tmp_path, Mode.ONCE, maps=True)
        assert covered(tmp_path) == {"/p1": 1}
        del site.pages["/sitemap.xml"]
        for day in range(6):
            go(site, tmp_path, Mode.ONCE, days=8 * day, maps=True)
        assert covered(tmp_path) == {}


def covered(folder: Path) -> dict[str, int]:
    """The pages whose changes somebody announces."""
    with read_collection(folder) as collection:
        sql = "SELECT u.path, d.state FROM due AS d JOIN urls AS u ON u.id = d.url"
        rows = collection.db.execute(sql).fetchall()
    return {path: bits for path, state in rows if (bits := decode(state).announced_by)}


def test_pages_that_users_like_are_worth_more(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        with closing(open_log(tmp_path)) as log:
            log.db.execute("INSERT INTO weights VALUES ('', ?, 1.0, 9, 9, 5, '', 0)", (site.root + "/p1",))
        go(site, tmp_path, Mode.ONCE)
        with read_collection(tmp_path) as collection:
            sql = "SELECT u.path, d.weight FROM due AS d JOIN urls AS u ON u.id = d.url WHERE d.weight <> 1"
            assert collection.db.execute(sql).fetchall() == [("/p1", 2.0)]

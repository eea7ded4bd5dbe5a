"""Refreshes of a real site."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.revisiting import DAY, WORDS, go, request, texts
from tests.support.site import Page, Site, html, redirect, tree

from sanderling.cli import main
from sanderling.config.settings import LimitSettings, RevisitSettings
from sanderling.crawl.refresh import RefreshMode, refresh
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.dedup.duplicate_stats import load_duplicate_stats
from sanderling.dedup.near_duplicates import load_pairs
from sanderling.errors import CollectionError, UsageError
from sanderling.fingerprint.fast.stable_hash import unpack_stable_hash
from sanderling.fingerprint.model import is_current_fingerprint
from sanderling.revisit.visit_history import decode_history
from sanderling.storage.collection import open_collection, open_collection_read_only
from sanderling.storage.page_history import load_change_classes
from sanderling.storage.queries import load_pages, load_skipped_urls
from sanderling.templates.template_index import open_template_index


def test_refresh_all_counts_changed_new_moved_and_unchanged(tmp_path: Path) -> None:
    with Site(texts(6)) as site:
        crawl(tmp_path, request(site))
        site.pages["/p1"] = html("/", "/new", text=WORDS + " But today a quite different story is here about the sea.")
        site.pages["/new"] = html(text="new")
        site.pages["/p2"] = redirect("/p3", 301)
        site.pages["/p4"].etag = False
        seen = go(site, tmp_path, RefreshMode.ALL)
        assert (seen.changed, seen.new, seen.moved, seen.gone) == (1, 1, 1, 0)
        assert (seen.not_modified, seen.unchanged) == (4, 1)


def test_timestamp_is_not_a_change(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        site.pages["/p1"] = html("/", text=f"{WORDS} Generated on 2026-03-01 at 08:15:01.")
        crawl(tmp_path, request(site))
        site.pages["/p1"] = html("/", text=f"{WORDS} Generated on 2026-03-02 at 09:20:44.")
        seen = go(site, tmp_path, RefreshMode.ALL)
        assert (seen.visited, seen.not_modified, seen.unchanged, seen.changed) == (4, 3, 1, 0)


def test_stable_hash_ignores_tokens_but_not_text(tmp_path: Path) -> None:
    def page(visit: int, words: str = "") -> Page:
        token = f'<form><input type=hidden name=csrf value="{visit}"></form><!-- {visit} -->'
        return Page(f"<meta charset=utf-8><title>Birds</title>{token}<p>{WORDS}{words}</p><a href=/>up</a>".encode())

    with Site(texts(1)) as site:
        site.pages["/p0"] = page(0)
        crawl(tmp_path, request(site))
        hashes = []
        for visit, words in enumerate(("", "", "", " And the gulls do too.", " And the gulls do too.")):
            site.pages["/p0"] = page(visit + 1, words)
            seen = go(site, tmp_path, RefreshMode.ALL)
            assert (seen.changed, seen.unchanged) == (visit == 3, visit != 3)
            with closing(open_collection_read_only(tmp_path)) as collection:
                rows = collection.db.execute(
                    "SELECT m.value, p.digest FROM fingerprints AS m JOIN pages AS p ON p.url = m.url"
                    " WHERE kind = 'stable_hash'"
                )
                hashes += [unpack_stable_hash(value, digest) for value, digest in rows.fetchall()]
        assert hashes == [hashes[0]] * 3 + [hashes[3]] * 2
        assert hashes[0] != hashes[3]


def test_full_fingerprint_is_stored_only_if_tags_differ(tmp_path: Path) -> None:
    text = "".join(f"<p>{WORDS} Paragraph {number} of many.</p>" for number in range(30))
    with Site(texts(1)) as site:
        crawl(tmp_path, request(site))
        fingerprinted = []
        for visit, tags in enumerate(("", "", "", "<hr>", "<p>Update.</p>", "<p>Update.</p>")):
            content = f"{text}{tags}<p>Generated on 2026-03-0{visit + 1} at 08:15:0{visit}.</p>"
            site.pages["/p0"] = Page(f"<title>Birds</title>{content}".encode())
            seen = go(site, tmp_path, RefreshMode.ALL)
            assert seen.changed == (visit in (0, 3, 4))
            with closing(open_collection_read_only(tmp_path)) as collection:
                rows = collection.db.execute("SELECT kind, value FROM fingerprints WHERE url > 1").fetchall()
            assert {kind for kind, _ in rows}.isdisjoint(("before", "after"))
            fingerprinted.append([is_current_fingerprint(value) for kind, value in rows if kind == "page"])
        assert fingerprinted == [[True], [False], [False], [True], [True], [False]]


def test_maintenance_notice_is_outage_not_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(texts(2)) as site:
        there = site.pages["/p1"]
        crawl(tmp_path, request(site))
        site.pages["/p1"] = html(text="<h1>We are down for maintenance</h1>")
        assert go(site, tmp_path, RefreshMode.ALL).changed == 0
        site.pages["/p1"] = there
        assert go(site, tmp_path, RefreshMode.ALL).changed == 0
        assert main(["changes", "--json", "-C", str(tmp_path)]) == 0
        assert capsys.readouterr().out == ""


def test_login_page_is_compared_like_other_pages(tmp_path: Path) -> None:
    form = "<h1>Log in</h1><form><input name=who><input type=password name=word></form>"
    with Site(texts(1)) as site:
        site.pages["/p0"] = html("/", text=form)
        crawl(tmp_path, request(site))
        site.pages["/p0"] = html("/", text=f"{form}<p>New here? Ask the warden for a key to the hide.</p>")
        assert go(site, tmp_path, RefreshMode.ALL).changed == 1


def test_same_text_under_error_heading_is_not_an_outage(tmp_path: Path) -> None:
    text = "".join(f"<p>{WORDS} Paragraph {number} of some.</p>" for number in range(12))
    with Site(texts(1)) as site:
        site.pages["/p0"] = html("/", text=f"<h1>How the count went</h1>{text}")
        crawl(tmp_path, request(site))
        site.pages["/p0"] = html("/", text=f"<h1>An error occurred in the count</h1>{text}")
        assert go(site, tmp_path, RefreshMode.ALL).changed == 1


def test_page_is_gone_after_two_misses(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        del site.pages["/p1"]
        first = go(site, tmp_path, RefreshMode.ALL)
        with open_collection_read_only(tmp_path) as collection:
            assert site.root + "/p1" in {row.url for row in load_pages(collection.db, "p.status = 200")}
        second = go(site, tmp_path, RefreshMode.ALL)
        assert (first.gone, second.gone) == (0, 1)
        with open_collection_read_only(tmp_path) as collection:
            assert site.root + "/p1" not in {row.url for row in load_pages(collection.db, "p.status = 200")}


def test_page_that_returns_with_other_text_is_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        before, site.pages["/p1"] = site.pages["/p1"], Page(b"", 404)
        assert [go(site, tmp_path, RefreshMode.ALL).gone for _ in range(2)] == [0, 1]
        site.pages["/p1"] = before
        crawl(tmp_path, request(site))
        assert main(["changes", "-C", str(tmp_path), "--json"]) == 0
        assert capsys.readouterr().out == ""
        site.pages["/p1"] = Page(b"", 404)
        assert [go(site, tmp_path, RefreshMode.ALL).gone for _ in range(2)] == [0, 1]
        site.pages["/p1"] = html(
            "/", text="Quite another story is written here since it came back, of gulls and of rope."
        )
        crawl(tmp_path, request(site))
        assert main(["changes", "-C", str(tmp_path), "--json"]) == 0
        (change,) = map(json.loads, capsys.readouterr().out.splitlines())
        assert (change["url"], "content" in change["kinds"]) == (f"{site.root}/p1", True)


@pytest.mark.usefixtures("soon_again")
def test_server_error_is_not_a_change(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        site.pages["/p1"] = Page(b"oops", 500)
        seen = go(site, tmp_path, RefreshMode.ALL)
        assert (seen.changed, seen.gone) == (0, 0)
        with open_collection_read_only(tmp_path) as collection:
            assert len(list(load_pages(collection.db, "p.status = 200"))) == 4


def test_refresh_command_uses_settings_of_crawl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(tree(5)) as site:
        common = ["-C", str(tmp_path), "--quiet"]
        main(["crawl", site.root, *common, "--delay", "0", "--allow-private", "--no-sitemaps", "--workers", "1"])
        assert main(["refresh", *common, "--all", "--json"]) == 0
        summary = json.loads(capsys.readouterr().out.splitlines()[-1])
        keys = ["due", "visited", "not_modified", "unchanged", "changed", "new", "gone", "moved", "bytes"]
        keys += ["bytes_saved", "seconds"]
        assert list(summary)[: len(keys)] == keys
        assert (summary["visited"], summary["not_modified"]) == (5, 5)


def test_invalid_refresh_request_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="no collection"):
        refresh(tmp_path / "none", CrawlRequest(()))
    with Site(tree(1)) as site:
        crawl(tmp_path, request(site))
        with pytest.raises(UsageError, match="invalid budget"):
            refresh(tmp_path, request(site, RevisitSettings(budget="lots")))
        with pytest.raises(UsageError, match="unknown revisit policy"):
            refresh(tmp_path, request(site, RevisitSettings(policy="weekly")))


def test_unreliable_etags_are_no_longer_sent(tmp_path: Path) -> None:
    class UnreliableSite(Site):
        def answer(self, handler: object) -> None:
            for page in self.pages.values():
                page.etag = False
                page.headers = {
                    **page.headers,
                    "ETag": f'"{len(self.requests)}"',
                    "Last-Modified": "Tue, 01 Oct 2024 10:00:00 GMT",
                }
            super().answer(handler)  # type: ignore[arg-type]

    with UnreliableSite(texts(4)) as site:
        crawl(tmp_path, request(site))
        go(site, tmp_path, RefreshMode.ALL)
        site.requests.clear()
        go(site, tmp_path, RefreshMode.ALL)
        sent = [headers for path, headers in site.requests if path.startswith("/p")]
        assert sent
        assert not any("if-none-match" in headers for headers in sent)
        assert all("if-modified-since" in headers for headers in sent)


def test_moved_page_keeps_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        for days in (20, 40):
            site.pages["/p1"] = html("/", text=f"{WORDS} And another long story of {days} days was added since then.")
            go(site, tmp_path, RefreshMode.ALL, days=days)
        site.pages["/moved"], site.pages["/p1"] = site.pages["/p1"], redirect("/moved", 301)
        go(site, tmp_path, RefreshMode.ALL, days=60)
        with open_collection_read_only(tmp_path) as collection:
            sql = "SELECT d.state FROM due AS d JOIN urls AS u ON u.id = d.url WHERE u.path = '/moved'"
            (state,) = collection.db.execute(sql).fetchone()
        assert (decode_history(state).visits, decode_history(state).changes) == (4, 2)
        assert main(["history", site.root + "/moved", "-C", str(tmp_path), "--json"]) == 0
        load_changes = json.loads(capsys.readouterr().out)
        assert load_changes["moved_from"] == [site.root + "/p1"]
        assert len(load_changes["visits"]) == 5


def test_unreachable_host_keeps_pages_and_recovers(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
    root = site.root
    down = refresh(tmp_path, request(site), RefreshMode.ONCE, clock=lambda: time.time() + 30 * DAY)
    assert (down.changed, down.gone, down.unreachable) == (0, 0, (root,))
    with open_collection_read_only(tmp_path) as collection:
        assert len(list(load_pages(collection.db, "p.status = 200"))) == 4
    with Site(texts(3), port=int(root.rpartition(":")[2])) as back:
        assert back.root == root
        assert go(back, tmp_path, RefreshMode.ONCE, days=60).visited == 4


def test_refresh_continues_if_clock_was_set_back(tmp_path: Path) -> None:
    with Site(texts(3)) as site:
        crawl(tmp_path, request(site))
        go(site, tmp_path, RefreshMode.ALL, days=100)
        back = go(site, tmp_path, RefreshMode.ALL, days=-50)
        assert (back.visited, back.gone) == (4, 0)
        assert go(site, tmp_path, RefreshMode.ONCE, days=300).visited == 4


def test_refresh_of_empty_collection_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": Page(b"", 404)}) as site:
        crawl(tmp_path, request(site))
        assert main(["refresh", "-C", str(tmp_path), "--json"]) == 0
        shown = capsys.readouterr()
        assert json.loads(shown.out)["visited"] == 0
        assert "contains no pages" in shown.err


def test_nothing_is_due_in_empty_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sanderling.db").touch()
    assert main(["refresh", "-C", str(tmp_path), "--dry-run"]) == 0
    assert "nothing is due" in capsys.readouterr().err


def test_dry_run_without_schedule_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    open_collection(tmp_path).close()
    before = (tmp_path / "sanderling.db").read_bytes()
    assert main(["refresh", "-C", str(tmp_path), "--dry-run"]) == 0
    assert (tmp_path / "sanderling.db").read_bytes() == before
    with open_collection(tmp_path):  # nor does it need the write lock
        assert main(["refresh", "-C", str(tmp_path), "--dry-run"]) == 0
    assert "nothing is due" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--budget", "lots"], "invalid budget"),
        (["--budget", "0/day"], "allows no visit"),
        (["--budget", "5/fortnight"], "period must be one of"),
        (["--policy", "learnt"], "did you mean learned"),
    ],
)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_invalid_option_prints_one_line_and_exits_with_four(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], sentence: str, dry: list[str]
) -> None:
    with Site(tree(1)) as site:
        crawl(tmp_path, request(site))
    assert main(["refresh", "-C", str(tmp_path), *flags, *dry]) == 4
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert len(shown.err.strip().splitlines()) == 1


def test_run_evicts_pages_before_final_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    @contextmanager
    def record_checkpoints(_: Path) -> Iterator[Callable[[], None]]:
        yield lambda: steps.append("log")

    monkeypatch.setattr("sanderling.crawl.open_context.run_checkpoints", record_checkpoints)
    monkeypatch.setattr("sanderling.crawl.run.evict_worst", lambda *_: steps.append("pages"))
    with Site(texts(3)) as site:
        limited = replace(request(site), limits=LimitSettings(keep=2))
        crawl(tmp_path, limited)
        assert steps == ["pages", "log"]
        refresh(tmp_path, limited, RefreshMode.ALL)
    assert steps == ["pages", "log"] * 2


PDF = Page(b"%PDF-1.4 of the tides", headers={"Content-Type": "application/pdf"})
PLAIN = Page(b"The tides\nof this week\n", headers={"Content-Type": "text/plain"})
LISTED = "<ul><li>high water<li>low water</ul>"


def load_changes(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[list[str], bool]]:
    """List the kinds and significance of all changes, oldest first."""
    capsys.readouterr()
    assert main(["changes", "--json", "--noise", "-C", str(folder)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [(row["kinds"], row["significance"] > 0) for row in reversed(rows)]


def visit_versions(folder: Path, *versions: Page) -> None:
    """Crawl a page, then refresh it with each of the other versions."""
    with Site({"/": html("/a", text=WORDS), "/a": versions[0]}) as site:
        for day, version in enumerate(versions):
            site.pages["/a"] = version
            if day:
                go(site, folder, RefreshMode.ALL, days=day)
            else:
                crawl(folder, request(site))


@pytest.mark.parametrize("between", [PDF, PLAIN])
def test_page_is_compared_with_intermediate_document_type(
    between: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fingerprinted = html(text=f"{WORDS}{LISTED}")
    visit_versions(
        tmp_path, html(text=WORDS), fingerprinted, between, fingerprinted, html(text=f"{WORDS} Mind the gulls.{LISTED}")
    )
    kinds = load_changes(tmp_path, capsys)
    assert [matters for _, matters in kinds] == [True] * 4, "the page disappeared and returned"
    assert kinds[1][0] == kinds[2][0], "both transitions are changes of the same kind"
    assert kinds[3][0] == ["content"], "HTML versions are compared again"


@pytest.mark.parametrize("between", [PDF, PLAIN, Page(b"<p>" * 4_000_000)])
def test_non_html_version_has_no_fingerprint(between: Page, tmp_path: Path) -> None:
    visit_versions(tmp_path, html(text=WORDS), html(text=f"{WORDS}{LISTED}"), between)
    with open_collection_read_only(tmp_path) as collection:
        kinds = collection.db.execute(
            "SELECT m.kind FROM fingerprints AS m JOIN urls AS u ON u.id = m.url WHERE u.path = '/a'"
        ).fetchall()
    assert kinds == []


def test_page_after_redirect_is_compared_with_latest_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, since = f"<title>Tides</title><p>{WORDS}", f"<title>Tides</title><p>{WORDS} The gulls are back.{LISTED}"
    versions = [Page(body.encode()) for body in (first, first + LISTED, since, f"{since}<br>")]
    visit_versions(tmp_path, *versions[:2], redirect("/"), *versions[2:])
    kinds = load_changes(tmp_path, capsys)
    assert kinds[-1] == (["presentation"], True), "compared with the version after the redirect"


@pytest.mark.parametrize(
    ("status", "more"), [(206, {"Content-Range": "bytes 0-{}/{}"}), (203, {"Warning": "214 - transformed"})]
)
def test_other_2xx_pages_are_compared(
    status: int, more: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def page(text: str) -> Page:
        body = f"<title>Tides</title><p>{text}".encode()
        content = {name: value.format(len(body) - 1, len(body)) for name, value in more.items()}
        return Page(body, status, {"Content-Type": "text/html", **content})

    visit_versions(tmp_path, page(WORDS), page(f"{WORDS} Mind the gulls."))
    assert load_changes(tmp_path, capsys) == [(["content"], True)]


def test_other_2xx_pages_have_classes_duplicates_and_structure(tmp_path: Path) -> None:
    words = [f"<title>Tides</title><h1>Tides</h1><p>{WORDS} {WORDS}<ul><li>{n}</ul>".encode() for n in "ab"]
    with Site({"/": html("/a", "/b"), "/a": Page(words[0], 203), "/b": Page(words[1], 203)}) as site:
        crawl(tmp_path, request(site))
    with open_collection_read_only(tmp_path) as collection, open_template_index(collection) as index:
        assert len(list(load_change_classes(collection.db))) == 3
        assert len(list(load_pairs(collection.db))) == load_duplicate_stats(collection.db).near_duplicate_pages == 1
        assert index.db.execute("SELECT count(*) FROM template_pages").fetchone() == (3,)


def test_links_of_multiple_choices_response_are_followed(tmp_path: Path) -> None:
    choices = html("/en", "/nl", text="Choose")
    with Site(
        {"/": Page(choices.body, 300, choices.headers), "/en": html(text="tides"), "/nl": html(text="tij")}
    ) as site:
        summary = crawl(tmp_path, request(site))
    assert (summary.pages, summary.failed) == (2, 1)
    with open_collection_read_only(tmp_path) as collection:
        (row,) = load_skipped_urls(collection.db)
    assert (row.reason, row.detail) == ("http_error", "status 300, multiple choices")

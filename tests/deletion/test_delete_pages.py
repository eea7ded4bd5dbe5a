"""Pages are taken out of a collection for good; nothing of them can be found, and nothing else is lost."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.support.site import Page, Site, html
from warcio.archiveiterator import ArchiveIterator

from sanderling.cli import main
from sanderling.deletion.delete_pages import PAGE_COLUMNS, delete_pages
from sanderling.deletion.selection import DeletionSelection, is_unfinished, list_blocked_patterns
from sanderling.storage.collection import open_collection, open_collection_read_only
from sanderling.storage.queries import find_url_id, load_pages, load_skipped_urls, load_stored_record
from sanderling.warc.erase import build_filler
from sanderling.warc.warc_reader import DamagedRegion, StoredRecord, iterate_records

SECRET = "the letter that nobody was meant to read, with a name in it: Albertine"
SHARED = "the same words under three addresses, stored once and repeated twice"
FLAGS = ("--delay", "0", "--allow-private", "--quiet", "--workers", "1", "--no-sitemaps")


def site_pages() -> dict[str, Page]:
    twins = {f"/twin{n}": html(text=SHARED) for n in range(3)}
    return {
        "/": html("/letter", "/people/a", "/twin0", text="root"),
        "/letter": html(text=SECRET),
        "/people/a": html("/people/b", "/twin1", "/twin2", text=f"{SECRET} a"),
        "/people/b": html(text=f"{SECRET} b"),
        **twins,
    }


def crawl(site: Site, folder: Path, *flags: str) -> int:
    return main(["crawl", site.root + "/", "-C", str(folder), *FLAGS, *flags])


def held(folder: Path) -> set[str]:
    with open_collection_read_only(folder) as collection:
        return {"/" + row.url.split("/", 3)[3] for row in load_pages(collection.db)}


def reasons(folder: Path) -> dict[str, str]:
    with open_collection_read_only(folder) as collection:
        return {"/" + row.url.split("/", 3)[3]: row.reason for row in load_skipped_urls(collection.db)}


def body(folder: Path, url: str) -> bytes:
    with open_collection_read_only(folder) as collection:
        return load_stored_record(collection, find_url_id(collection.db, url), url).body


def records(folder: Path) -> list[StoredRecord]:
    """All records, each with its digests checked; none may be damaged."""
    found = [
        record for path in sorted((folder / "archive").glob("*.gz")) for record in iterate_records(path, verify=True)
    ]
    assert not [record for record in found if isinstance(record, DamagedRegion)]
    return [record for record in found if isinstance(record, StoredRecord)]


def bytes_of(folder: Path) -> bytes:
    """Everything in a collection but its logs and words, archive unpacked."""
    aside = {"logs", "index"}  # logs name URLs; the files of the full-text index shrink when it merges them
    paths = [path for path in folder.rglob("*") if aside.isdisjoint(path.relative_to(folder).parts)]
    files = [path for path in paths if path.is_file() and path.suffix != ".gz"]
    unpacked = [record.body + str(record.fields).encode() for record in records(folder)]
    return b"".join([*(path.read_bytes() for path in files), *unpacked])


def test_a_forgotten_page_is_nowhere_and_stays_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        assert b"Albertine" in bytes_of(tmp_path)
        assert main(["delete", site.root + "/letter", f"{site.root}/people/*", "-C", str(tmp_path), "--yes"]) == 0
        assert "forgot 3 pages" in capsys.readouterr().out
        assert held(tmp_path) == {"/", "/twin0", "/twin1", "/twin2"}
        assert reasons(tmp_path) == dict.fromkeys(("/letter", "/people/a", "/people/b"), "forgotten")
        assert b"Albertine" not in bytes_of(tmp_path)
        assert "letter" not in (tmp_path / "indexes" / "index.cdxj").read_text()
        asked = site.hits["/letter"]
        site.pages["/"] = html("/letter", "/people/a", "/people/new", "/twin0", text="another root")
        site.pages["/people/new"] = html(text="new")
        crawl(site, tmp_path)
        assert (site.hits["/letter"], site.hits["/people/new"]) == (asked, 0)
        assert reasons(tmp_path)["/people/new"] == "forgotten"


def test_what_is_forgotten_may_come_back_if_somebody_says_so(tmp_path: Path) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        at = ["-C", str(tmp_path)]
        assert main(["delete", f"{site.root}/people/*", "--yes", *at]) == 0
        assert main(["delete", "--undo", f"{site.root}/people/b", *at]) == 4
        assert main(["delete", "--undo", f"{site.root}/people/*", *at]) == 0
        crawl(site, tmp_path)
        assert {"/people/a", "/people/b"} <= held(tmp_path)


def test_pages_with_the_same_body_keep_it(tmp_path: Path) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        crawl(site, tmp_path)  # visits that found nothing new lean on the first record too
        with open_collection_read_only(tmp_path) as collection:
            (first,) = [row.url for row in load_pages(collection.db) if "twin" in row.url and not row.duplicate_of]
        assert main(["delete", first, "--yes", "-C", str(tmp_path)]) == 0
        others = [site.root + path for path in ("/twin0", "/twin1", "/twin2") if site.root + path != first]
        assert [body(tmp_path, url) for url in others] == [site.pages["/twin0"].body] * 2
        assert first not in "".join(record.url for record in records(tmp_path))
        crawl(site, tmp_path)
        site.pages["/late"] = html(text=SHARED)
        site.pages["/"] = html("/late", text="root again")
        crawl(site, tmp_path)
        assert body(tmp_path, site.root + "/late") == site.pages["/late"].body
        lines = (tmp_path / "indexes" / "index.cdxj").read_text().splitlines()
        places = {(r.location.file, r.location.offset): r.url for r in records(tmp_path)}
        for line in lines:
            facts = json.loads(line.split(" ", 2)[2])
            assert facts["url"] != first
            leads_to = places[facts["filename"], int(facts["offset"])]
            twins = {leads_to, facts["url"]} <= {*others, site.root + "/late"}  # a 304 leads to the body it confirmed
            assert twins or leads_to == facts["url"]


def test_other_readers_pass_over_what_was_erased(tmp_path: Path) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        main(["delete", f"{site.root}/letter", "--yes", "-C", str(tmp_path)])
        with next((tmp_path / "archive").glob("*.gz")).open("rb") as file:
            found = [record.rec_headers.get_header("WARC-Target-URI") for record in ArchiveIterator(file)]
        assert f"{site.root}/people/a" in found
        assert f"{site.root}/letter" not in found


@pytest.mark.parametrize("length", [23, 100, 240, 250, 251, 252, 340, 65_552, 65_553, 65_559, 200_000])
def test_a_filler_has_exactly_the_length_it_fills(length: int) -> None:
    assert len(build_filler(length, 0.0)) == length


@pytest.mark.parametrize("step", ["erase_records", "_remove_from_search", "remove_entries", "clear_pending_deletion"])
def test_whatever_stops_it_the_next_call_goes_on(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        if step == "_remove_from_search":
            pytest.importorskip("tantivy")
            main(["search", "albertine", "-C", str(tmp_path)])
        with monkeypatch.context() as patch:
            patch.setattr(
                f"sanderling.deletion.page_deleter.{step}"
                if step == "clear_pending_deletion"
                else f"sanderling.deletion.delete_pages.{step}",
                die,
            )
            with pytest.raises(Killed):
                delete_pages(tmp_path, DeletionSelection([f"{site.root}/letter", f"{site.root}/people/*"]))
        assert is_unfinished(tmp_path)
        assert main(["delete", "-C", str(tmp_path)]) == 0
        assert not is_unfinished(tmp_path)
        assert b"Albertine" not in bytes_of(tmp_path)
        assert held(tmp_path) == {"/", "/twin0", "/twin1", "/twin2"}
        assert "letter" not in (tmp_path / "indexes" / "index.cdxj").read_text()


def test_older_versions_leave_the_search_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tantivy")
    from sanderling.search.index import open_search_index

    def found(words: str) -> int:
        main(["search", words, "-C", str(tmp_path), "--json"])
        return len(capsys.readouterr().out.splitlines())

    def versions() -> int:
        index = open_search_index(tmp_path / "index", write=False)
        assert index is not None
        return int(index.history_index.searcher().num_docs)

    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        assert found("albertine") == 3
        site.pages["/letter"] = html(text="nothing to see here any more")
        crawl(site, tmp_path)
        assert (found("albertine"), found("nothing to see here"), versions()) == (2, 1, 1)
        assert main(["delete", f"{site.root}/letter", f"{site.root}/people/*", "--yes", "-C", str(tmp_path)]) == 0
        capsys.readouterr()
        assert (found("albertine"), found("nothing to see here"), versions()) == (0, 0, 0)


def test_nothing_goes_without_a_yes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        at = ["-C", str(tmp_path)]
        assert main(["delete", f"{site.root}/*", *at]) == 4
        assert "--yes" in capsys.readouterr().err
        assert main(["delete", *at]) == 4
        assert main(["delete", "not a url", *at]) == 4
        assert main(["delete", f"{site.root}/*", "--dry-run", "--json", *at]) == 0
        assert json.loads(capsys.readouterr().out)["pages"] == 7
        assert len(held(tmp_path)) == 7
        assert main(["delete", f"{site.root}/letter", "--yes", "--json", *at]) == 0
        assert json.loads(capsys.readouterr().out)["pages"] == 1
        assert main(["check", "url", f"{site.root}/letter", "--allow-private", "--json", *at]) == 0
        assert json.loads(capsys.readouterr().out)["verdict"] == "forgotten"
        assert main(["delete", "--list", *at]) == 0
        assert f"{site.root}/letter" in capsys.readouterr().out
        assert main(["delete", f"{site.root}/", "--yes", *at]) == 0
        assert main(["crawl", *at]) == 4  # no seed is left
    assert list_blocked_patterns(tmp_path)[:1] == [f"{site.root}/letter"]


def test_every_room_says_what_it_keeps_of_a_page(tmp_path: Path) -> None:
    aside = {"visits": "deleted with their digests", "backlinks": "ids alone", "shelves": "ids alone"}
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
    with open_collection_read_only(tmp_path) as collection:
        tables = [name for (name,) in collection.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {(name, row[1]) for name in tables for row in collection.db.execute(f"PRAGMA table_info({name})")}
    naming = {"url", "page", "twin", "resource", "side"}
    assert {place for place in columns if place[1] in naming and place[0] not in aside} == set(PAGE_COLUMNS)


def made_older(folder: Path, days: float) -> None:
    """As if all that was seen had been seen earlier."""
    with open_collection(folder) as collection:
        collection.db.execute("UPDATE visits SET at = at - ?", (days * 86_400,))
        collection.db.execute("UPDATE pages SET last_visit = last_visit - ?", (days * 86_400,))


def test_pages_that_are_gone_for_long_are_forgotten_and_may_return(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["-C", str(tmp_path)]
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        letter = site.pages.pop("/letter")
        crawl(site, tmp_path)
        crawl(site, tmp_path)  # missing twice: it is gone
        made_older(tmp_path, 20)
        assert main(["delete", "--gone", "30d", "--yes", "--json", *at]) == 0
        assert json.loads(capsys.readouterr().out)["pages"] == 0
        assert main(["delete", "--gone", "10d", f"{site.root}/people/*", "--dry-run", "--json", *at]) == 0
        assert json.loads(capsys.readouterr().out)["pages"] == 0
        assert main(["delete", "--gone", "10d", "--dry-run", "--json", *at]) == 0
        assert json.loads(capsys.readouterr().out)["examples"] == [f"{site.root}/letter"]
        assert main(["delete", "--gone", "10d", "--yes", "--json", *at]) == 0
        assert json.loads(capsys.readouterr().out)["pages"] == 1
        assert "/letter" not in held(tmp_path)
        assert SECRET.encode() + b"<" not in bytes_of(tmp_path)
        assert (list_blocked_patterns(tmp_path), reasons(tmp_path)) == ([], {"/letter": "forgotten"})
        site.pages["/letter"] = letter
        crawl(site, tmp_path)
        assert (body(tmp_path, f"{site.root}/letter"), reasons(tmp_path)) == (letter.body, {})


@pytest.mark.usefixtures("soon_again")
def test_pages_that_nobody_found_for_long_are_forgotten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["-C", str(tmp_path)]
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        made_older(tmp_path, 100)
        site.pages["/people/b"] = Page(b"oops", 500)
        crawl(site, tmp_path)
        assert main(["delete", "--not-seen", "90d", *at]) == 4  # nobody can be asked
        capsys.readouterr()
        assert main(["delete", "--not-seen", "90d", "--yes", *at]) == 0
        assert "forgot 1 page;" in capsys.readouterr().out
        assert "/people/b" not in held(tmp_path)
        assert len(held(tmp_path)) == 6
        assert "people/b" not in (tmp_path / "indexes" / "index.cdxj").read_text()
        assert main(["delete", "--not-seen", "90d", *at]) == 0  # nothing is left to ask about
        assert main(["delete", "--not-seen", "90d", "--list", *at]) == 4
        assert main(["delete", "--not-seen", "soon", *at]) == 4


def test_what_was_begun_by_name_is_finished_before_pages_go_by_age(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        with monkeypatch.context() as patched:
            patched.setattr("sanderling.deletion.delete_pages._finish_deletion", stop)
            with pytest.raises(KeyboardInterrupt):
                delete_pages(tmp_path, DeletionSelection([f"{site.root}/people/*", f"{site.root}/letter"]))
        delete_pages(tmp_path, DeletionSelection(gone_since=0.0))
    assert not {"/letter", "/people/a", "/people/b"} & held(tmp_path)
    assert not is_unfinished(tmp_path)
    assert all(b"Albertine" not in record.body for record in records(tmp_path))


@contextmanager
def stopped_after_the_first(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Press Ctrl-C after one page was forgotten."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sanderling.deletion.page_deleter.CHUNK_SIZE", 1)
        patched.setattr("sanderling.deletion.delete_pages._finish_deletion", stop)
        with pytest.raises(KeyboardInterrupt):
            yield


def test_what_was_begun_by_age_is_finished_by_the_next_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        made_older(tmp_path, 100)
        with stopped_after_the_first(monkeypatch):
            delete_pages(tmp_path, DeletionSelection([f"{site.root}/people/*"], unseen_since=time.time() - 90 * 86_400))
        assert main(["delete", "--yes", "-C", str(tmp_path)]) == 0
    assert held(tmp_path) == {"/", "/letter", "/twin0", "/twin1", "/twin2"}
    assert (is_unfinished(tmp_path), list_blocked_patterns(tmp_path)) == (False, [])


@pytest.fixture
def cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A collection of seven old pages; to forget them by age was cut short after the first."""

    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        made_older(tmp_path, 100)
        with stopped_after_the_first(monkeypatch):
            delete_pages(tmp_path, DeletionSelection(unseen_since=time.time() - 90 * 86_400))
        yield site.root
    assert len(records(tmp_path)) > 0  # whatever came after: none is damaged


def counted(capsys: pytest.CaptureFixture[str], *arguments: str) -> int:
    """The pages that a call speaks of."""
    capsys.readouterr()
    assert main(["delete", *arguments, "--json"]) == 0
    return int(json.loads(capsys.readouterr().out)["pages"])


def test_an_age_that_was_cut_short_takes_nothing_with_a_name(
    cut_short: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["-C", str(tmp_path)]
    assert counted(capsys, f"{cut_short}/letter", "--dry-run", *at) == 1
    assert counted(capsys, f"{cut_short}/letter", "--yes", *at) == 1
    assert len(held(tmp_path)) == 5
    assert main(["delete", *at]) == 4  # the rest is asked about
    assert counted(capsys, "--dry-run", *at) == counted(capsys, "--yes", *at) == 5
    assert (held(tmp_path), is_unfinished(tmp_path)) == (set(), False)


def test_another_age_takes_the_place_of_one_that_was_cut_short(
    cut_short: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert counted(capsys, "--not-seen", "200d", "--yes", "-C", str(tmp_path)) == 0
    assert (len(held(tmp_path)), is_unfinished(tmp_path)) == (6, False)


@pytest.mark.parametrize("way_out", ["--undo", "no"])
def test_one_may_think_better_of_an_age_that_was_cut_short(
    way_out: str, cut_short: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if way_out == "no":
        monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
        monkeypatch.setattr("builtins.input", lambda: "n")
    assert counted(capsys, *(["--undo"] if way_out == "--undo" else []), "-C", str(tmp_path)) == 0
    assert (len(held(tmp_path)), is_unfinished(tmp_path)) == (6, False)
    assert main(["delete", "-C", str(tmp_path)]) == 4
    gone = {f"{cut_short}{path}" for path in site_pages()} - {f"{cut_short}{path}" for path in held(tmp_path)}
    assert gone.isdisjoint(record.url for record in records(tmp_path))  # what has begun to go is finished


def test_no_age_is_not_every_age(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        before = held(tmp_path)
        assert main(["delete", "--not-seen", "", f"{site.root}/*", "-C", str(tmp_path), "--yes"]) == 4
        assert "is no time" in capsys.readouterr().err
        assert main(["delete", "--gone", "1970-01-01", f"{site.root}/*", "-C", str(tmp_path), "--yes"]) == 0
    assert held(tmp_path) == before
    assert list_blocked_patterns(tmp_path) == []

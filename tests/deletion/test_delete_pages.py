"""Tests of permanent deletion: no trace of a deleted page remains, and nothing else is lost."""

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

SECRET = "the private letter, with a name in it: Albertine"
SHARED = "the same words under three addresses, stored once and repeated twice"
FLAGS = ("--delay", "0", "--allow-private", "--quiet", "--workers", "1", "--no-sitemaps")


def site_pages() -> dict[str, Page]:
    copies = {f"/copy{n}": html(text=SHARED) for n in range(3)}
    return {
        "/": html("/letter", "/people/a", "/copy0", text="root"),
        "/letter": html(text=SECRET),
        "/people/a": html("/people/b", "/copy1", "/copy2", text=f"{SECRET} a"),
        "/people/b": html(text=f"{SECRET} b"),
        **copies,
    }


def crawl(site: Site, folder: Path, *flags: str) -> int:
    return main(["crawl", site.root + "/", "-C", str(folder), *FLAGS, *flags])


def stored_paths(folder: Path) -> set[str]:
    with open_collection_read_only(folder) as collection:
        return {"/" + row.url.split("/", 3)[3] for row in load_pages(collection.db)}


def skip_reasons(folder: Path) -> dict[str, str]:
    with open_collection_read_only(folder) as collection:
        return {"/" + row.url.split("/", 3)[3]: row.reason for row in load_skipped_urls(collection.db)}


def stored_body(folder: Path, url: str) -> bytes:
    with open_collection_read_only(folder) as collection:
        return load_stored_record(collection, find_url_id(collection.db, url), url).body


def archive_records(folder: Path) -> list[StoredRecord]:
    """Return all archive records; checks digests and that no record is damaged."""
    found = [
        record for path in sorted((folder / "archive").glob("*.gz")) for record in iterate_records(path, verify=True)
    ]
    assert not [record for record in found if isinstance(record, DamagedRegion)]
    return [record for record in found if isinstance(record, StoredRecord)]


def read_collection_bytes(folder: Path) -> bytes:
    """Return all bytes of a collection with its archive decompressed, except logs and the full-text index."""
    excluded = {"logs", "index"}  # logs contain URLs; full-text segments shrink only when merged
    paths = [path for path in folder.rglob("*") if excluded.isdisjoint(path.relative_to(folder).parts)]
    files = [path for path in paths if path.is_file() and path.suffix != ".gz"]
    unpacked = [record.body + str(record.fields).encode() for record in archive_records(folder)]
    return b"".join([*(path.read_bytes() for path in files), *unpacked])


def test_deleted_page_leaves_no_trace_and_is_blocked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        assert b"Albertine" in read_collection_bytes(tmp_path)
        assert main(["delete", site.root + "/letter", f"{site.root}/people/*", "-C", str(tmp_path), "--yes"]) == 0
        assert "forgot 3 pages" in capsys.readouterr().out
        assert stored_paths(tmp_path) == {"/", "/copy0", "/copy1", "/copy2"}
        assert skip_reasons(tmp_path) == dict.fromkeys(("/letter", "/people/a", "/people/b"), "deleted")
        assert b"Albertine" not in read_collection_bytes(tmp_path)
        assert "letter" not in (tmp_path / "indexes" / "index.cdxj").read_text()
        hits = site.hits["/letter"]
        site.pages["/"] = html("/letter", "/people/a", "/people/new", "/copy0", text="another root")
        site.pages["/people/new"] = html(text="new")
        crawl(site, tmp_path)
        assert (site.hits["/letter"], site.hits["/people/new"]) == (hits, 0)
        assert skip_reasons(tmp_path)["/people/new"] == "deleted"


def test_undo_unblocks_deleted_pages(tmp_path: Path) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        collection_args = ["-C", str(tmp_path)]
        assert main(["delete", f"{site.root}/people/*", "--yes", *collection_args]) == 0
        assert main(["delete", "--undo", f"{site.root}/people/b", *collection_args]) == 4
        assert main(["delete", "--undo", f"{site.root}/people/*", *collection_args]) == 0
        crawl(site, tmp_path)
        assert {"/people/a", "/people/b"} <= stored_paths(tmp_path)


def test_pages_with_a_shared_body_keep_it(tmp_path: Path) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        crawl(site, tmp_path)  # revisit records refer to the first record
        with open_collection_read_only(tmp_path) as collection:
            (first,) = [row.url for row in load_pages(collection.db) if "copy" in row.url and not row.duplicate_of]
        assert main(["delete", first, "--yes", "-C", str(tmp_path)]) == 0
        others = [site.root + path for path in ("/copy0", "/copy1", "/copy2") if site.root + path != first]
        assert [stored_body(tmp_path, url) for url in others] == [site.pages["/copy0"].body] * 2
        assert first not in "".join(record.url for record in archive_records(tmp_path))
        crawl(site, tmp_path)
        site.pages["/late"] = html(text=SHARED)
        site.pages["/"] = html("/late", text="root again")
        crawl(site, tmp_path)
        assert stored_body(tmp_path, site.root + "/late") == site.pages["/late"].body
        lines = (tmp_path / "indexes" / "index.cdxj").read_text().splitlines()
        urls_by_place = {(r.location.file, r.location.offset): r.url for r in archive_records(tmp_path)}
        for line in lines:
            facts = json.loads(line.split(" ", 2)[2])
            assert facts["url"] != first
            target = urls_by_place[facts["filename"], int(facts["offset"])]
            copies = {target, facts["url"]} <= {*others, site.root + "/late"}  # a 304 refers to the body it confirmed
            assert copies or target == facts["url"]


def test_warcio_skips_erased_records(tmp_path: Path) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        main(["delete", f"{site.root}/letter", "--yes", "-C", str(tmp_path)])
        with next((tmp_path / "archive").glob("*.gz")).open("rb") as file:
            found = [record.rec_headers.get_header("WARC-Target-URI") for record in ArchiveIterator(file)]
        assert f"{site.root}/people/a" in found
        assert f"{site.root}/letter" not in found


@pytest.mark.parametrize("length", [23, 100, 240, 250, 251, 252, 340, 65_552, 65_553, 65_559, 200_000])
def test_filler_has_exact_length(length: int) -> None:
    assert len(build_filler(length, 0.0)) == length


@pytest.mark.parametrize("step", ["erase_records", "_remove_from_search", "remove_entries", "clear_pending_deletion"])
def test_interrupted_deletion_is_resumed(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def kill(*_: object) -> None:
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
                kill,
            )
            with pytest.raises(Killed):
                delete_pages(tmp_path, DeletionSelection([f"{site.root}/letter", f"{site.root}/people/*"]))
        assert is_unfinished(tmp_path)
        assert main(["delete", "-C", str(tmp_path)]) == 0
        assert not is_unfinished(tmp_path)
        assert b"Albertine" not in read_collection_bytes(tmp_path)
        assert stored_paths(tmp_path) == {"/", "/copy0", "/copy1", "/copy2"}
        assert "letter" not in (tmp_path / "indexes" / "index.cdxj").read_text()


def test_older_versions_are_deleted_from_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tantivy")
    from sanderling.search.index import open_search_index

    def count_results(words: str) -> int:
        main(["search", words, "-C", str(tmp_path), "--json"])
        return len(capsys.readouterr().out.splitlines())

    def versions() -> int:
        index = open_search_index(tmp_path / "index", write=False)
        assert index is not None
        return int(index.history_index.searcher().num_docs)

    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        assert count_results("albertine") == 3
        site.pages["/letter"] = html(text="nothing to see here any more")
        crawl(site, tmp_path)
        assert (count_results("albertine"), count_results("nothing to see here"), versions()) == (2, 1, 1)
        assert main(["delete", f"{site.root}/letter", f"{site.root}/people/*", "--yes", "-C", str(tmp_path)]) == 0
        capsys.readouterr()
        assert (count_results("albertine"), count_results("nothing to see here"), versions()) == (0, 0, 0)
        stored = b"".join(path.read_bytes() for path in (tmp_path / "index").rglob("*") if path.is_file())
        assert b"lbertin" not in stored  # in no dictionary, and not in the stored text


def test_deletion_requires_confirmation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        collection_args = ["-C", str(tmp_path)]
        assert main(["delete", f"{site.root}/*", *collection_args]) == 4
        assert "--yes" in capsys.readouterr().err
        assert main(["delete", *collection_args]) == 4
        assert main(["delete", "not a url", *collection_args]) == 4
        assert main(["delete", f"{site.root}/*", "--dry-run", "--json", *collection_args]) == 0
        assert json.loads(capsys.readouterr().out)["pages"] == 7
        assert len(stored_paths(tmp_path)) == 7
        assert main(["delete", f"{site.root}/letter", "--yes", "--json", *collection_args]) == 0
        assert json.loads(capsys.readouterr().out)["pages"] == 1
        assert main(["check", "url", f"{site.root}/letter", "--allow-private", "--json", *collection_args]) == 0
        assert json.loads(capsys.readouterr().out)["result"] == "deleted"
        assert main(["delete", "--list", *collection_args]) == 0
        assert f"{site.root}/letter" in capsys.readouterr().out
        assert main(["delete", f"{site.root}/", "--yes", *collection_args]) == 0
        assert main(["crawl", *collection_args]) == 4  # no seeds remain
    assert list_blocked_patterns(tmp_path)[:1] == [f"{site.root}/letter"]


def test_page_columns_cover_all_tables(tmp_path: Path) -> None:
    excluded = {
        "visits": "deleted with their digests",
        "backlinks": "only ids",
        "backlink_buckets": "only ids",
        "imports": "rows are removed when their record is processed",
        "foreign_urls": "pages of other shards; a set of shards is joined before a deletion",
    }
    only_ids = {("forms", "page"), ("form_queries", "page")}
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
    with open_collection_read_only(tmp_path) as collection:
        tables = [name for (name,) in collection.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {(name, row[1]) for name in tables for row in collection.db.execute(f"PRAGMA table_info({name})")}
    url_columns = {"url", "page", "original", "resource", "tvi"}
    found = {place for place in columns if place[1] in url_columns and place[0] not in excluded}
    assert found - only_ids == set(PAGE_COLUMNS)


def age_visits(folder: Path, days: float) -> None:
    """Move all visits into the past."""
    with open_collection(folder) as collection:
        collection.db.execute("UPDATE visits SET at = at - ?", (days * 86_400,))
        collection.db.execute("UPDATE pages SET last_visit = last_visit - ?", (days * 86_400,))


def test_pages_gone_for_long_are_deleted_and_may_return(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collection_args = ["-C", str(tmp_path)]
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        letter = site.pages.pop("/letter")
        crawl(site, tmp_path)
        crawl(site, tmp_path)  # missing twice: gone
        age_visits(tmp_path, 20)
        assert main(["delete", "--gone", "30d", "--yes", "--json", *collection_args]) == 0
        assert json.loads(capsys.readouterr().out)["pages"] == 0
        assert main(["delete", "--gone", "10d", f"{site.root}/people/*", "--dry-run", "--json", *collection_args]) == 0
        assert json.loads(capsys.readouterr().out)["pages"] == 0
        assert main(["delete", "--gone", "10d", "--dry-run", "--json", *collection_args]) == 0
        assert json.loads(capsys.readouterr().out)["examples"] == [f"{site.root}/letter"]
        assert main(["delete", "--gone", "10d", "--yes", "--json", *collection_args]) == 0
        assert json.loads(capsys.readouterr().out)["pages"] == 1
        assert "/letter" not in stored_paths(tmp_path)
        assert SECRET.encode() + b"<" not in read_collection_bytes(tmp_path)
        assert (list_blocked_patterns(tmp_path), skip_reasons(tmp_path)) == ([], {"/letter": "deleted"})
        site.pages["/letter"] = letter
        crawl(site, tmp_path)
        assert (stored_body(tmp_path, f"{site.root}/letter"), skip_reasons(tmp_path)) == (letter.body, {})


@pytest.mark.usefixtures("soon_again")
def test_pages_unseen_for_long_are_deleted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collection_args = ["-C", str(tmp_path)]
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        age_visits(tmp_path, 100)
        site.pages["/people/b"] = Page(b"oops", 500)
        crawl(site, tmp_path)
        assert main(["delete", "--not-seen", "90d", *collection_args]) == 4  # stdin is not a terminal
        capsys.readouterr()
        assert main(["delete", "--not-seen", "90d", "--yes", *collection_args]) == 0
        assert "forgot 1 page;" in capsys.readouterr().out
        assert "/people/b" not in stored_paths(tmp_path)
        assert len(stored_paths(tmp_path)) == 6
        assert "people/b" not in (tmp_path / "indexes" / "index.cdxj").read_text()
        assert main(["delete", "--not-seen", "90d", *collection_args]) == 0  # nothing to confirm
        assert main(["delete", "--not-seen", "90d", "--list", *collection_args]) == 4
        assert main(["delete", "--not-seen", "soon", *collection_args]) == 4


def test_interrupted_deletion_by_pattern_is_finished_before_deletion_by_age(
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
    assert not {"/letter", "/people/a", "/people/b"} & stored_paths(tmp_path)
    assert not is_unfinished(tmp_path)
    assert all(b"Albertine" not in record.body for record in archive_records(tmp_path))


@contextmanager
def interrupt_after_first_page(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Raise KeyboardInterrupt after the first deleted page."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sanderling.deletion.page_deleter.CHUNK_SIZE", 1)
        patched.setattr("sanderling.deletion.delete_pages._finish_deletion", stop)
        with pytest.raises(KeyboardInterrupt):
            yield


def test_interrupted_deletion_by_age_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        age_visits(tmp_path, 100)
        with interrupt_after_first_page(monkeypatch):
            delete_pages(tmp_path, DeletionSelection([f"{site.root}/people/*"], unseen_since=time.time() - 90 * 86_400))
        assert main(["delete", "--yes", "-C", str(tmp_path)]) == 0
    assert stored_paths(tmp_path) == {"/", "/letter", "/copy0", "/copy1", "/copy2"}
    assert (is_unfinished(tmp_path), list_blocked_patterns(tmp_path)) == (False, [])


@pytest.fixture
def interrupted_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Site URL of a collection with seven old pages, whose deletion by age was interrupted after the first."""
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        age_visits(tmp_path, 100)
        with interrupt_after_first_page(monkeypatch):
            delete_pages(tmp_path, DeletionSelection(unseen_since=time.time() - 90 * 86_400))
        yield site.root
    assert len(archive_records(tmp_path)) > 0  # no record is damaged


def count_deleted_pages(capsys: pytest.CaptureFixture[str], *arguments: str) -> int:
    """Run `sanderling delete --json` and return its page count."""
    capsys.readouterr()
    assert main(["delete", *arguments, "--json"]) == 0
    return int(json.loads(capsys.readouterr().out)["pages"])


def test_interrupted_deletion_by_age_waits_for_deletion_by_pattern(
    interrupted_site: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collection_args = ["-C", str(tmp_path)]
    assert count_deleted_pages(capsys, f"{interrupted_site}/letter", "--dry-run", *collection_args) == 1
    assert count_deleted_pages(capsys, f"{interrupted_site}/letter", "--yes", *collection_args) == 1
    assert len(stored_paths(tmp_path)) == 5
    assert main(["delete", *collection_args]) == 4  # the rest needs confirmation
    assert (
        count_deleted_pages(capsys, "--dry-run", *collection_args)
        == count_deleted_pages(capsys, "--yes", *collection_args)
        == 5
    )
    assert (stored_paths(tmp_path), is_unfinished(tmp_path)) == (set(), False)


def test_new_age_replaces_interrupted_selection(
    interrupted_site: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert count_deleted_pages(capsys, "--not-seen", "200d", "--yes", "-C", str(tmp_path)) == 0
    assert (len(stored_paths(tmp_path)), is_unfinished(tmp_path)) == (6, False)


@pytest.mark.parametrize("method", ["--undo", "no"])
def test_interrupted_deletion_by_age_can_be_abandoned(
    method: str,
    interrupted_site: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if method == "no":
        monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
        monkeypatch.setattr("builtins.input", lambda: "n")
    assert count_deleted_pages(capsys, *(["--undo"] if method == "--undo" else []), "-C", str(tmp_path)) == 0
    assert (len(stored_paths(tmp_path)), is_unfinished(tmp_path)) == (6, False)
    assert main(["delete", "-C", str(tmp_path)]) == 4
    gone = {f"{interrupted_site}{path}" for path in site_pages()} - {
        f"{interrupted_site}{path}" for path in stored_paths(tmp_path)
    }
    assert gone.isdisjoint(record.url for record in archive_records(tmp_path))  # a started deletion is finished


def test_empty_age_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(site_pages()) as site:
        crawl(site, tmp_path)
        before = stored_paths(tmp_path)
        assert main(["delete", "--not-seen", "", f"{site.root}/*", "-C", str(tmp_path), "--yes"]) == 4
        assert "is no time" in capsys.readouterr().err
        assert main(["delete", "--gone", "1970-01-01", f"{site.root}/*", "-C", str(tmp_path), "--yes"]) == 0
    assert stored_paths(tmp_path) == before
    assert list_blocked_patterns(tmp_path) == []

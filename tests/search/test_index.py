"""The index on disk: replacement, commits, crash recovery, read-only access."""

import multiprocessing
import os
import shutil
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.support.documents import PAGES, page

from sanderling.errors import CollectionError
from sanderling.http.content_type import get_type_name
from sanderling.search.fields import get_host_with_port, list_domain_suffixes
from sanderling.search.index import SearchIndex, open_search_index
from sanderling.search.schema import INDEX_VERSION
from sanderling.search.search_types import MAX_BODY_CHARS, Document


def test_page_is_replaced_and_not_added_twice(index: SearchIndex) -> None:
    before = len(index)
    index.replace([page("https://birds.example.org/dunlin", "Dunlin", "Other words.")])
    index.commit(2)
    stored = index.get("https://birds.example.org/dunlin")
    assert (len(index), stored and stored.body) == (before, "Other words.")


def test_gone_page_is_removed(index: SearchIndex) -> None:
    index.mark_gone(["https://birds.example.org/dunlin"], at=1.0)
    index.commit(2)
    assert index.get("https://birds.example.org/dunlin") is None


def test_interrupted_commit_can_be_repeated(tmp_path: Path) -> None:
    def commit_without(url: str, batch: int) -> None:
        index = open_search_index(tmp_path / "index", write=True)
        assert index is not None
        index.replace(PAGES if batch == 1 else [])
        index.mark_gone([url], at=1.0)
        index.commit(batch)
        index.close()

    commit_without("https://none.example/", 1)
    shutil.copytree(tmp_path / "index", tmp_path / "first")
    commit_without("https://birds.example.org/dunlin", 2)
    files = shutil.ignore_patterns(".managed.json")  # written before the data files; meta.json after them
    shutil.copytree(tmp_path / "first", tmp_path / "index", ignore=files, dirs_exist_ok=True)
    commit_without("https://birds.example.org/dunlin", 2)
    again = open_search_index(tmp_path / "index", write=False)
    assert again is not None
    assert (again.last_batch, again.get("https://birds.example.org/dunlin")) == (2, None)


def test_last_batch_is_stored_with_the_commit(tmp_path: Path) -> None:
    assert open_search_index(tmp_path / "index", write=False) is None
    first = open_search_index(tmp_path / "index", write=True)
    assert first is not None
    assert (first.last_batch, len(first)) == (0, 0)
    first.commit(7)
    first.replace([page("https://a.example/", "lost")])
    first.close()
    again = open_search_index(tmp_path / "index", write=False)
    assert again is not None
    assert (again.last_batch, len(again)) == (7, 0)


def write_and_wait(folder: Path, pipe: Connection) -> None:
    index = open_search_index(folder, write=True)
    assert index is not None
    index.replace([page("https://a.example/1", "committed")])
    index.commit(1)
    index.replace([page(f"https://a.example/{i}", "not committed") for i in range(2, 500)])
    pipe.send("ready")
    signal.pause()


def test_killed_writer_leaves_the_last_commit(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe()
    writer = spawn.Process(target=write_and_wait, args=(tmp_path / "index", sender))
    writer.start()
    assert receiver.recv() == "ready"
    assert writer.pid
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    index = open_search_index(tmp_path / "index", write=True)
    assert index is not None
    assert (index.last_batch, len(index)) == (1, 1)
    index.replace([page("https://a.example/2", "caught up")])
    index.commit(2)
    assert (index.last_batch, len(index)) == (2, 2)
    index.close()


def test_second_writer_is_rejected(index: SearchIndex, tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="cannot be opened"):
        open_search_index(tmp_path / "index", write=True)
    reader = open_search_index(tmp_path / "index", write=False)
    assert reader is not None
    with pytest.raises(CollectionError, match="read-only"):
        reader.replace([])


def list_mirrors(folder: Path) -> list[Path]:
    return list(folder.glob("sanderling-*"))


@pytest.fixture
def readonly_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_readonly_reader_detects_a_new_commit(index: SearchIndex, readonly_folder: Path) -> None:
    reader = open_search_index(readonly_folder / "index", write=False)
    assert reader is not None
    assert not reader.is_outdated()
    index.replace([page("https://birds.example.org/new", "New", "Words.")])
    index.commit(9)
    assert reader.is_outdated()
    assert reader.last_batch == 1  # the open snapshot is unchanged
    reader = open_search_index(readonly_folder / "index", write=False)
    assert reader is not None
    assert (reader.last_batch, reader.is_outdated(), len(list_mirrors(readonly_folder))) == (9, False, 1)


def test_metadata_files_get_the_permissions_of_the_folder(tmp_path: Path) -> None:
    index = open_search_index(tmp_path / "index", write=True)
    assert index is not None
    for folder in (tmp_path / "index").glob("v*/*"):
        folder.chmod(0o755)
    index.replace([page("https://birds.example.org/new", "New", "Words.")])
    index.commit(1)
    index.close()
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "index").glob("v*/*/*.json")} == {0o644}


def test_permission_error_is_a_collection_error(
    index: SearchIndex, readonly_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("sanderling.search.index._link_files", deny)
    with pytest.raises(CollectionError, match=r"cannot be opened: .*Permission denied"):
        open_search_index(readonly_folder / "index", write=False)
    assert list_mirrors(readonly_folder) == []


def test_failed_open_leaves_no_temporary_folder(index: SearchIndex, readonly_folder: Path) -> None:
    index.close()
    (readonly_folder / "index" / f"v{INDEX_VERSION}" / "past" / "meta.json").write_text("{")
    with pytest.raises(CollectionError, match="is damaged"):
        open_search_index(readonly_folder / "index", write=False)
    assert list_mirrors(readonly_folder) == []


def test_commit_during_a_readonly_open_is_retried(
    index: SearchIndex, readonly_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches, link = iter([9]), Path.symlink_to

    def link_late(path: Path, target: Path) -> None:
        for batch in batches:
            before = list(target.parent.glob("*.store"))
            index.delete_permanently({document.url: () for document in PAGES})
            index.commit(batch)
            assert not any(file.exists() for file in before)
        link(path, target)

    monkeypatch.setattr(Path, "symlink_to", link_late)
    reader = open_search_index(readonly_folder / "index", write=False)
    assert reader is not None
    assert (reader.last_batch, len(reader), len(list_mirrors(readonly_folder))) == (9, 0, 1)


def test_oversized_page_with_surrogates_is_truncated_and_cleaned(index: SearchIndex) -> None:
    index.replace([Document("https://x.example/", "\ud800 title", body="word " * 1_000_000, site="x.example")])
    index.commit(2)
    stored = index.get("https://x.example/")
    assert stored is not None
    assert (len(stored.body), stored.title) == (MAX_BODY_CHARS, " title")


def test_host_type_name_and_domain_suffixes() -> None:
    assert get_host_with_port("https://user@Docs.Example.org:8443/a") == "docs.example.org:8443"
    assert list_domain_suffixes("docs.example.org:8443") == [
        "docs.example.org:8443",
        "docs.example.org",
        "example.org",
        "org",
    ]
    assert list_domain_suffixes("[::1]:80") == ["[::1]:80", "[::1]"]
    assert list_domain_suffixes("[::1]") == ["[::1]"]
    assert [get_type_name(m) for m in ("text/html; charset=x", "application/pdf", "image/png", "")] == [
        "html", "pdf", "png", "unknown"
    ]  # fmt: skip

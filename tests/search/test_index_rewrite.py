"""Rewriting of the index: erased versions leave no text, the others stay."""

import multiprocessing
import shutil
from pathlib import Path

import pytest
from msgspec import structs
from tests.support.documents import PAGES, page

from sanderling.search.index import SearchIndex, build_version_key, open_search_index
from sanderling.search.index_rewrite import rewrite_search_index

URL = PAGES[0].url


def build_index(folder: Path) -> None:
    index = open_search_index(folder, write=True)
    assert index is not None
    index.replace(PAGES)
    for number, word in enumerate(("osprey", "kestrel", "merlin", "plover")):
        index.replace([structs.replace(page(URL, word, word), changed_at=2e9 + number)])
        index.commit(7 + number)
    index.close()


def count_documents(index: SearchIndex, word: str) -> tuple[int, int]:
    """Count documents in the files of both indexes, deleted ones too."""
    indexes = (index.current_index, index.history_index)
    first, second = (each.searcher().doc_freq("body", word) for each in indexes)
    return first, second


def test_erased_versions_leave_no_text_and_others_stay(tmp_path: Path) -> None:
    build_index(tmp_path)
    rewrite_search_index(tmp_path, lambda url, at: (url, at) in {(URL, 2e9), (URL, 2e9 + 1)})
    index = open_search_index(tmp_path, write=False)
    assert index is not None
    found = {word: count_documents(index, word) for word in ("osprey", "kestrel", "merlin", "plover")}
    assert found == {"osprey": (0, 0), "kestrel": (0, 0), "merlin": (0, 1), "plover": (1, 0)}
    assert (index.last_batch, len(index)) == (10, len(PAGES))
    assert index.history_index.searcher().doc_freq("key", build_version_key(2e9 + 2, URL)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["v2"]


def test_collection_without_index_stays_without(tmp_path: Path) -> None:
    rewrite_search_index(tmp_path / "index", lambda _url, _at: True)
    assert not (tmp_path / "index").exists()


def rewrite_until_rename(folder: Path) -> None:
    import os

    os.rename = lambda *_: os._exit(9)
    rewrite_search_index(folder, lambda _url, _at: True)


@pytest.mark.parametrize("is_moved", [False, True])
def test_killed_rewriting_can_be_repeated(tmp_path: Path, is_moved: bool) -> None:
    build_index(tmp_path)
    process = multiprocessing.get_context("fork").Process(target=rewrite_until_rename, args=(tmp_path,))
    process.start()
    process.join()
    assert (process.exitcode, (tmp_path / "rewritten").exists()) == (9, True)
    if is_moved:  # killed between both renames
        shutil.move(tmp_path / "v2", tmp_path / "replaced")
    rewrite_search_index(tmp_path, lambda _url, _at: True)
    assert not (tmp_path / "rewritten").exists()
    assert (tmp_path / "v2").exists() is not is_moved  # else the next command rebuilds it

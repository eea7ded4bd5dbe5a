"""Write the index anew without erased versions: its files keep the text of deleted documents until they merge."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree

import tantivy

from sanderling.search.index import (
    FOREVER,
    SearchIndex,
    build_index_entry,
    build_version_key,
    load_document,
    open_search_index,
    report_index_damage,
)
from sanderling.search.schema import INDEX_VERSION
from sanderling.search.search_types import Document

CHUNK_DOCUMENTS = 1_000


def rewrite_search_index(folder: Path, is_erased: Callable[[str, float], bool]) -> None:
    """Replace the index by a copy without the past versions (URL, start) for which `is_erased` holds.

    After a kill between the two renames, the next command rebuilds the index from the archive.
    """
    current, copy, old = folder / f"v{INDEX_VERSION}", folder / "rewritten", folder / "replaced"
    for rest in (copy, old):
        rmtree(rest, ignore_errors=True)
    if not current.exists():
        return
    source = open_search_index(folder, write=True)
    target = open_search_index(copy, write=True)
    assert source is not None  # never None with write=True
    assert target is not None
    with report_index_damage(folder):
        try:
            _copy_documents(source, target, is_erased)
            target.close()
            os.rename(current, old)
            os.rename(copy / current.name, current)
        finally:
            target.close()
            source.close()
    for rest in (copy, old):
        rmtree(rest, ignore_errors=True)


def _copy_documents(source: SearchIndex, target: SearchIndex, is_erased: Callable[[str, float], bool]) -> None:
    pages = (document for document, _ in _iterate_documents(source.current_index))
    versions = (
        (document, until)
        for document, until in _iterate_documents(source.history_index)
        if not is_erased(document.url, document.changed_at)
    )
    target.add_copies(
        (build_index_entry(page, FOREVER) for page in pages),
        (
            build_index_entry(version, until, build_version_key(version.changed_at, version.url))
            for version, until in versions
        ),
    )
    target.commit(source.last_batch)


def _iterate_documents(index: tantivy.Index) -> Iterator[tuple[Document, int]]:
    """Yield all documents but the mark of the batch, with the time at which they were replaced."""
    index.reload()
    searcher = index.searcher()
    hits = searcher.search(tantivy.Query.all_query(), max(1, searcher.num_docs), count=False).hits
    for start in range(0, len(hits), CHUNK_DOCUMENTS):
        addresses = [address for _, address in hits[start : start + CHUNK_DOCUMENTS]]
        for address, until in zip(addresses, searcher.fast_field_values("until", addresses), strict=True):
            if until is not None:
                yield load_document(searcher, address), int(until)

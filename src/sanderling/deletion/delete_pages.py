"""Delete pages permanently: from the database, the archive, and all indexes, and block them from future crawls.

Deletion runs in chunks: delete the rows and record the pending work, erase the archive records, remove the documents
from the search index. After an interruption, the next call continues.
"""

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from sanderling.clock import system_clock
from sanderling.db.connection import apply_migrations, connect_sqlite, transaction
from sanderling.db.schema import changes, dedup, forms, frontier, revisit, storage
from sanderling.deletion.page_deleter import (
    DeletionOptions,
    PageDeleter,
    PendingDeletion,
    clear_pending_deletion,
    load_pending_deletion,
)
from sanderling.deletion.selection import (
    DeletionSelection,
    begin_deletion,
    end_deletion,
    select_url_ids,
)
from sanderling.errors import CollectionError, MissingExtra
from sanderling.fetch.template_filter import PARKED_DATABASE, has_parked_pages
from sanderling.frontier.requeue import recount_queued
from sanderling.models import UrlState
from sanderling.search.background_indexer import can_index
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import StoredCollection, open_collection
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.seals import seal_again
from sanderling.urls.normalize import normalize_url
from sanderling.warc.archive import Archive, open_archive
from sanderling.warc.cdxj import CdxjEntry
from sanderling.warc.cdxj_index import delete_index, find_captures, open_cdxj_index, remove_entries
from sanderling.warc.erase import erase_records, find_visit_extent
from sanderling.warc.records import RecordLocation
from sanderling.warc.remote import REMOTE_ADDRESS_FILE
from sanderling.warc.warc_reader import read_single_record
from sanderling.workers.manager import WORKER_FOLDER

PAGE_COLUMNS = (
    *frontier.PAGE_COLUMNS, *dedup.PAGE_COLUMNS, *changes.PAGE_COLUMNS, *storage.PAGE_COLUMNS, *revisit.PAGE_COLUMNS,
    *forms.PAGE_COLUMNS,
)  # fmt: skip
TEMPLATE_INDEX_GLOB = "structure.db*"  # derived data, rebuilt on demand
SEARCH_INDEX_FOLDER = "index"


class DeletionReport(Struct):
    """Counts of a deletion."""

    urls: int = 0
    pages: int = 0
    records: int = 0  # erased archive records
    remote_records: int = 0  # in archive files that are not available locally; not erased
    archive_copies: str = ""  # location of remote archive copies, which are not changed


class ErasedRecords(Struct):
    """Erased archive records and deleted URLs, for the index updates."""

    places: set[tuple[str, int]] = set()
    urls: set[str] = set()


def delete_pages(folder: Path, selection: DeletionSelection) -> DeletionReport:
    """Delete the selected pages, and finish an interrupted deletion.

    Without criteria, an interrupted selection by age is finished as well.
    """
    report, erased = DeletionReport(), ErasedRecords()
    with open_collection(folder) as collection, _open_collection_archive(collection) as archive:
        db = collection.db
        apply_migrations(db, {"revisit": revisit.MIGRATIONS})
        is_resumed = CollectionMeta(db).is_deletion_unfinished
        with transaction(db):
            selections = begin_deletion(db, selection)
        pending = load_pending_deletion(db)
        if pending is not None:
            _finish_deletion(pending, collection, archive, report, erased)
            clear_pending_deletion(db)
        for part in selections:
            _delete_selection(part, collection, archive, report, erased)
        _update_derived_data(collection, archive, erased, is_resumed)
        seal_again(archive.folder, {file for file, _ in erased.places}, system_clock(), "delete")
        end_deletion(db, selection)
        if isinstance(db, sqlite3.Connection):
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        address = archive.folder / REMOTE_ADDRESS_FILE
        report.archive_copies = address.read_text().strip() if address.is_file() else ""
    return report


def _delete_selection(
    selection: DeletionSelection,
    collection: StoredCollection,
    archive: Archive,
    report: DeletionReport,
    erased: ErasedRecords,
) -> None:
    db, ids = collection.db, select_url_ids(collection.db, selection)
    state = UrlState.GONE if selection.is_by_age else UrlState.SKIPPED
    deleter = PageDeleter(
        db, archive, ids, DeletionOptions(system_clock(), CollectionMeta(db).session, PAGE_COLUMNS, state)
    )
    for pending in deleter.delete_chunks():
        _finish_deletion(pending, collection, archive, report, erased)
    report.urls += len(ids)
    report.pages += deleter.page_count


@contextmanager
def _open_collection_archive(collection: StoredCollection) -> Iterator[Archive]:
    catalog = PageCatalog(collection.db)
    with open_archive(collection.archive_folder, catalog.load_committed_lengths(), clock=system_clock) as archive:
        with transaction(collection.db):
            for name, length in archive.get_flushed_lengths().items():
                catalog.upsert_file(name, length)
        yield archive


def _find_other_captures(collection: StoredCollection, urls: Iterable[str]) -> list[RecordLocation]:
    """Return the records of deleted URLs that are no visits: imported ones for replay only."""
    found: list[RecordLocation] = []
    for url in urls:
        for entry in find_captures(collection.cdxj_folder, url):
            with suppress(CollectionError):
                is_own = read_single_record(collection.archive_folder, entry.location, 0).url == url
                extent = find_visit_extent(collection.archive_folder, entry.location) if is_own else None
                found += [extent] if extent is not None else []
    return found


def _finish_deletion(
    pending: PendingDeletion,
    collection: StoredCollection,
    archive: Archive,
    report: DeletionReport,
    erased: ErasedRecords,
) -> None:
    """Erase the records and index entries of a chunk. Idempotent."""
    places = [*pending.places, *_find_other_captures(collection, pending.urls)]
    erase_records(archive.folder, places, time.time())
    erased.places.update((place.file, place.offset) for place in places)
    erased.urls.update(pending.urls)
    report.records += len(pending.places)
    report.remote_records += pending.remote_records
    if (collection.folder / SEARCH_INDEX_FOLDER).is_dir():
        if not can_index():
            raise MissingExtra(
                f"deleting pages from the full-text index in {collection.folder / SEARCH_INDEX_FOLDER}", "search"
            )
        _remove_from_search(collection.folder / SEARCH_INDEX_FOLDER, pending)
    if has_parked_pages(collection.folder / WORKER_FOLDER):
        parked = connect_sqlite(collection.folder / WORKER_FOLDER / PARKED_DATABASE)
        parked.executemany("DELETE FROM kept WHERE url = ?", [(url,) for url in pending.urls])
        parked.close()


def _remove_from_search(folder: Path, pending: PendingDeletion) -> None:
    from sanderling.search.index import open_search_index  # imports the search engine

    try:
        index = open_search_index(folder, write=True)
    except CollectionError:
        raise CollectionError(
            f"{folder} is locked by another process: stop it, then run `sanderling delete` again"
        ) from None
    assert index is not None  # never None with write=True
    try:
        index.delete_permanently(pending.urls)
        index.commit(index.last_batch)
    finally:
        index.close()


def _update_derived_data(
    collection: StoredCollection, archive: Archive, erased: ErasedRecords, is_resumed: bool
) -> None:
    """Update the queue counters of hosts and the indexes; remove the template index."""
    db = collection.db
    with transaction(db):
        recount_queued(db)
    if is_resumed:
        delete_index(collection.cdxj_folder)
    else:
        remove_entries(
            collection.cdxj_folder,
            lambda entry: _get_record_place(entry) in erased.places or _get_url_key(entry) in erased.urls,
        )
    open_cdxj_index(
        collection.cdxj_folder,
        collection.archive_folder,
        PageCatalog(db).load_committed_lengths() | archive.get_flushed_lengths(),
    ).close()
    for path in collection.cdxj_folder.glob(TEMPLATE_INDEX_GLOB):
        path.unlink()
    if (erased.urls or is_resumed) and (collection.folder / SEARCH_INDEX_FOLDER).is_dir() and can_index():
        from sanderling.search.index_rewrite import rewrite_search_index  # imports the search engine

        rewrite_search_index(collection.folder / SEARCH_INDEX_FOLDER, lambda _url, _at: False)


def _get_record_place(entry: CdxjEntry) -> tuple[str, int]:
    return entry.location.file, entry.location.offset


def _get_url_key(entry: CdxjEntry) -> str:
    normalized = normalize_url(entry.url)
    return normalized.url if normalized else entry.url

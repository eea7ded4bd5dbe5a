"""Forget pages of a collection for good: out of the catalogue, the archive, the indexes, and not fetched again.

One chunk after the other: its rows go, with a note of what is left to do; its records are erased, its words leave the
full-text index; then the next. Whatever stops it, the next call goes on.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from sanderling.clock import system_clock
from sanderling.crawl.worker_setup import PARKED_FOLDER
from sanderling.db.connection import apply_migrations, connect_sqlite, transaction
from sanderling.db.schema import changes, frontier
from sanderling.db.schema import dedup as dedupe
from sanderling.db.schema import revisit as refresh
from sanderling.db.schema import storage as store
from sanderling.deletion.page_deleter import (
    DeletionOptions,
    PageDeleter,
    PendingDeletion,
    clear_pending_deletion,
    load_pending_deletion,
)
from sanderling.deletion.selection import (
    UNFINISHED_KEY,
    DeletionSelection,
    begin_deletion,
    end_deletion,
    select_url_ids,
)
from sanderling.errors import CollectionError, MissingExtra
from sanderling.fetch.template_filter import PARKED_DATABASE as KEPT
from sanderling.fetch.template_filter import has_parked_pages
from sanderling.models import UrlState
from sanderling.search.background_indexer import can_index
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import Collection, get_meta, open_collection
from sanderling.urls.normalize import normalize_url
from sanderling.warc.archive import Archive, open_archive
from sanderling.warc.cdxj import CdxjEntry
from sanderling.warc.cdxj_index import delete_index, open_cdxj_index, remove_entries
from sanderling.warc.erase import erase_records
from sanderling.warc.remote import REMOTE_ADDRESS_FILE

PAGE_COLUMNS = (
    *frontier.PAGE_COLUMNS, *dedupe.PAGE_COLUMNS, *changes.PAGE_COLUMNS, *store.PAGE_COLUMNS, *refresh.PAGE_COLUMNS
)  # fmt: skip
TEMPLATE_INDEX_GLOB = "structure.db*"  # derived: it is made again when it is wanted
SEARCH_INDEX_FOLDER = "index"  # folder of the full-text index


class DeletionReport(Struct):
    """What was."""

    urls: int = 0
    pages: int = 0
    records: int = 0  # of the archive, erased
    remote_records: int = 0  # of files that are not here: they stay as they are
    archive_copies: str = ""  # where copies of the archive are that were not touched


class ErasedRecords(Struct):
    """What has gone, for the indexes."""

    places: set[tuple[str, int]] = set()
    urls: set[str] = set()


def delete_pages(folder: Path, selection: DeletionSelection) -> DeletionReport:
    """Forget what is meant, and finish what an earlier call left (what it left by age, if nothing else is meant)."""
    report, erased = DeletionReport(), ErasedRecords()
    with open_collection(folder) as collection, _open_collection_archive(collection) as archive:
        db = collection.db
        apply_migrations(db, {"refresh": refresh.MIGRATIONS})
        resumed = get_meta(db, UNFINISHED_KEY) == "1"
        with transaction(db):
            choices = begin_deletion(db, selection)
        left = load_pending_deletion(db)
        if left is not None:
            _finish_deletion(left, collection, archive, report, erased)
            clear_pending_deletion(db)
        for one in choices:
            _delete_selection(one, collection, archive, report, erased)
        _update_derived_data(collection, archive, erased, resumed)
        end_deletion(db, selection)
        if isinstance(db, sqlite3.Connection):
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        report.archive_copies = (
            (archive.folder / REMOTE_ADDRESS_FILE).read_text().strip()
            if (archive.folder / REMOTE_ADDRESS_FILE).is_file()
            else ""
        )
    return report


def _delete_selection(
    selection: DeletionSelection,
    collection: Collection,
    archive: Archive,
    report: DeletionReport,
    erased: ErasedRecords,
) -> None:
    """Forget what one choice means, chunk by chunk."""
    db, ids = collection.db, select_url_ids(collection.db, selection)
    state = UrlState.GONE if selection.is_by_age else UrlState.SKIPPED
    forgetter = PageDeleter(
        db, archive, ids, DeletionOptions(system_clock(), int(get_meta(db, "session", "1")), PAGE_COLUMNS, state)
    )
    for work in forgetter.delete_chunks():
        _finish_deletion(work, collection, archive, report, erased)
    report.urls += len(ids)
    report.pages += forgetter.page_count


@contextmanager
def _open_collection_archive(collection: Collection) -> Iterator[Archive]:
    catalogue = PageCatalog(collection.db)
    with open_archive(collection.archive_folder, catalogue.load_committed_lengths(), clock=system_clock) as archive:
        with transaction(collection.db):
            for name, length in archive.get_flushed_lengths().items():
                catalogue.upsert_file(name, length)
        yield archive


def _finish_deletion(
    pending: PendingDeletion, collection: Collection, archive: Archive, report: DeletionReport, erased: ErasedRecords
) -> None:
    """Do what is left of one chunk; to do it twice does no harm."""
    erase_records(archive.folder, pending.places, time.time())
    erased.places.update((place.file, place.offset) for place in pending.places)
    erased.urls.update(pending.urls)
    report.records += len(pending.places)
    report.remote_records += pending.remote_records
    if (collection.folder / SEARCH_INDEX_FOLDER).is_dir():
        if not can_index():
            raise MissingExtra(
                f"taking pages out of the full-text index in {collection.folder / SEARCH_INDEX_FOLDER}", "search"
            )
        _remove_from_search(collection.folder / SEARCH_INDEX_FOLDER, pending)
    if has_parked_pages(collection.folder / PARKED_FOLDER):
        kept = connect_sqlite(collection.folder / PARKED_FOLDER / KEPT)
        kept.executemany("DELETE FROM kept WHERE url = ?", [(url,) for url in pending.urls])
        kept.close()


def _remove_from_search(folder: Path, pending: PendingDeletion) -> None:
    from sanderling.search.index import open_search_index as open_words  # brings the search engine with it

    try:
        words = open_words(folder, write=True)
    except CollectionError:
        raise CollectionError(f"another process writes to {folder}; stop it, then: sanderling delete") from None
    assert words is not None  # it was opened for writing
    try:
        words.delete_permanently(pending.urls)
        words.commit(words.last_batch)
    finally:
        words.close()


def _update_derived_data(collection: Collection, archive: Archive, erased: ErasedRecords, is_resumed: bool) -> None:
    """Bring what is derived up to date: counts of hosts, the index of the archive, the index of structures."""
    db = collection.db
    with transaction(db):
        db.execute("UPDATE hosts SET waiting = (SELECT count(*) FROM queue WHERE queue.host = hosts.id)")
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


def _get_record_place(entry: CdxjEntry) -> tuple[str, int]:
    return entry.location.file, entry.location.offset


def _get_url_key(entry: CdxjEntry) -> str:
    spelling = normalize_url(entry.url)
    return spelling.url if spelling else entry.url

"""Prune versions that a retention rule does not keep: their records are erased, the history stays.

Like a deletion, a chunk is one transaction that also stores the records to erase, so that a killed call is finished by
the next one.
"""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, msgpack

from sanderling.clock import Clock, system_clock
from sanderling.db.connection import Connection, transaction
from sanderling.errors import UsageError
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import StoredCollection, open_collection, open_collection_read_only
from sanderling.storage.reports import StoredVersionRow
from sanderling.storage.retention import (
    PruneSelection,
    RetentionRule,
    drop_records,
    load_dropped_versions,
    select_versions,
)
from sanderling.storage.seals import seal_again
from sanderling.warc.cdxj_index import delete_index, open_cdxj_index, remove_entries
from sanderling.warc.erase import erase_records, find_visit_extent, merge_locations
from sanderling.warc.records import RecordLocation
from sanderling.warc.remote import REMOTE_ADDRESS_FILE

CHUNK_VERSIONS = 500
PENDING_BLOB = "pruning"  # row of the table blobs: records of a chunk to erase
FILES_BLOB = "pruning-files"  # row of the table blobs: names of changed files, until indexes and seals are updated


class PruneReport(Struct):
    """Counts of pruned and kept versions."""

    pruned: int = 0
    bytes: int = 0  # of erased records, compressed
    kept: int = 0
    held: int = 0
    shared: int = 0
    examples: tuple[tuple[str, float], ...] = ()  # URL and time of the first pruned versions


def preview_pruning(folder: Path, rule: RetentionRule, max_examples: int = 20) -> PruneReport:
    """Count the versions that `prune_versions` would erase. Changes nothing."""
    _check_rule(rule)
    with open_collection_read_only(folder) as collection:
        selection = select_versions(collection.db, rule)
    report = _build_report(selection)
    report.pruned, report.bytes = len(selection.pruned), sum(row.place.length for row in selection.pruned)
    report.examples = tuple((row.url, row.at) for row in selection.pruned[:max_examples])
    return report


def prune_versions(
    folder: Path,
    rule: RetentionRule,
    clock: Clock = system_clock,
    on_chunk: Callable[[PruneReport], None] = lambda _report: None,
) -> PruneReport:
    """Erase the records of versions that the rule does not keep, and finish an interrupted call."""
    _check_rule(rule)
    with open_collection(folder) as collection:
        if (collection.archive_folder / REMOTE_ADDRESS_FILE).exists():
            raise UsageError("versions in a remote archive (--archive) cannot be pruned")
        interrupted, pending = _load_changed_files(collection.db), load_pending(collection.db)
        if pending is not None:
            _erase(collection, pending, clock())
        selection = select_versions(collection.db, rule)
        report, places, files = _build_report(selection), set[tuple[str, int]](), set(interrupted or ())
        rows = selection.pruned + selection.unchanged
        for start in range(0, len(rows), CHUNK_VERSIONS):
            chunk = rows[start : start + CHUNK_VERSIONS]
            files |= {row.place.file for row in chunk}
            erased = _prune_chunk(collection, chunk, files, clock())
            places |= {(row.place.file, row.place.offset) for row in chunk}
            report.pruned = min(start + len(chunk), len(selection.pruned))
            report.bytes += sum(place.length for place in erased)
            on_chunk(report)
        if files:
            _update_indexes(collection, places, is_resumed=interrupted is not None)
            seal_again(collection.archive_folder, files, clock(), "prune")
            with transaction(collection.db):
                collection.db.execute("DELETE FROM blobs WHERE name = ?", (FILES_BLOB,))
    return report


def _check_rule(rule: RetentionRule) -> None:
    if rule.is_empty:
        raise UsageError("say what to keep: --keep-versions N, --keep-days N, --keep-monthly, or several of them")


def _build_report(selection: PruneSelection) -> PruneReport:
    return PruneReport(kept=selection.kept, held=selection.held, shared=selection.shared)


def _prune_chunk(
    collection: StoredCollection, chunk: list[StoredVersionRow], files: set[str], now: float
) -> list[RecordLocation]:
    extents = [find_visit_extent(collection.archive_folder, row.place) for row in chunk]
    places = merge_locations(extent for extent in extents if extent is not None)
    with transaction(collection.db):
        drop_records(collection.db, [row.visit_id for row in chunk])
        collection.db.execute("DELETE FROM blobs WHERE name = ?", (FILES_BLOB,))
        collection.db.executemany(
            "INSERT INTO blobs VALUES (?, ?)",
            [(PENDING_BLOB, msgpack.encode(places)), (FILES_BLOB, msgpack.encode(sorted(files)))],
        )
    _erase(collection, places, now)
    return places


def _erase(collection: StoredCollection, places: list[RecordLocation], now: float) -> None:
    """Erase records. Idempotent."""
    erase_records(collection.archive_folder, places, now)
    with transaction(collection.db):
        collection.db.execute("DELETE FROM blobs WHERE name = ?", (PENDING_BLOB,))


def load_pending(db: Connection) -> list[RecordLocation] | None:
    """Return the records that an interrupted call has still to erase, or None."""
    value = _load_blob(db, PENDING_BLOB)
    return None if value is None else msgpack.decode(value, type=list[RecordLocation])


def _load_changed_files(db: Connection) -> set[str] | None:
    value = _load_blob(db, FILES_BLOB)
    return None if value is None else msgpack.decode(value, type=set[str])


def _load_blob(db: Connection, name: str) -> bytes | None:
    row = db.execute("SELECT value FROM blobs WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def _update_indexes(collection: StoredCollection, places: set[tuple[str, int]], *, is_resumed: bool) -> None:
    from sanderling.search.index_rewrite import rewrite_search_index  # imports the search engine

    if is_resumed:
        delete_index(collection.cdxj_folder)
    else:
        remove_entries(collection.cdxj_folder, lambda entry: (entry.location.file, entry.location.offset) in places)
    committed = PageCatalog(collection.db).load_committed_lengths()
    open_cdxj_index(collection.cdxj_folder, collection.archive_folder, committed).close()
    dropped = load_dropped_versions(collection.db)
    rewrite_search_index(collection.folder / "index", lambda url, at: (url, at) in dropped)

"""Delete the rows of pages, and record the archive records to erase.

The rows of a chunk are deleted in a transaction that also stores the pending work (`PendingDeletion`). After a crash,
`load_pending_deletion` returns it; repeating it is safe. The URL itself stays known, so that it is not fetched again.
If another page has the same body as a deleted page, the body is rewritten under that page first.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from http import HTTPStatus

from msgspec import Struct, msgpack

from sanderling.db.connection import Connection, transaction
from sanderling.frontier.requeue import mark_deleted
from sanderling.models import Outcome, Reason, UrlState
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.queries import load_urls
from sanderling.storage.visit_records import (
    MovedRecord,
    VisitRecord,
    delete_visits,
    find_shared_bodies,
    load_visit_records,
    load_visit_times,
    move_records,
)
from sanderling.urls.normalize import normalize_url
from sanderling.warc.archive import Archive
from sanderling.warc.erase import find_visit_extent
from sanderling.warc.packer import HttpExchange, pack_response
from sanderling.warc.record_parser import is_offset
from sanderling.warc.records import OriginalRecord, RecordLocation
from sanderling.warc.warc_reader import StoredRecord, read_record

CHUNK_SIZE = 200
PENDING_BLOB = "pending_deletion"  # row of the table blobs
FRAMING_HEADERS = ("content-encoding", "transfer-encoding", "content-length")


class PendingDeletion(Struct):
    """Work that remains after the rows are deleted."""

    places: list[RecordLocation] = []  # records to erase
    remote_records: int = 0  # in archive files that are not available locally
    urls: dict[str, list[float]] = {}  # deleted URLs with their visit times, both keys of the full-text index


class DeletionOptions(Struct, frozen=True):
    now: float
    session: int
    page_columns: Sequence[tuple[str, str]]  # (table, column with the URL id) of all page data
    final_state: UrlState = UrlState.SKIPPED  # of the deleted URLs


class PageDeleter:
    """Deletes pages of an open collection."""

    def __init__(self, db: Connection, archive: Archive, url_ids: Sequence[int], options: DeletionOptions) -> None:
        self.db = db
        self.archive = archive
        self.catalog = PageCatalog(db)
        self.url_ids = url_ids
        self.options = options
        self.shared_bodies = find_shared_bodies(db, set(url_ids))
        self.page_count = 0
        if isinstance(db, sqlite3.Connection):
            db.execute("PRAGMA secure_delete=ON")  # overwrite deleted rows in the database file

    def delete_chunks(self) -> Iterator[PendingDeletion]:
        """Delete a chunk of URLs at a time, and yield its pending work, which the caller must finish."""
        for start in range(0, len(self.url_ids), CHUNK_SIZE):
            with transaction(self.db):
                pending = self._delete_chunk(list(self.url_ids[start : start + CHUNK_SIZE]))
                self.db.execute("INSERT INTO blobs VALUES (?, ?)", (PENDING_BLOB, msgpack.encode(pending)))
            yield pending
            clear_pending_deletion(self.db)

    def _delete_chunk(self, url_ids: list[int]) -> PendingDeletion:
        urls, visit_records = load_urls(self.db, url_ids), load_visit_records(self.db, url_ids)
        replaced = self._preserve_shared_bodies(visit_records)
        extents = [
            find_visit_extent(self.archive.folder, place)
            for place in [*(visit.place for visit in visit_records), *replaced]
        ]
        pending = PendingDeletion(
            [place for place in extents if place is not None], sum(place is None for place in extents)
        )
        for url_id, times in load_visit_times(self.db, url_ids).items():
            pending.urls[urls[url_id]] = times
        stored = sorted(self.catalog.find_stored(url_ids))
        self.page_count += len(stored)
        self._delete_rows(url_ids)
        self.catalog.record_removal(stored, self.options.session, self.options.now, Reason.DELETED)
        for url_id in url_ids:
            pending.urls.setdefault(urls[url_id], [])
        return pending

    def _delete_rows(self, url_ids: list[int]) -> None:
        delete_visits(self.db, url_ids)
        placeholders = ",".join("?" * len(url_ids))
        for table, column in self.options.page_columns:
            self.db.execute(f"DELETE FROM {table} WHERE {column} IN ({placeholders})", url_ids)
        mark_deleted(self.db, url_ids, self.options.final_state)

    def _preserve_shared_bodies(self, visit_records: Sequence[VisitRecord]) -> list[RecordLocation]:
        """Rewrite bodies that other pages share with deleted pages; return the records to erase."""
        deleted_places = {(visit.place.file, visit.place.offset) for visit in visit_records}
        replaced: list[RecordLocation] = []
        for digest in {visit.digest for visit in visit_records if visit.digest in self.shared_bodies}:
            visits = [
                (visit, record)
                for visit in load_visit_records(self.db, self.shared_bodies[digest])
                if (record := read_record(self.archive.folder, visit.place))
                and _is_stored_in(visit, record, deleted_places)
            ]
            replaced += self._rewrite_records(visits)
        return replaced

    def _rewrite_records(self, visit_records: Sequence[tuple[VisitRecord, StoredRecord]]) -> list[RecordLocation]:
        """Write the body under the first visit that fetched it, and revisit records for the other visits."""
        first = next(((visit, record) for visit, record in visit_records if visit.outcome == Outcome.FETCHED), None)
        if first is None:
            return []
        visit, record = first
        url = self._get_request_url(visit, record)
        packed = pack_response(
            HttpExchange(url, visit.fetched_at, _build_http_head(record, FRAMING_HEADERS), record.body)
        )
        place = self.archive.append(packed.member)
        original = OriginalRecord(packed.record_id, url, visit.fetched_at, packed.payload_digest, place)
        rewritten = [MovedRecord(visit, packed.record_id, packed.payload_digest, place)]
        for other, other_record in visit_records:
            if other.visit_id != visit.visit_id:
                revisit, revisit_place = self.archive.append_revisit(
                    HttpExchange(
                        self._get_request_url(other, other_record), other.fetched_at, _build_http_head(other_record)
                    ),
                    original,
                )
                rewritten.append(MovedRecord(other, revisit.record_id, packed.payload_digest, revisit_place))
        files = {name: self.catalog.upsert_file(name, length) for name, length in self.archive.flush().items()}
        move_records(self.db, [(record, files[record.place.file]) for record in rewritten])
        self.catalog.set_body_record(visit.digest, visit.visit_id)
        return [record.visit.place for record in rewritten]

    def _get_request_url(self, visit: VisitRecord, record: StoredRecord) -> str:
        """Return the URL of a record, or that of the visit if the record is of another page."""
        key = load_urls(self.db, [visit.url_id])[visit.url_id]
        normalized = normalize_url(record.url)
        return record.url if normalized is not None and normalized.url == key else key


def load_pending_deletion(db: Connection) -> PendingDeletion | None:
    """Return the pending work of an interrupted deletion, or None."""
    row = db.execute("SELECT value FROM blobs WHERE name = ?", (PENDING_BLOB,)).fetchone()
    return msgpack.decode(row[0], type=PendingDeletion) if row else None


def clear_pending_deletion(db: Connection) -> None:
    db.execute("DELETE FROM blobs WHERE name = ?", (PENDING_BLOB,))


def _is_stored_in(visit: VisitRecord, record: StoredRecord, deleted_places: set[tuple[str, int]]) -> bool:
    """Return whether the body of a visit is in one of these records.

    A record may be that of several pages: an imported revisit has the place of its original.
    """
    offset = record.get_field("WARC-Refers-To-File-Offset")
    original = (record.get_field("WARC-Refers-To-Filename"), int(offset) if is_offset(offset) else -1)
    return (visit.place.file, visit.place.offset) in deleted_places or (
        record.record_type == "revisit" and original in deleted_places
    )


def _build_http_head(record: StoredRecord, excluded_headers: Sequence[str] = ()) -> bytes:
    phrase = HTTPStatus(record.status).phrase if record.status in set(HTTPStatus) else "Unknown"
    lines = [f"HTTP/1.1 {record.status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in record.http_headers if name.lower() not in excluded_headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")

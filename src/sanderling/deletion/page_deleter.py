"""Take pages out of a collection: rows, records of the archive, lines of its index; the URL stays, so that it is known.

Rows go in one transaction that also writes down what is still to be erased (`Work`). A crash leaves work that `pending`
finds and that can be done again. A page with the same body as a forgotten one keeps it: its records are written anew.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus

from msgspec import Struct, msgpack

from sanderling.db.connection import Connection, transaction
from sanderling.models import Outcome, Reason, UrlState
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.queries import load_urls
from sanderling.warc.archive import Archive
from sanderling.warc.erase import find_visit_extent
from sanderling.warc.packer import HttpExchange, pack_response
from sanderling.warc.records import OriginalRecord, RecordLocation
from sanderling.warc.warc_reader import StoredRecord, read_record

CHUNK_SIZE = 200
PENDING_BLOB = "forgetting"  # name of the blob
FRAMING_HEADERS = ("content-encoding", "transfer-encoding", "content-length")


class PendingDeletion(Struct):
    """What is still to be done after the rows are gone."""

    places: list[RecordLocation] = []  # to be erased
    remote_records: int = 0  # records in files that are not here
    urls: dict[str, list[float]] = {}  # forgotten, each with the times of its visits: the full-text index has both


class VisitRecord(Struct, frozen=True):
    """A visit with a record."""

    visit_id: int
    url_id: int
    fetched_at: float
    outcome: str
    record_id: str
    payload_digest: str
    digest: bytes
    file: str
    offset: int
    length: int

    @property
    def place(self) -> RecordLocation:
        """Where the record lies."""
        return RecordLocation(self.file, self.offset, self.length)


SELECT_VISIT_RECORDS = (
    "SELECT v.id, v.url, v.at, v.outcome, v.record, v.payload, v.digest, f.name, v.start, v.length"
    " FROM visits AS v JOIN files AS f ON f.id = v.file WHERE v.length > 0 AND v.url IN ({}) ORDER BY v.at, v.id"
)


class DeletionOptions(Struct, frozen=True):
    """How pages are forgotten."""

    now: float
    session: int
    page_columns: Sequence[tuple[str, str]]  # what every room keeps of a page: table, and column with its URL
    final_state: UrlState = UrlState.SKIPPED  # what becomes of the URL


class PageDeleter:
    """Forgets pages of one open collection."""

    def __init__(self, db: Connection, archive: Archive, url_ids: Sequence[int], options: DeletionOptions) -> None:
        self.db = db
        self.archive = archive
        self.catalog = PageCatalog(db)
        self.url_ids = url_ids
        self.options = options
        self.shared_bodies = _find_shared_bodies(db, set(url_ids))
        self.page_count = 0
        if isinstance(db, sqlite3.Connection):
            db.execute("PRAGMA secure_delete=ON")  # what is deleted is to be gone from the file too

    def delete_chunks(self) -> Iterator[PendingDeletion]:
        """Forget some URLs at a time; what is left to do of each part comes back, and is done before the next."""
        for start in range(0, len(self.url_ids), CHUNK_SIZE):
            with transaction(self.db):
                work = self._delete_chunk(list(self.url_ids[start : start + CHUNK_SIZE]))
                self.db.execute("INSERT INTO blobs VALUES (?, ?)", (PENDING_BLOB, msgpack.encode(work)))
            yield work
            clear_pending_deletion(self.db)

    def _delete_chunk(self, url_ids: list[int]) -> PendingDeletion:
        names, held = load_urls(self.db, url_ids), _load_visit_records(self.db, url_ids)
        kept = self._preserve_shared_bodies(held)
        extents = [find_visit_extent(self.archive.folder, place) for place in [*(one.place for one in held), *kept]]
        work = PendingDeletion(
            [place for place in extents if place is not None], sum(place is None for place in extents)
        )
        marks = ",".join("?" * len(url_ids))
        for url, at in self.db.execute(f"SELECT url, at FROM visits WHERE url IN ({marks})", url_ids):
            work.urls.setdefault(names[url], []).append(at)
        stored = [url for (url,) in self.db.execute(f"SELECT url FROM pages WHERE url IN ({marks})", url_ids)]
        self.page_count += len(stored)
        self._delete_rows(url_ids, marks)
        self.catalog.record_removal(stored, self.options.session, self.options.now, Reason.DELETED)
        for url in url_ids:
            work.urls.setdefault(names[url], [])
        return work

    def _delete_rows(self, url_ids: list[int], placeholders: str) -> None:
        db = self.db
        db.execute(f"DELETE FROM digests WHERE visit IN (SELECT id FROM visits WHERE url IN ({placeholders}))", url_ids)
        db.execute(f"DELETE FROM visits WHERE url IN ({placeholders})", url_ids)
        db.execute(f"UPDATE pages SET duplicate_of = 0 WHERE duplicate_of IN ({placeholders})", url_ids)
        for table, column in self.options.page_columns:
            db.execute(f"DELETE FROM {table} WHERE {column} IN ({placeholders})", url_ids)
        db.execute(
            f"UPDATE urls SET state = ?, reason = ?, note = '' WHERE id IN ({placeholders})",
            (str(self.options.final_state), str(Reason.DELETED), *url_ids),
        )

    def _preserve_shared_bodies(self, visit_records: Sequence[VisitRecord]) -> list[RecordLocation]:
        """Write the bodies that other pages have too once more, under these; give what is to be erased of them."""
        lost = {(one.place.file, one.place.offset) for one in visit_records}
        replaced: list[RecordLocation] = []
        for digest in {one.digest for one in visit_records if one.digest in self.shared_bodies}:
            visits = [
                (one, record)
                for one in _load_visit_records(self.db, self.shared_bodies[digest])
                if (record := read_record(self.archive.folder, one.place)) and _has_deleted_original(record, lost)
            ]
            replaced += self._rewrite_records(visits)
        return replaced

    def _rewrite_records(self, visit_records: Sequence[tuple[VisitRecord, StoredRecord]]) -> list[RecordLocation]:
        """The first that brought the body becomes its record; the others repeat that one."""
        first = next(((one, record) for one, record in visit_records if one.outcome == Outcome.FETCHED), None)
        if first is None:
            return []
        one, record = first
        packed = pack_response(
            HttpExchange(record.url, one.fetched_at, _build_http_head(record, FRAMING_HEADERS), record.body)
        )
        place = self.archive.append(packed.member)
        original = OriginalRecord(packed.record_id, record.url, one.fetched_at, packed.payload_digest, place)
        new = [(one, packed.record_id, packed.payload_digest, place)]
        for other, seen in visit_records:
            if other.visit_id != one.visit_id:
                again, where = self.archive.append_revisit(
                    HttpExchange(seen.url, other.fetched_at, _build_http_head(seen)), original
                )
                new.append((other, again.record_id, packed.payload_digest, where))
        files = {name: self.catalog.upsert_file(name, length) for name, length in self.archive.flush().items()}
        self.db.executemany(
            "UPDATE visits SET file = ?, start = ?, length = ?, record = ?, payload = ? WHERE id = ?",
            [(files[place.file], place.offset, place.length, id_, payload, held.visit_id)
             for held, id_, payload, place in new],
        )  # fmt: skip
        self.catalog.set_body_record(one.digest, one.visit_id)
        return [held.place for held, _, _, _ in new]


def load_pending_deletion(db: Connection) -> PendingDeletion | None:
    """What an earlier forgetting left to do; None if nothing."""
    row = db.execute("SELECT value FROM blobs WHERE name = ?", (PENDING_BLOB,)).fetchone()
    return msgpack.decode(row[0], type=PendingDeletion) if row else None


def clear_pending_deletion(db: Connection) -> None:
    """Nothing is left to do."""
    db.execute("DELETE FROM blobs WHERE name = ?", (PENDING_BLOB,))


def find_known_urls(db: Connection, matches: Callable[[str], object]) -> list[int]:
    """The ids of all known URLs that are meant and not forgotten yet."""
    rows = db.execute(
        "SELECT u.id, h.name || u.path FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        " WHERE u.reason <> ? ORDER BY u.id",
        (str(Reason.DELETED),),
    )
    return [id_ for id_, url in rows if matches(url)]


def _load_visit_records(db: Connection, url_ids: Sequence[int]) -> list[VisitRecord]:
    found: list[VisitRecord] = []
    for start in range(0, len(url_ids), CHUNK_SIZE):
        part = url_ids[start : start + CHUNK_SIZE]
        rows = db.execute(SELECT_VISIT_RECORDS.format(",".join("?" * len(part))), part)
        found += [VisitRecord(*row) for row in rows]
    return found


def _find_shared_bodies(db: Connection, deleted_ids: set[int]) -> dict[bytes, list[int]]:
    """Digests of forgotten bodies that other pages had too, with these pages."""
    sql = "SELECT url, digest FROM visits WHERE outcome = ? AND length > 0"
    lost = {digest for url, digest in db.execute(sql, (str(Outcome.FETCHED),)) if url in deleted_ids}
    having: dict[bytes, set[int]] = defaultdict(set)
    for url, digest in db.execute(sql, (str(Outcome.FETCHED),)):
        if digest in lost and url not in deleted_ids:
            having[digest].add(url)
    return {digest: sorted(urls) for digest, urls in having.items()}


def _has_deleted_original(record: StoredRecord, deleted_places: set[tuple[str, int]]) -> bool:
    """Does a record lean on one that goes?"""
    offset = record.get_field("WARC-Refers-To-File-Offset")
    return (
        record.record_type == "revisit"
        and (record.get_field("WARC-Refers-To-Filename"), int(offset or -1)) in deleted_places
    )


def _build_http_head(record: StoredRecord, excluded_headers: Sequence[str] = ()) -> bytes:
    """Status line and headers as they were seen."""
    phrase = HTTPStatus(record.status).phrase if record.status in set(HTTPStatus) else "Unknown"
    lines = [f"HTTP/1.1 {record.status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in record.http_headers if name.lower() not in excluded_headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")

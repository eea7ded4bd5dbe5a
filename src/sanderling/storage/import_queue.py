"""Copy the records of other archives into the archive of a collection, and queue them for processing.

Records are copied in the order of their files, and processed in the order of their dates. Each batch of copied records
is one transaction with the offset to resume from.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from sanderling.clock import Clock
from sanderling.db.connection import Connection, transaction
from sanderling.errors import UsageError
from sanderling.http.content_type import is_html, parse_mime_type
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import StoredCollection
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.urls.blocklist import compile_patterns
from sanderling.urls.normalize import get_host, normalize_url
from sanderling.warc.archive import Archive, open_archive
from sanderling.warc.cdxj import CdxjEntry, build_entry
from sanderling.warc.cdxj_index import CdxjIndex, open_cdxj_index
from sanderling.warc.import_reader import ImportableRecord, RejectedRecord, iterate_importable
from sanderling.warc.import_sources import SourceFile
from sanderling.warc.records import RecordLocation
from sanderling.warc.remote import REMOTE_ADDRESS_FILE
from sanderling.warc.warc_reader import StoredRecord

BATCH_RECORDS = 4_000  # a batch ends with two syncs of the disk; tiny records would wait for them
BATCH_BYTES = 16_000_000
COMPLETE = -1
PROCESSED_TYPES = frozenset({"response", "resource", "revisit"})
PROCESSED_STATUSES = frozenset({*range(200, 206), *range(207, 300), 301, 302, 303, 304, 307, 308, 404, 410})
"""Other responses are captures without a meaning for the catalog; 206 is a part of a body."""


class QueuedImport(Struct, frozen=True):
    """A copied record that is not processed yet."""

    id: int
    captured_at: float
    location: RecordLocation
    url: str = ""  # as recorded; empty: queued by an older version


class CopyReport(Struct):
    """Counts of copied and rejected records."""

    records: int = 0
    bytes: int = 0
    files: int = 0
    known_files: int = 0  # imported before
    other: Counter[str] = field(default_factory=Counter)  # copied, but no version of a page, by kind
    rejected: Counter[str] = field(default_factory=Counter)  # by reason
    examples: list[str] = field(default_factory=list)  # of rejected records


class _Batch(Struct):
    """Appended records that are not committed yet."""

    records: int = 0
    bytes: int = 0
    end_offset: int = 0
    entries: list[CdxjEntry] = field(default_factory=list)
    queued: list[tuple[float, str, int, int, str]] = field(default_factory=list)


MAX_EXAMPLES = 20
MAX_SEED_HOSTS = 1_000
STATUS_OK = 200


class ImportWriter:
    """Appends records of other archives to the archive of a collection."""

    def __init__(self, collection: StoredCollection, archive: Archive, index: CdxjIndex, now: float) -> None:
        self.db, self.archive, self.index, self.now = collection.db, archive, index, now
        self.catalog, self.meta = PageCatalog(collection.db), CollectionMeta(collection.db)
        self.blocklist = compile_patterns(self.meta.blocked_patterns)
        self.report = CopyReport()
        self.first_pages = dict(self.meta.import_first_pages)  # not the shared default
        self._has_new_first_page = False

    def copy_file(self, source: SourceFile, on_batch: Callable[[CopyReport], None]) -> None:
        """Copy the records of a file from where an earlier import stopped."""
        start = self.meta.import_offsets.get(source.fingerprint, 0)
        if start == COMPLETE:
            self.report.known_files += 1
            return
        self.report.files += 1
        batch = _Batch(end_offset=start)
        for item in iterate_importable(source.path, start, source.offsets):
            batch.end_offset = item.end_offset
            if isinstance(item, RejectedRecord):
                self._reject(source, item.offset, item.reason)
            elif self._is_blocked(item.record.url):
                self._reject(source, item.record.location.offset, "the URL was deleted from this collection")
            else:
                self._append(item, batch)
            if batch.records >= BATCH_RECORDS or batch.bytes >= BATCH_BYTES:
                self._commit(batch, source.fingerprint, batch.end_offset)
                batch = _Batch(end_offset=batch.end_offset)
                on_batch(self.report)
        self._commit(batch, source.fingerprint, COMPLETE)

    def _is_blocked(self, url: str) -> bool:
        if self.blocklist is None:
            return False
        normalized = normalize_url(url)
        return self.blocklist.fullmatch(normalized.url if normalized else url) is not None

    def _append(self, item: ImportableRecord, batch: _Batch) -> None:
        location = self.archive.append(item.member)
        batch.records += 1
        batch.bytes += len(item.member)
        entry = build_entry(item.record)
        if entry is not None:
            batch.entries.append(replace(entry, location=location))
        if is_processed(item, self.now):
            batch.queued.append((item.captured_at, location.file, location.offset, location.length, item.record.url))
            self._note_first_page(item)
        else:
            self.report.other[_describe_other(item.record)] += 1

    def _note_first_page(self, item: ImportableRecord) -> None:
        """Remember the earliest HTML page of each host."""
        if item.record.status != STATUS_OK or not is_html(parse_mime_type(item.record.get_header("Content-Type")), b""):
            return
        url = normalize_url(item.record.url)
        host = get_host(url.url) if url else ""
        earliest = self.first_pages.get(host)
        is_full = earliest is None and len(self.first_pages) >= MAX_SEED_HOSTS
        if url and not is_full and (earliest is None or item.captured_at < earliest[0]):
            self.first_pages[host] = (item.captured_at, url.url)
            self._has_new_first_page = True

    def _reject(self, source: SourceFile, offset: int, reason: str) -> None:
        self.report.rejected[reason.partition(":")[0].partition(" of http")[0]] += 1
        if len(self.report.examples) < MAX_EXAMPLES:
            self.report.examples.append(f"{source.name} at {offset:,}: {reason}")

    def _commit(self, batch: _Batch, fingerprint: str, end_offset: int) -> None:
        lengths = self.archive.flush()
        with transaction(self.db):
            for name, length in lengths.items():
                self.catalog.upsert_file(name, length)
            self.db.executemany(
                "INSERT INTO imports (at, file, start, length, url) VALUES (?, ?, ?, ?, ?)", batch.queued
            )
            if self._has_new_first_page:
                self.meta.import_first_pages, self._has_new_first_page = self.first_pages, False
            self.meta.import_offsets = {**self.meta.import_offsets, fingerprint: end_offset}
        self.index.add(batch.entries, lengths)
        self.report.records += batch.records
        self.report.bytes += batch.bytes


def is_processed(item: ImportableRecord, now: float) -> bool:
    """Return whether a record is a version of a page; it is only copied otherwise."""
    record = item.record
    is_web = record.url.lower().startswith(("http:", "https:"))
    has_status = record.status in PROCESSED_STATUSES or (record.record_type == "revisit" and not record.status)
    return (
        record.record_type in PROCESSED_TYPES
        and is_web
        and normalize_url(record.url) is not None
        and has_status
        and 0 < item.captured_at <= now
        and not record.url.endswith("/robots.txt")
    )


def _describe_other(record: StoredRecord) -> str:
    """Return the kind of a record that is no version of a page."""
    if record.record_type not in PROCESSED_TYPES:
        return record.record_type[:20] or "unknown"
    scheme = record.url.partition(":")[0].lower()
    if scheme not in ("http", "https"):
        return f"{record.record_type} of {scheme[:20]}:"
    if record.status not in PROCESSED_STATUSES and record.status:
        return f"{record.record_type} with status {record.status}"
    return "robots.txt" if record.url.endswith("/robots.txt") else f"{record.record_type} with an invalid URL or date"


def open_import_writer(collection: StoredCollection, clock: Clock) -> ImportWriter:
    """Open the archive of a collection. Close it with `close_import_writer`."""
    if (collection.archive_folder / REMOTE_ADDRESS_FILE).exists():
        raise UsageError("cannot import into a collection with a remote archive (--archive); use another -C")
    catalog = PageCatalog(collection.db)
    archive = open_archive(collection.archive_folder, catalog.load_committed_lengths(), clock=clock)
    with transaction(collection.db):
        for name, length in archive.get_flushed_lengths().items():
            catalog.upsert_file(name, length)
    index = open_cdxj_index(collection.cdxj_folder, collection.archive_folder, catalog.load_committed_lengths())
    return ImportWriter(collection, archive, index, clock())


def close_import_writer(writer: ImportWriter) -> None:
    writer.archive.close()
    with transaction(writer.db):
        for name, length in writer.archive.get_flushed_lengths().items():
            writer.catalog.upsert_file(name, length)
    writer.index.close()


def load_queued_imports(db: Connection, limit: int, after: QueuedImport | None = None) -> list[QueuedImport]:
    """Return the next records to process, by date."""
    key = (after.captured_at, after.id) if after else (-1.0, 0)
    rows = db.execute(
        "SELECT id, at, file, start, length, url FROM imports WHERE (at, id) > (?, ?) ORDER BY at, id LIMIT ?",
        (*key, limit),
    )
    return [
        QueuedImport(id_, at, RecordLocation(file, start, length), url) for id_, at, file, start, length, url in rows
    ]


def count_queued_imports(db: Connection) -> int:
    return int(db.execute("SELECT count(*) FROM imports").fetchone()[0])


def delete_queued_imports(db: Connection, ids: Sequence[int]) -> None:
    db.executemany("DELETE FROM imports WHERE id = ?", [(id_,) for id_ in ids])

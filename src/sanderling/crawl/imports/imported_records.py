"""Turn records of other archives into visits, as if a worker had fetched them at their time."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from sanderling.errors import CollectionError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.record_packer import RecordPacker
from sanderling.fetch.response_processor import FingerprintInput, ResponseProcessor
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.html.parser import Document
from sanderling.html.scanned_page import ScanResult
from sanderling.models import FetchTask, StoredVersion, UrlRole, Visit
from sanderling.page_fingerprints import PageFingerprints
from sanderling.storage.import_queue import QueuedImport
from sanderling.urls.normalize import NormalizedUrl, get_host, normalize_url
from sanderling.warc.capture_choice import find_original
from sanderling.warc.cdxj import STATUS_NOT_MODIFIED
from sanderling.warc.cdxj_index import find_captures
from sanderling.warc.packer import DigestAlgorithm, HttpExchange, PackedRecord, format_digest, make_record_id
from sanderling.warc.records import OriginalRecord, RecordLocation
from sanderling.warc.warc_reader import StoredRecord, read_record
from sanderling.workers.worker import compute_fingerprints

CODING_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length"})  # bodies are decoded
REQUISITE_TYPES = ("image/", "font/", "audio/", "video/", "text/css")
SCRIPT_NAMES = ("javascript", "ecmascript", "font-woff", "wasm")


class ImportTask(Struct, frozen=True):
    """A copied record to be read, and the stored version of its page."""

    queued: QueuedImport
    role: UrlRole | None = None  # None: the URL is not known
    digest: bytes = b""  # of the last version
    last_version: StoredVersion | None = None


class ProcessedImport(Struct, frozen=True):
    """A visit made of a copied record, without the id of its URL and without a lease."""

    queued: QueuedImport
    reason: str = ""  # why it is no version of a page
    url: NormalizedUrl | None = None
    visit: Visit | None = None
    location: RecordLocation | None = None  # of the body: that of the original, for a revisit record
    is_not_modified: bool = False


class ImportReaderConfig(Struct, frozen=True):
    """Settings and folders for reading copied records."""

    settings: FetchSettings
    archive_folder: Path
    cdxj_folder: Path


class _ImportedRecord(Struct, frozen=True):
    """A copied record with its body, and the URL that it is a version of."""

    queued: QueuedImport
    url: NormalizedUrl
    record: StoredRecord
    location: RecordLocation

    @property
    def role(self) -> UrlRole:
        """The role of a new URL: files that pages are shown with are no pages."""
        mime = self.record.get_header("Content-Type").lower()
        is_requisite = mime.startswith(REQUISITE_TYPES) or any(name in mime for name in SCRIPT_NAMES)
        return UrlRole.REQUISITE if is_requisite else UrlRole.PAGE

    @property
    def is_not_modified(self) -> bool:
        return self.record.status == STATUS_NOT_MODIFIED


class ImportedArchive:
    """Stands in for the archive while records are processed that it contains already."""

    def __init__(self, committed: Mapping[str, int]) -> None:
        self._committed = committed
        self._locations: dict[str, RecordLocation] = {}

    def set_locations(self, locations: Mapping[str, RecordLocation]) -> None:
        """Set the locations of the records of the next batch, by record id."""
        self._locations = dict(locations)

    def append(self, member: bytes) -> RecordLocation:
        """Return the location of the record with this id."""
        return self._locations[member.decode()]

    def append_revisit(
        self,
        _exchange: HttpExchange,
        original: OriginalRecord,
        _algorithm: DigestAlgorithm = "sha256",
        record_id: str = "",
    ) -> tuple[PackedRecord, RecordLocation]:
        """Return the location of the record with this id: a body that comes again is stored again."""
        return PackedRecord(record_id, b"", original.payload_digest), self._locations[record_id]

    def start_flush(self) -> dict[str, int]:
        """Return the files of the batch with their committed lengths."""
        return {location.file: self._committed[location.file] for location in self._locations.values()}

    def finish_flush(self) -> None:
        """Do nothing: the records are on disk."""

    def get_flushed_lengths(self) -> dict[str, int]:
        return {}


class ImportedIndex:
    """Stands in for the index, which got its entries when the records were copied."""

    def add(self, _entries: object, _lengths: object) -> None:
        """Do nothing."""


class ImportReader:
    """Reads copied records and parses their pages."""

    def __init__(self, config: ImportReaderConfig) -> None:
        self._config = config
        self._processor = _ImportedResponseProcessor(config.settings)

    def read_batch(self, tasks: Sequence[ImportTask]) -> list[ProcessedImport]:
        return [self._read(task) for task in tasks]

    def _read(self, task: ImportTask) -> ProcessedImport:
        imported = self._read_record(task.queued)
        if isinstance(imported, str):
            return ProcessedImport(task.queued, imported)
        visit = self._processor.process_imported(task, imported)
        return ProcessedImport(task.queued, "", imported.url, visit, imported.location, imported.is_not_modified)

    def _read_record(self, queued: QueuedImport) -> _ImportedRecord | str:
        """Read a copied record; returns the reason if it cannot become a version of a page."""
        locations = [queued.location]

        def find_capture(revisit: StoredRecord) -> RecordLocation | None:
            original = find_original(find_captures(self._config.cdxj_folder, revisit.original_url), revisit)
            if original is not None:
                locations.append(original.location)
            return original.location if original else None

        try:
            folder, max_body = self._config.archive_folder, self._config.settings.max_body
            record = read_record(folder, queued.location, max_body, find_capture)
        except CollectionError:
            return "the original of a revisit record is missing"
        url = normalize_url(record.url)
        if url is None:
            return "the URL is not valid"
        if record.is_truncated:
            return "the body is larger than --max-body"
        if record.body_problem:
            return "the body cannot be decoded"
        return _ImportedRecord(queued, url, record, locations[-1])


def _compute_fingerprints(page: Document | ScanResult, fingerprint_input: FingerprintInput) -> PageFingerprints:
    """Compute fingerprints, but not those that stop a crawl at endless pages: nothing is fetched."""
    fingerprints = compute_fingerprints(page, replace(fingerprint_input, url=""))
    return replace(fingerprints, undated=b"")


class _RecordReference(RecordPacker):
    """Refers to the stored record by its id instead of packing it."""

    def pack(
        self, _task: FetchTask, response: FetchResponse, _fetched_at: float, _digest: bytes = b""
    ) -> dict[str, Any]:
        return {"response_record": response.request.user_data}


class _ImportedResponseProcessor(ResponseProcessor):
    """Turns stored records into visits."""

    def __init__(self, settings: FetchSettings) -> None:
        super().__init__(settings, _compute_fingerprints, packs_links=True)
        self._record_packer = _RecordReference(settings)

    def process_imported(self, task: ImportTask, imported: _ImportedRecord) -> Visit:
        """Return the visit of a record."""
        record = imported.record
        record_id = record.get_field("WARC-Record-ID").strip("<>") or make_record_id()
        role, url = task.role or imported.role, imported.url
        fetch_task = FetchTask(
            0, 0, url.url, url.distinct_request_url, digest=task.digest, role=role, last_version=task.last_version
        )
        visit = self.process(fetch_task, _build_response(imported, record_id), imported.queued.captured_at)
        payload_digest = record.get_field("WARC-Payload-Digest")
        payload_digest = payload_digest or format_digest("sha256", sha256(record.body).digest())
        return replace(
            visit,
            record_id=record_id,
            payload_digest=payload_digest,
            address=record.get_field("WARC-IP-Address")[:45],
        )


def _build_response(imported: _ImportedRecord, record_id: str) -> FetchResponse:
    """Return the response of a record, without content and transfer coding."""
    record, request_url = imported.record, imported.url.request_url
    lines = [b"HTTP/1.1 %d\r\n" % (record.status or 200)]
    lines += [
        f"{name}: {value}\r\n".encode("latin-1", "replace")
        for name, value in record.http_headers
        if name.lower() not in CODING_HEADERS
    ]
    validators = (b"If-None-Match: *",) if imported.is_not_modified else ()
    endpoint = parse_endpoint(get_host(imported.url.url))
    request = FetchRequest(request_url, endpoint, record_id.encode(), validators)
    body = b"" if imported.is_not_modified else record.body
    return FetchResponse(request, [*lines, b"\r\n"], body, 0.0, received_bytes=len(body))

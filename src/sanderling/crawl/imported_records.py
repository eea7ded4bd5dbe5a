"""Turn records of other archives into visits, as if a worker had fetched them at their time."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sanderling.errors import CollectionError
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.response_processor import ResponseProcessor, VisitFields
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.models import FetchTask, UrlRole, Visit
from sanderling.storage.import_queue import QueuedImport
from sanderling.urls.normalize import NormalizedUrl, get_host, normalize_url
from sanderling.warc.cdxj import REVISIT_MIME, STATUS_NOT_MODIFIED
from sanderling.warc.cdxj_index import CdxjIndex, find_nearest
from sanderling.warc.import_reader import parse_warc_time
from sanderling.warc.packer import DigestAlgorithm, HttpExchange, PackedRecord, format_digest, make_record_id
from sanderling.warc.records import OriginalRecord, RecordLocation
from sanderling.warc.warc_reader import StoredRecord, read_record

CODING_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length"})  # bodies are decoded
REQUISITE_TYPES = ("image/", "font/", "audio/", "video/", "text/css")
SCRIPT_NAMES = ("javascript", "ecmascript", "font-woff", "wasm")


class ImportedRecord(Struct, frozen=True):
    """A copied record with its body, and the URL that it is a version of."""

    queued: QueuedImport
    url: NormalizedUrl
    record: StoredRecord
    location: RecordLocation  # of the body: that of the original, for a revisit record
    record_id: str  # unique in its batch

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

    def set_records(self, records: Sequence[ImportedRecord]) -> None:
        """Set the records of the next batch."""
        self._locations = {imported.record_id: imported.location for imported in records}

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


class ImportedResponseProcessor(ResponseProcessor):
    """Refers to the stored record by its id instead of packing one."""

    def _pack_records(
        self,
        _task: FetchTask,
        response: FetchResponse,
        visit_fields: VisitFields,
        _fetched_at: float,
        _digest: bytes = b"",
    ) -> None:
        imported: ImportedRecord = response.request.user_data
        visit_fields["response_record"] = imported.record_id.encode()

    def process_imported(self, task: FetchTask, imported: ImportedRecord) -> Visit:
        """Return the visit of a record."""
        visit = self.process(task, build_response(imported), imported.queued.captured_at)
        payload_digest = imported.record.get_field("WARC-Payload-Digest")
        payload_digest = payload_digest or format_digest("sha256", sha256(imported.record.body).digest())
        return replace(
            visit,
            record_id=imported.record_id,
            payload_digest=payload_digest,
            address=imported.record.get_field("WARC-IP-Address")[:45],
        )


def build_response(imported: ImportedRecord) -> FetchResponse:
    """Return the response of a record, without content and transfer coding."""
    record, request_url = imported.record, imported.url.request_url
    lines = [b"HTTP/1.1 %d\r\n" % (record.status or 200)]
    lines += [
        f"{name}: {value}\r\n".encode("latin-1", "replace")
        for name, value in record.http_headers
        if name.lower() not in CODING_HEADERS
    ]
    validators = (b"If-None-Match: *",) if imported.is_not_modified else ()
    request = FetchRequest(request_url, parse_endpoint(get_host(imported.url.url)), imported, validators)
    body = b"" if imported.is_not_modified else record.body
    return FetchResponse(request, [*lines, b"\r\n"], body, 0.0, received_bytes=len(body))


def read_import(queued: QueuedImport, folder: Path, index: CdxjIndex, max_body_bytes: int) -> ImportedRecord | str:
    """Read a copied record; returns the reason if it cannot become a version of a page."""
    locations = [queued.location]

    def find_capture(url: str, date: str) -> RecordLocation | None:
        captures = [entry for entry in index.find_captures(url) if entry.mime != REVISIT_MIME]
        nearest = find_nearest(captures, parse_warc_time(date) or queued.captured_at)
        if nearest is not None:
            locations.append(nearest.location)
        return nearest.location if nearest else None

    try:
        record = read_record(folder, queued.location, max_body_bytes, find_capture)
    except CollectionError:
        return "the original of a revisit record is missing"
    url = normalize_url(record.url)
    if url is None:
        return "the URL is not valid"
    if record.is_truncated:
        return "the body is larger than --max-body"
    if record.body_problem:
        return "the body cannot be decoded"
    record_id = record.get_field("WARC-Record-ID").strip("<>") or make_record_id()
    return ImportedRecord(queued, url, record, locations[-1], record_id)

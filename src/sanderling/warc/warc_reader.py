"""Read the archive: one record by its place, or all records of a file, past what is damaged."""

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from sanderling.errors import CollectionError
from sanderling.http.decoding import DecodeProblem, build_decoder
from sanderling.warc.gzip_members import GZIP_MAGIC, DamagedRecordError, GzipMember, find_next_record
from sanderling.warc.packer import HeaderField
from sanderling.warc.record_parser import (
    ParsedRecord,
    decode_chunked,
    get_first_value,
    is_record_start,
    join_header_values,
    parse_record,
)
from sanderling.warc.records import RecordLocation
from sanderling.warc.remote import open_warc_file

MAX_BODY_BYTES = 64 * 1024 * 1024
MAX_REVISIT_CHAIN = 4  # how often a revisit may point at a revisit


class StoredRecord(Struct, frozen=True):
    """One record, its body with transfer and content coding removed."""

    record_type: str  # response, request, revisit, metadata, warcinfo, resource ...
    location: RecordLocation
    fields: tuple[HeaderField, ...]  # of the WARC record
    status: int = 0  # of HTTP; 0 if it has none
    http_headers: tuple[HeaderField, ...] = ()  # HTTP headers
    body: bytes = b""
    is_truncated: bool = False  # the stored body is longer than the cap
    is_intact: bool | None = None  # whether its digests agree; None if not asked, or none to compare
    body_problem: str = ""  # what is wrong with the body, if it could not be decoded in full

    def get_field(self, name: str) -> str:
        """A field of the WARC record; empty if it is not there."""
        return get_first_value(self.fields, name)

    def get_header(self, name: str) -> str:
        """A header of the HTTP message; empty if it is not there."""
        return join_header_values(self.http_headers, name)

    @property
    def url(self) -> str:
        """The URL it was asked for under."""
        return self.get_field("WARC-Target-URI")


class DamagedRegion(Struct, frozen=True):
    """A stretch of a file that holds no readable record."""

    location: RecordLocation  # its length is 0 if it goes on to the end
    problem: str


CaptureLookup = Callable[[str, str], RecordLocation | None]
"""Look a capture up by URL and WARC date; an index does it."""


def read_record(
    folder: Path,
    location: RecordLocation,
    max_body_bytes: int = MAX_BODY_BYTES,
    find_capture: CaptureLookup | None = None,
) -> StoredRecord:
    """Read the record at a place; a revisit comes with the body of what it repeats."""
    record = _read_single_record(folder, location, max_body_bytes)
    original = record
    for _ in range(MAX_REVISIT_CHAIN):
        if original.record_type != "revisit":
            return replace(
                record, body=original.body, is_truncated=original.is_truncated, body_problem=original.body_problem
            )
        original = _read_single_record(folder, _locate_original(original, find_capture), max_body_bytes)
    raise CollectionError(f"{location.file} at {location.offset}: revisits that lead nowhere")


def read_member(member: bytes, max_body_bytes: int = MAX_BODY_BYTES) -> StoredRecord:
    """Read a record that is not in a file yet."""
    parsed = parse_record(io.BufferedReader(GzipMember(io.BytesIO(member), 0)), max_body_bytes)
    if parsed is None:
        raise CollectionError("an empty record")
    return _build_stored_record(parsed, RecordLocation("", 0, len(member)), max_body_bytes)


def iterate_records(
    path: Path, max_body_bytes: int = MAX_BODY_BYTES, verify: bool = False, start_offset: int = 0
) -> Iterator[StoredRecord | DamagedRegion]:
    """Read the records of a WARC or ARC file in order, compressed or not; damage is reported and skipped."""
    with open_warc_file(path.parent, path.name) as file:
        compressed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        yield from (_iterate_members if compressed else _iterate_uncompressed)(
            file, path.name, start_offset, max_body_bytes, verify
        )


def _read_single_record(folder: Path, location: RecordLocation, max_body_bytes: int) -> StoredRecord:
    try:
        with open_warc_file(folder, location.file) as file:
            parsed = parse_record(_open_record_stream(file, location.offset), max_body_bytes)
    except (DamagedRecordError, FileNotFoundError) as error:
        raise CollectionError(f"{location.file} at {location.offset} cannot be read: {error}") from error
    if parsed is None:
        raise CollectionError(f"{location.file} at {location.offset}: nothing is there")
    return _build_stored_record(parsed, location, max_body_bytes)


def _open_record_stream(file: BinaryIO, offset: int) -> BinaryIO:
    """The bytes of a record from here on, inflated if need be."""
    file.seek(offset)
    compressed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    file.seek(offset)
    return io.BufferedReader(GzipMember(file, offset)) if compressed else file


def _locate_original(record: StoredRecord, find_capture: CaptureLookup | None) -> RecordLocation:
    """Where the original of a revisit lies: our own files say it, for others the index is asked."""
    name, offset = record.get_field("WARC-Refers-To-Filename"), record.get_field("WARC-Refers-To-File-Offset")
    if name and offset.isdecimal() and "/" not in name:
        return RecordLocation(name, int(offset), 0)
    url = record.get_field("WARC-Refers-To-Target-URI") or record.url
    place = find_capture(url, record.get_field("WARC-Refers-To-Date")) if find_capture else None
    if place is None:
        raise CollectionError(
            f"{record.location.file} at {record.location.offset} repeats a record that is not here: {url}"
        )
    return place


def _build_stored_record(parsed: ParsedRecord, location: RecordLocation, max_body_bytes: int) -> StoredRecord:
    body, problem = parsed.body, ""
    if "chunked" in join_header_values(parsed.http_headers, "Transfer-Encoding").lower():
        body = decode_chunked(body)
    coding = join_header_values(parsed.http_headers, "Content-Encoding") if parsed.record_type == "response" else ""
    if coding and body:
        decoder = build_decoder(coding, max_body_bytes)
        body, problem = decoder.feed(body) + decoder.finish(), decoder.problem.value
    cut = parsed.is_truncated or problem == DecodeProblem.TOO_LARGE
    if parsed.missing_bytes:
        problem = f"the record ends {parsed.missing_bytes} bytes early"
    status, head = parsed.status, parsed.http_headers
    if parsed.record_type == "conversion":  # a page that was made from a stored one: its type is all there is of a head
        status, head = 200, (("Content-Type", get_first_value(parsed.fields, "Content-Type")),)
    return StoredRecord(parsed.record_type, location, parsed.fields, status, head, body, cut, parsed.is_intact, problem)


def _iterate_members(
    file: BinaryIO, file_name: str, offset: int, max_body_bytes: int, verify: bool
) -> Iterator[StoredRecord | DamagedRegion]:
    """One record per member; what else a member holds is reported."""
    size = _get_file_size(file)
    while offset < size:
        member = GzipMember(file, offset)
        stream = io.BufferedReader(member)
        try:
            parsed = parse_record(stream, max_body_bytes, verify)
            rest = _read_trailing_bytes(stream)
        except DamagedRecordError as error:
            following = find_next_record(file, offset + 1)
            yield DamagedRegion(RecordLocation(file_name, offset, max(0, following - offset)), str(error))
            offset = following if following > 0 else size
            continue
        place = RecordLocation(file_name, offset, member.length)
        if parsed:
            yield _build_stored_record(parsed, place, max_body_bytes)
        if rest:
            yield DamagedRegion(place, f"more than one record in a gzip member: {rest!r}")
        offset += member.length


def _iterate_uncompressed(
    file: BinaryIO, file_name: str, offset: int, max_body_bytes: int, verify: bool
) -> Iterator[StoredRecord | DamagedRegion]:
    """Records one after another, empty lines between."""
    size = _get_file_size(file)
    while (offset := _skip_empty_lines(file, offset)) < size:
        try:
            parsed = parse_record(file, max_body_bytes, verify)
        except DamagedRecordError as error:
            following = _find_next_uncompressed(file, offset + 1)
            yield DamagedRegion(RecordLocation(file_name, offset, max(0, following - offset)), str(error))
            offset = following if following > 0 else size
            continue
        if parsed:
            yield _build_stored_record(parsed, RecordLocation(file_name, offset, parsed.record_bytes), max_body_bytes)
            offset += parsed.record_bytes


def _read_trailing_bytes(stream: BinaryIO) -> bytes:
    """Read to the end of a member; return the beginning of what is not empty lines."""
    found = b""
    while data := stream.read(65_536):
        found = found or data.strip()[:40]
    return found


def _get_file_size(file: BinaryIO) -> int:
    return file.seek(0, os.SEEK_END)


def _skip_empty_lines(file: BinaryIO, offset: int) -> int:
    """Go to the first byte that is not part of an empty line."""
    file.seek(offset)
    while (line := file.readline(65_536)) and not line.strip():
        offset += len(line)
    file.seek(offset)
    return offset


def _find_next_uncompressed(file: BinaryIO, offset: int) -> int:
    """Find the next line that begins a record; -1 if there is none."""
    file.seek(offset)
    file.readline()
    while True:
        at = file.tell()
        line = file.readline(65_536)
        if not line:
            return -1
        if is_record_start(line):
            return at

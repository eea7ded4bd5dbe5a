"""Read WARC and ARC files: a record by location, or all in order, skipping damage."""

import io
import os
import re
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from sanderling.errors import CollectionError
from sanderling.http.decoding import DecodeProblem, build_decoder
from sanderling.warc.gzip_members import (
    GZIP_MAGIC,
    MAX_WHOLE_BYTES,
    DamagedRecordError,
    GzipMember,
    find_next_record,
    inflate_whole_member,
)
from sanderling.warc.other_archives import OTHER_ARCHIVE_FIELD, find_other_archive, load_other_archives
from sanderling.warc.packer import RENDERED_PREFIX, HeaderField
from sanderling.warc.record_parser import (
    ParsedRecord,
    decode_chunked,
    get_first_value,
    is_offset,
    is_record_start,
    join_header_values,
    parse_record,
    parse_whole_record,
)
from sanderling.warc.records import RecordLocation
from sanderling.warc.remote import open_warc_file

MAX_BODY_BYTES = 64 * 1024 * 1024
MAX_REVISIT_CHAIN = 4  # revisits that refer to revisits
RESOURCE_PREFIXES = (RENDERED_PREFIX, "http:", "https:")
SEVERAL_RECORDS = "more than one record in a gzip member"


class StoredRecord(Struct, frozen=True):
    """A record, its body without transfer and content coding."""

    record_type: str  # response, request, revisit, metadata, warcinfo, resource ...
    location: RecordLocation
    fields: tuple[HeaderField, ...]
    status: int = 0  # HTTP status; 0: none
    http_headers: tuple[HeaderField, ...] = ()
    body: bytes = b""
    is_truncated: bool = False  # the stored body exceeds the limit
    is_intact: bool | None = None  # None: not verified, or no digest
    body_problem: str = ""  # set if the body could not be decoded completely

    def get_field(self, name: str) -> str:
        """Return a WARC header field, or an empty string."""
        return get_first_value(self.fields, name)

    def get_header(self, name: str) -> str:
        """Return an HTTP header, or an empty string."""
        return join_header_values(self.http_headers, name)

    @property
    def url(self) -> str:
        return self.get_field("WARC-Target-URI")

    @property
    def original_url(self) -> str:
        """The URL that a revisit record refers to."""
        return self.get_field("WARC-Refers-To-Target-URI") or self.url


class DamagedRegion(Struct, frozen=True):
    """A byte range without a readable record."""

    location: RecordLocation  # length 0: up to the end of the file
    problem: str


SHARD_PREFIX = re.compile(r"shard-\d+-").match

CaptureLookup = Callable[[StoredRecord], RecordLocation | None]
"""Find the original of a revisit record, usually in the CDXJ index."""


def read_record(
    folder: Path,
    location: RecordLocation,
    max_body_bytes: int = MAX_BODY_BYTES,
    find_capture: CaptureLookup | None = None,
) -> StoredRecord:
    """Read a record. A revisit gets the body of its original."""
    record = read_single_record(folder, location, max_body_bytes)
    original = record
    for _ in range(MAX_REVISIT_CHAIN):
        if original.record_type != "revisit":
            return replace(
                record, body=original.body, is_truncated=original.is_truncated, body_problem=original.body_problem
            )
        folder, place = _locate_original(folder, original, find_capture)
        original = read_single_record(folder, place, max_body_bytes)
    raise CollectionError(f"{location.file} at {location.offset}: the chain of revisit records has no original")


def read_member(member: bytes, max_body_bytes: int = MAX_BODY_BYTES) -> StoredRecord:
    """Parse a record that is not yet in a file."""
    parsed = parse_record(io.BufferedReader(GzipMember(io.BytesIO(member), 0)), max_body_bytes)
    if parsed is None:
        raise CollectionError("the WARC record is empty")
    return _build_stored_record(parsed, RecordLocation("", 0, len(member)), max_body_bytes)


def iterate_records(
    path: Path,
    max_body_bytes: int = MAX_BODY_BYTES,
    verify: bool = False,
    start_offset: int = 0,
    max_inflated_bytes: float = inf,
) -> Iterator[StoredRecord | DamagedRegion]:
    """Yield the records of a file, compressed or not, and its damaged regions."""
    with open_warc_file(path.parent, path.name) as file:
        if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC:
            yield from _iterate_members(file, path.name, start_offset, max_body_bytes, verify, max_inflated_bytes)
        else:
            yield from _iterate_uncompressed(file, path.name, start_offset, max_body_bytes, verify)


def read_single_record(folder: Path, location: RecordLocation, max_body_bytes: int) -> StoredRecord:
    """Read a record as it is: a revisit has no body."""
    try:
        with open_warc_file(folder, location.file) as file:
            whole = inflate_whole_member(file, location.offset)
            parsed = parse_whole_record(whole[0], max_body_bytes) if whole else None
            parsed = parsed or parse_record(_open_record_stream(file, location.offset), max_body_bytes)
    except (DamagedRecordError, FileNotFoundError) as error:
        raise CollectionError(f"{location.file} at {location.offset} cannot be read: {error}") from error
    if parsed is None:
        raise CollectionError(f"{location.file} has no record at offset {location.offset}")
    return _build_stored_record(parsed, location, max_body_bytes)


def _open_record_stream(file: BinaryIO, offset: int) -> BinaryIO:
    file.seek(offset)
    compressed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    file.seek(offset)
    return io.BufferedReader(GzipMember(file, offset)) if compressed else file


def _locate_original(
    folder: Path, record: StoredRecord, find_capture: CaptureLookup | None
) -> tuple[Path, RecordLocation]:
    """Locate the original of a revisit: archive folder and place.

    By our extension fields if they name another archive, else by the given look-up, else by the fields, which name a
    file of the archive that the record was written for.
    """
    folder /= Path(record.location.file).parent  # of a shard, in a set that is read as a whole
    other = record.get_field(OTHER_ARCHIVE_FIELD)
    if other and other in load_other_archives(folder):
        folder, find_capture = find_other_archive(folder, other), None
    if find_capture is not None:
        location = find_capture(record)
        if location is not None:
            return folder, location
    else:
        name, offset = record.get_field("WARC-Refers-To-Filename"), record.get_field("WARC-Refers-To-File-Offset")
        if name and is_offset(offset) and "/" not in name:
            return folder, RecordLocation(_find_current_name(folder, record, name, other), int(offset), 0)
    raise CollectionError(
        f"the original of the revisit record in {record.location.file} at {record.location.offset}"
        f" is not in this archive: {record.original_url}"
    )


def _find_current_name(folder: Path, record: StoredRecord, name: str, other: str) -> str:
    """Return the name of a file after its collection was divided into shards or joined, which add prefixes."""
    shard = SHARD_PREFIX(record.location.file)
    prefixes = ["", "shared-", f"{other}-" if other else shard[0] if shard else ""]
    return next((prefix + name for prefix in prefixes if (folder / (prefix + name)).is_file()), name)


def _build_stored_record(parsed: ParsedRecord, location: RecordLocation, max_body_bytes: int) -> StoredRecord:
    body, problem = parsed.body, ""
    if "chunked" in join_header_values(parsed.http_headers, "Transfer-Encoding").lower():
        body = decode_chunked(body)
    coding = join_header_values(parsed.http_headers, "Content-Encoding") if parsed.record_type == "response" else ""
    if coding and body:
        decoder = build_decoder(coding, max_body_bytes)
        decoded, problem = decoder.feed(body) + decoder.finish(), decoder.problem.value
        is_plain = problem == DecodeProblem.NOT_ENCODED or (problem == DecodeProblem.DAMAGED and not decoded)
        body, problem = (body, "") if is_plain else (decoded, problem)  # some programs store decoded bodies
    is_truncated = parsed.is_truncated or problem == DecodeProblem.TOO_LARGE
    if parsed.missing_bytes:
        problem = f"the record ends {parsed.missing_bytes} bytes early"
    status, http_headers = parsed.status, parsed.http_headers
    url = get_first_value(parsed.fields, "WARC-Target-URI")
    if parsed.record_type == "conversion" or (parsed.record_type == "resource" and url.startswith(RESOURCE_PREFIXES)):
        # A page without an HTTP head, rendered or made of a file: only its type is known.
        status, http_headers = 200, (("Content-Type", get_first_value(parsed.fields, "Content-Type")),)
    return StoredRecord(
        parsed.record_type, location, parsed.fields, status, http_headers, body, is_truncated, parsed.is_intact, problem
    )


def _iterate_members(
    file: BinaryIO, file_name: str, offset: int, max_body_bytes: int, verify: bool, max_inflated_bytes: float
) -> Iterator[StoredRecord | DamagedRegion]:
    size = _get_file_size(file)
    while offset < size:
        whole = inflate_whole_member(file, offset) if max_inflated_bytes >= MAX_WHOLE_BYTES else None
        parsed = parse_whole_record(whole[0], max_body_bytes, verify) if whole else None
        if whole and parsed:
            yield _build_stored_record(parsed, RecordLocation(file_name, offset, whole[1]), max_body_bytes)
            offset += whole[1]
            continue
        member = GzipMember(file, offset, max_inflated_bytes)
        stream = io.BufferedReader(member)
        try:
            parsed = parse_record(stream, max_body_bytes, verify)
            trailing = _read_trailing_bytes(stream)
        except DamagedRecordError as error:
            next_offset = find_next_record(file, offset + 1)
            yield DamagedRegion(RecordLocation(file_name, offset, max(0, next_offset - offset)), str(error))
            offset = next_offset if next_offset > 0 else size
            continue
        location = RecordLocation(file_name, offset, member.length)
        if parsed:
            yield _build_stored_record(parsed, location, max_body_bytes)
        if trailing:
            yield DamagedRegion(location, f"{SEVERAL_RECORDS}: {trailing!r}")
        offset += member.length


def _iterate_uncompressed(
    file: BinaryIO, file_name: str, offset: int, max_body_bytes: int, verify: bool
) -> Iterator[StoredRecord | DamagedRegion]:
    size = _get_file_size(file)
    while (offset := _skip_empty_lines(file, offset)) < size:
        try:
            parsed = parse_record(file, max_body_bytes, verify)
        except DamagedRecordError as error:
            next_offset = _find_next_uncompressed(file, offset + 1)
            yield DamagedRegion(RecordLocation(file_name, offset, max(0, next_offset - offset)), str(error))
            offset = next_offset if next_offset > 0 else size
            continue
        if parsed:
            yield _build_stored_record(parsed, RecordLocation(file_name, offset, parsed.record_bytes), max_body_bytes)
            offset += parsed.record_bytes


def _read_trailing_bytes(stream: BinaryIO) -> bytes:
    """Read to the end of a member. Returns the first bytes that are not empty lines."""
    trailing = b""
    while data := stream.read(65_536):
        trailing = trailing or data.strip()[:40]
    return trailing


def _get_file_size(file: BinaryIO) -> int:
    return file.seek(0, os.SEEK_END)


def _skip_empty_lines(file: BinaryIO, offset: int) -> int:
    file.seek(offset)
    while (line := file.readline(65_536)) and not line.strip():
        offset += len(line)
    file.seek(offset)
    return offset


def _find_next_uncompressed(file: BinaryIO, offset: int) -> int:
    file.seek(offset)
    file.readline()
    while True:
        offset = file.tell()
        line = file.readline(65_536)
        if not line:
            return -1
        if is_record_start(line):
            return offset

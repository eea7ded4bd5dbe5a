"""Read and write CDXJ index lines, sorted by SURT key and time, as replay tools expect them.

`org,example)/path 20231114221320 {"url": ..., "mime": ..., "status": ..., "digest": ..., "length": ..., ...}`
"""

import calendar
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sanderling.http.content_type import parse_mime_type
from sanderling.warc.records import RecordLocation
from sanderling.warc.surt import build_surt
from sanderling.warc.warc_reader import StoredRecord

INDEXED_RECORD_TYPES = {"response", "revisit", "resource"}
REVISIT_MIME = "warc/revisit"
STATUS_NOT_MODIFIED = 304  # indexed with the location of the response it confirmed: pywb would replay the empty body


class CdxjEntry(Struct, frozen=True):
    url: str
    captured_at: float
    mime: str  # without parameters; `warc/revisit` for a revisit
    status: int
    payload_digest: str  # as in WARC-Payload-Digest
    location: RecordLocation


class _CdxjFields(Struct, frozen=True, omit_defaults=True):
    url: str
    mime: str = ""
    status: str = ""
    digest: str = ""
    length: str = ""
    offset: str = ""
    filename: str = ""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_CdxjFields).decode


def format_entry(entry: CdxjEntry) -> bytes:
    status = str(entry.status) if entry.status else ""
    location = entry.location
    fields = _CdxjFields(
        entry.url, entry.mime, status, entry.payload_digest, str(location.length), str(location.offset), location.file
    )
    return b"%s %s %s\n" % (
        build_surt(entry.url).encode(),
        format_timestamp(entry.captured_at).encode(),
        _encode(fields),
    )


def parse_entry(line: bytes) -> CdxjEntry:
    """Parse an index line. Times are in whole seconds."""
    _, timestamp, encoded_fields = line.split(b" ", 2)
    fields = _decode(encoded_fields)
    location = RecordLocation(fields.filename, int(fields.offset or 0), int(fields.length or 0))
    return CdxjEntry(
        fields.url, _parse_timestamp(timestamp.decode()), fields.mime, int(fields.status or 0), fields.digest, location
    )


def build_entry(record: StoredRecord) -> CdxjEntry | None:
    """Build the index entry of a record. None: not indexed, or a 304."""
    if record.record_type not in INDEXED_RECORD_TYPES or not record.url or record.status == STATUS_NOT_MODIFIED:
        return None
    content_type = (
        record.get_header("Content-Type") if record.record_type == "response" else record.get_field("Content-Type")
    )
    mime = REVISIT_MIME if record.record_type == "revisit" else parse_mime_type(content_type)
    return CdxjEntry(
        record.url,
        _get_record_time(record),
        mime,
        record.status,
        record.get_field("WARC-Payload-Digest"),
        record.location,
    )


def build_not_modified_entry(record: StoredRecord, original: StoredRecord) -> CdxjEntry | None:
    """Build the entry of a 304, with the location of the response it confirmed."""
    entry = build_entry(original)
    return replace(entry, url=record.url, captured_at=_get_record_time(record)) if entry and record.url else None


def _get_record_time(record: StoredRecord) -> float:
    return parse_whole_second(record.get_field("WARC-Date"))


def parse_whole_second(date: str) -> float:
    """Parse a WARC-Date as index entries have it: in whole seconds; 0 if it is missing or invalid."""
    digits = "".join(filter(str.isdigit, date))[:14]
    return _parse_timestamp(digits) if digits else 0.0


def format_timestamp(seconds: float) -> str:
    """Format a time as 14 digits (UTC)."""
    return _format_whole_second(int(seconds))


@lru_cache(maxsize=64)  # the visits of a batch fall into few seconds
def _format_whole_second(seconds: int) -> str:
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(seconds))


def read_captures(path: Path, url: str) -> Iterator[CdxjEntry]:
    """Yield the captures of exactly this URL, oldest first."""
    key = build_surt(url).encode() + b" "
    with path.open("rb") as file:
        file.seek(find_lower_bound(file, key))
        for line in file:
            if not line.startswith(key):
                return
            entry = parse_entry(line)
            if entry.url == url:
                yield entry


def find_lower_bound(file: BinaryIO, key: bytes) -> int:
    """Return the offset of the first line that is not less than the key."""
    low, high = 0, file.seek(0, 2)
    while low < high:
        middle = (low + high) // 2
        start = _find_line_start(file, middle)
        file.seek(start)
        line = file.readline()
        if line and line < key:
            low = start + len(line)
        else:
            high = min(start, middle)
    return low


def _find_line_start(file: BinaryIO, offset: int) -> int:
    while offset > 0:
        step = min(offset, 512)
        file.seek(offset - step)
        newline = file.read(step).rfind(b"\n")
        if newline >= 0:
            return offset - step + newline + 1
        offset -= step
    return 0


@lru_cache(maxsize=64)  # records of one second follow each other
def _parse_timestamp(digits: str) -> float:
    try:
        return float(calendar.timegm(time.strptime(digits.ljust(14, "0"), "%Y%m%d%H%M%S")))
    except ValueError:
        return 0.0

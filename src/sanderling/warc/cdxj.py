"""The CDXJ index: one sorted line per capture, as replay tools read it.

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
STATUS_NOT_MODIFIED = 304  # its line leads to the record that it confirmed: pywb would replay the empty response


class CdxjEntry(Struct, frozen=True):
    """One capture in the index."""

    url: str
    captured_at: float
    mime: str  # without parameters; `warc/revisit` for a revisit
    status: int
    payload_digest: str  # payload digest as in the record
    location: RecordLocation


class _CdxjFields(Struct, frozen=True, omit_defaults=True):
    """The JSON part of a line; the order and the strings are those of other indexers."""

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
    """Write an entry as one line."""
    status = str(entry.status) if entry.status else ""
    place = entry.location
    facts = _CdxjFields(
        entry.url, entry.mime, status, entry.payload_digest, str(place.length), str(place.offset), place.file
    )
    return b"%s %s %s\n" % (
        build_surt(entry.url).encode(),
        format_timestamp(entry.captured_at).encode(),
        _encode(facts),
    )


def parse_entry(line: bytes) -> CdxjEntry:
    """Read a line back; the time is known to the second."""
    _, stamp, facts = line.split(b" ", 2)
    found = _decode(facts)
    place = RecordLocation(found.filename, int(found.offset or 0), int(found.length or 0))
    return CdxjEntry(
        found.url, _parse_timestamp(stamp.decode()), found.mime, int(found.status or 0), found.digest, place
    )


def build_entry(record: StoredRecord) -> CdxjEntry | None:
    """What the index says of a record; None for what it leaves out, and for a 304 (see `confirmed_entry`)."""
    if record.record_type not in INDEXED_RECORD_TYPES or not record.url or record.status == STATUS_NOT_MODIFIED:
        return None
    kind = record.get_header("Content-Type") if record.record_type == "response" else record.get_field("Content-Type")
    mime = REVISIT_MIME if record.record_type == "revisit" else parse_mime_type(kind)
    return CdxjEntry(
        record.url,
        _get_record_time(record),
        mime,
        record.status,
        record.get_field("WARC-Payload-Digest"),
        record.location,
    )


def build_not_modified_entry(record: StoredRecord, original: StoredRecord) -> CdxjEntry | None:
    """Return the index line of a 304: its own URL and time, and the place of the record that was still valid then."""
    found = build_entry(original)
    return replace(found, url=record.url, captured_at=_get_record_time(record)) if found and record.url else None


def _get_record_time(record: StoredRecord) -> float:
    return _parse_timestamp("".join(filter(str.isdigit, record.get_field("WARC-Date")))[:14])


def format_timestamp(seconds: float) -> str:
    """Fourteen digits, to the second."""
    return _format_whole_second(int(seconds))


@lru_cache(maxsize=64)  # a batch has few of them
def _format_whole_second(seconds: int) -> str:
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(seconds))


def read_captures(path: Path, url: str) -> Iterator[CdxjEntry]:
    """All captures of exactly this URL in one sorted file, oldest first."""
    key = build_surt(url).encode() + b" "
    with path.open("rb") as file:
        file.seek(_find_lower_bound(file, key))
        for line in file:
            if not line.startswith(key):
                return
            entry = parse_entry(line)
            if entry.url == url:
                yield entry


def _find_lower_bound(file: BinaryIO, key: bytes) -> int:
    """Where the first line that is not before the key begins."""
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
    """Where the line that holds this byte begins."""
    while offset > 0:
        step = min(offset, 512)
        file.seek(offset - step)
        found = file.read(step).rfind(b"\n")
        if found >= 0:
            return offset - step + found + 1
        offset -= step
    return 0


def _parse_timestamp(digits: str) -> float:
    """Read a timestamp; one that is no time counts as 0."""
    try:
        return float(calendar.timegm(time.strptime(digits.ljust(14, "0"), "%Y%m%d%H%M%S")))
    except ValueError:
        return 0.0

"""Read the records of WARC and ARC files of other programs for import, bounded in bytes and time.

Nothing in such a file is trusted: not its lengths, digests, or compression. Every record becomes an
`ImportableRecord` or a `RejectedRecord`.
"""

import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from sanderling.warc.gzip_members import GZIP_MAGIC, GZIP_WINDOW_BITS
from sanderling.warc.packer import HttpExchange, pack_response
from sanderling.warc.warc_reader import DamagedRegion, StoredRecord, iterate_records

MAX_RECORD_BYTES = 500_000_000  # compressed; a larger record is rejected
MAX_INFLATED_BYTES = 8_000_000_000  # of one record, as protection against decompression bombs
LINE_END = b"\r\n\r\n"


class ImportableRecord(Struct, frozen=True):
    """A record, as a gzip member that may be appended to an archive."""

    member: bytes
    record: StoredRecord  # without body; its location is in the file that is read
    captured_at: float
    end_offset: int  # where the next record of the file that is read starts


class RejectedRecord(Struct, frozen=True):
    """A range of a file without a usable record."""

    offset: int
    reason: str
    end_offset: int


def iterate_importable(
    path: Path, start_offset: int = 0, offsets: Sequence[int] | None = None
) -> Iterator[ImportableRecord | RejectedRecord]:
    """Yield the records of a file from an offset, in file order; if `offsets` are given, only those there."""
    with path.open("rb") as file:
        is_compressed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        if offsets is None:
            items = _iterate_from(path, start_offset)
        else:
            chosen = offsets[bisect_left(offsets, start_offset) :]
            items = (item for offset in chosen for item in islice(_iterate_from(path, offset), 1))
        for item in items:
            location = item.location
            end = location.offset + location.length if location.length else path.stat().st_size
            if isinstance(item, DamagedRegion):
                yield RejectedRecord(location.offset, item.problem, end)
            elif reason := _find_rejection(item):
                yield RejectedRecord(location.offset, reason, end)
            else:
                member = _read_member(file, item, is_compressed=is_compressed)
                yield ImportableRecord(member, item, parse_warc_time(item.get_field("WARC-Date")), end)


def _iterate_from(path: Path, offset: int) -> Iterator[StoredRecord | DamagedRegion]:
    return iterate_records(path, 0, verify=True, start_offset=offset, max_inflated_bytes=MAX_INFLATED_BYTES)


def parse_warc_time(text: str) -> float:
    """Parse a WARC-Date; returns 0 if it is missing or invalid."""
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _find_rejection(record: StoredRecord) -> str:
    if record.location.length > MAX_RECORD_BYTES:
        return f"the record has {record.location.length:,} bytes"
    if record.body_problem.startswith("the record ends"):  # it would make the rest of our file unreadable
        return record.body_problem
    if record.is_intact is False:
        return f"the digest of {record.url} does not match"
    if record.record_type == "arc_header":
        return "the header of an ARC file"
    return ""


def _read_member(file: BinaryIO, record: StoredRecord, *, is_compressed: bool) -> bytes:
    """Return the bytes of a record as a gzip member; those of a compressed WARC record are unchanged."""
    file.seek(record.location.offset)
    stored = file.read(record.location.length)
    if record.get_field("WARC-Record-ID") or _is_warc_record(stored, is_compressed=is_compressed):
        return stored if is_compressed else _compress(stored + LINE_END)
    block = zlib.decompressobj(GZIP_WINDOW_BITS).decompress(stored, MAX_RECORD_BYTES) if is_compressed else stored
    _, _, content = block.lstrip().partition(b"\n")  # ARC: readers expect all records of a file in one format
    head, separator, body = content.partition(LINE_END)
    if not separator:
        head, _, body = content.partition(b"\n\n")
    exchange = HttpExchange(
        record.url,
        parse_warc_time(record.get_field("WARC-Date")),
        head + LINE_END,
        body,
        record.get_field("WARC-IP-Address"),
    )
    return pack_response(exchange).member


def _is_warc_record(stored: bytes, *, is_compressed: bool) -> bool:
    start = zlib.decompressobj(GZIP_WINDOW_BITS).decompress(stored, 64) if is_compressed else stored[:64]
    return start.lstrip()[:5] == b"WARC/"


def _compress(data: bytes) -> bytes:
    compressor = zlib.compressobj(1, zlib.DEFLATED, GZIP_WINDOW_BITS)
    return compressor.compress(data) + compressor.flush()

"""Erase records in WARC files without moving other records.

Filler records in gzip members of the same length keep stored locations valid. Their content is zeros, which Linux file
systems store as holes: the disk space of erased records is free, although the file keeps its length.
"""

import ctypes
import io
import os
import struct
import zlib
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from sanderling.warc.gzip_members import DamagedRecordError, GzipMember
from sanderling.warc.packer import format_record_start, make_record_id
from sanderling.warc.record_parser import ParsedRecord, parse_record
from sanderling.warc.records import RecordLocation

GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
GZIP_OVERHEAD_BYTES = 18  # header and trailer of a gzip member
DEFLATE_BLOCK_BYTES = 65_535  # maximum length of a stored block
DEFLATE_BLOCK_HEADER_BYTES = 5
HOLE_BYTES = 4096  # block of common file systems
MAX_MERGED_BYTES = 64_000_000  # of one filler, which is built in memory
KEEP_SIZE, PUNCH_HOLE = 1, 2  # flags of fallocate(2)
FILLER_TEXT = b"deleted from the archive"


def find_visit_extent(folder: Path, location: RecordLocation) -> RecordLocation | None:
    """Return the extent of a visit's records, or None if the file is missing."""
    try:
        with (folder / location.file).open("rb") as file:
            record, end = _read_record_at(file, location.offset)
            while record is not None:
                next_record, next_end = _read_record_at(file, end)
                if next_record is None or next_record.get_field("WARC-Concurrent-To") != record.get_field(
                    "WARC-Record-ID"
                ):
                    break
                end = next_end
    except FileNotFoundError:
        return None
    return RecordLocation(location.file, location.offset, max(end - location.offset, location.length))


def _read_record_at(file: BinaryIO, offset: int) -> tuple[ParsedRecord | None, int]:
    """Return the record and its end offset, or None if it is unreadable."""
    member = GzipMember(file, offset)
    stream = io.BufferedReader(member)
    try:
        record = parse_record(stream, 0)
        while stream.read(DEFLATE_BLOCK_BYTES):
            pass
    except DamagedRecordError:
        return None, offset
    return record, offset + member.length


def erase_records(folder: Path, locations: Iterable[RecordLocation], erased_at: float) -> None:
    """Overwrite these byte ranges with filler and sync. Idempotent."""
    for name, locations_in_file in groupby(
        sorted(locations, key=lambda location: (location.file, location.offset)), lambda location: location.file
    ):
        fd = os.open(folder / name, os.O_RDWR)
        try:
            for location in locations_in_file:
                os.pwrite(fd, build_filler(location.length, erased_at), location.offset)
                punch_holes(fd, location.offset, location.length)
            os.fsync(fd)
        finally:
            os.close(fd)


def merge_locations(locations: Iterable[RecordLocation]) -> list[RecordLocation]:
    """Merge adjacent and overlapping byte ranges, up to a maximum length."""
    merged: list[RecordLocation] = []
    for location in sorted(set(locations), key=lambda location: (location.file, location.offset)):
        last = merged[-1] if merged else RecordLocation("", 0, 0)
        end = location.offset + location.length
        is_adjacent = last.file == location.file and location.offset <= last.offset + last.length
        if is_adjacent and (end - last.offset <= MAX_MERGED_BYTES or end <= last.offset + last.length):
            merged[-1] = RecordLocation(last.file, last.offset, max(last.length, end - last.offset))
        else:
            merged.append(location)
    return merged


def punch_holes(fd: int, offset: int, length: int) -> None:
    """Free the disk space of the zeros of a filler. Does nothing where the file system has no holes."""
    first, end = -(-offset // HOLE_BYTES) * HOLE_BYTES, offset + length
    run_start = -1
    for page in range(first, end - HOLE_BYTES + 1, HOLE_BYTES):
        is_zero = not any(os.pread(fd, HOLE_BYTES, page))
        if is_zero and run_start < 0:
            run_start = page
        elif not is_zero and run_start >= 0:
            _punch_hole(fd, run_start, page - run_start)
            run_start = -1
    if run_start >= 0:
        _punch_hole(fd, run_start, (end - run_start) // HOLE_BYTES * HOLE_BYTES)


def _punch_hole(fd: int, offset: int, length: int) -> None:
    fallocate = getattr(ctypes.CDLL(None), "fallocate", None)  # Linux only
    if fallocate is not None:
        fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
        fallocate(fd, PUNCH_HOLE | KEEP_SIZE, offset, length)  # an error means that the space is not freed


def build_filler(length: int, erased_at: float) -> bytes:
    """Build a gzip member of exactly this length from stored deflate blocks."""
    available = length - GZIP_OVERHEAD_BYTES
    block_count = -(-available // (DEFLATE_BLOCK_BYTES + DEFLATE_BLOCK_HEADER_BYTES))
    data = _build_filler_record(available - DEFLATE_BLOCK_HEADER_BYTES * block_count, erased_at)
    parts = [GZIP_HEADER]
    for number in range(block_count):
        chunk = data[number * DEFLATE_BLOCK_BYTES : (number + 1) * DEFLATE_BLOCK_BYTES]
        parts += [struct.pack("<BHH", number == block_count - 1, len(chunk), len(chunk) ^ 0xFFFF), chunk]
    return b"".join([*parts, struct.pack("<II", zlib.crc32(data), len(data))])


def _build_filler_record(size: int, erased_at: float) -> bytes:
    """Build a record of this size, or empty lines if it is too small."""
    start = format_record_start("metadata", make_record_id(), erased_at)
    head = f"WARC/1.1\r\n{start}Content-Type: text/plain\r\nContent-Length: ".encode()
    for padding in (b"", b" "):  # some sizes are reachable only with a pad byte, where Content-Length gains a digit
        for digits in range(1, 12):
            block_length = size - len(head) - len(padding) - digits - 8
            if block_length >= 0 and len(str(block_length)) == digits:
                return (
                    head
                    + padding
                    + b"%d\r\n\r\n" % block_length
                    + FILLER_TEXT.ljust(block_length, b"\0")[:block_length]
                    + b"\r\n\r\n"
                )
    return b"\r\n".ljust(size, b"\n")[:size]

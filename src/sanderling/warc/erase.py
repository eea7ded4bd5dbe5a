"""Take records out of WARC files without moving any other: their bytes become one record that says nothing.

The filler is a gzip member of exactly the length of what it replaces, so every other place stays true and every reader
goes on behind it.
"""

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
GZIP_OVERHEAD_BYTES = 18  # bytes of a gzip member that are not deflated data
DEFLATE_BLOCK_BYTES = 65_535  # bytes that one stored block of deflate holds
DEFLATE_BLOCK_HEADER_BYTES = 5
FILLER_TEXT = b"taken out of the archive"


def find_visit_extent(folder: Path, location: RecordLocation) -> RecordLocation | None:
    """The records of one visit: the answer, with the request and the metadata beside it; None: the file is not here."""
    try:
        with (folder / location.file).open("rb") as file:
            record, end = _read_record_at(file, location.offset)
            while record is not None:
                beside, following = _read_record_at(file, end)
                if beside is None or beside.get_field("WARC-Concurrent-To") != record.get_field("WARC-Record-ID"):
                    break
                end = following
    except FileNotFoundError:
        return None
    return RecordLocation(location.file, location.offset, max(end - location.offset, location.length))


def _read_record_at(file: BinaryIO, offset: int) -> tuple[ParsedRecord | None, int]:
    """The record at an offset and where it ends; None where there is none that can be read."""
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
    """Write over these stretches, and wait until the disk has it; to do it twice does no harm."""
    for name, group in groupby(
        sorted(locations, key=lambda place: (place.file, place.offset)), lambda place: place.file
    ):
        fd = os.open(folder / name, os.O_WRONLY)
        try:
            for place in group:
                os.pwrite(fd, build_filler(place.length, erased_at), place.offset)
            os.fsync(fd)
        finally:
            os.close(fd)


def build_filler(length: int, erased_at: float) -> bytes:
    """One gzip member of exactly this length."""
    room = length - GZIP_OVERHEAD_BYTES
    blocks = -(-room // (DEFLATE_BLOCK_BYTES + DEFLATE_BLOCK_HEADER_BYTES))
    data = _build_filler_record(room - DEFLATE_BLOCK_HEADER_BYTES * blocks, erased_at)
    parts = [GZIP_HEADER]
    for number in range(blocks):
        part = data[number * DEFLATE_BLOCK_BYTES : (number + 1) * DEFLATE_BLOCK_BYTES]
        parts += [struct.pack("<BHH", number == blocks - 1, len(part), len(part) ^ 0xFFFF), part]
    return b"".join([*parts, struct.pack("<II", zlib.crc32(data), len(data))])


def _build_filler_record(size: int, erased_at: float) -> bytes:
    """A record of exactly this size; where there is no room for one, empty lines, which readers pass over."""
    head = f"WARC/1.1\r\n{format_record_start('metadata', make_record_id(), erased_at)}Content-Type: text/plain\r\nContent-Length: ".encode()
    for pad in (b"", b" "):  # the length has a digit more or less: there are sizes that only one of both makes
        for digits in range(1, 12):
            block = size - len(head) - len(pad) - digits - 8
            if block >= 0 and len(str(block)) == digits:
                return head + pad + b"%d\r\n\r\n" % block + FILLER_TEXT.ljust(block)[:block] + b"\r\n\r\n"
    return b"\r\n".ljust(size, b"\n")[:size]

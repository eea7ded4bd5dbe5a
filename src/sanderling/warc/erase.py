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

from sanderling.warc.gzip_members import Damaged, Member
from sanderling.warc.packer import new_record_id, opening
from sanderling.warc.record_parser import Parsed, parse
from sanderling.warc.records import Place

HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
AROUND = 18  # bytes of a gzip member that are not deflated data
BLOCK = 65_535  # bytes that one stored block of deflate holds
BLOCK_HEAD = 5
TEXT = b"taken out of the archive"


def extent(folder: Path, place: Place) -> Place | None:
    """The records of one visit: the answer, with the request and the metadata beside it; None: the file is not here."""
    try:
        with (folder / place.file).open("rb") as file:
            record, end = _read(file, place.offset)
            while record is not None:
                beside, following = _read(file, end)
                if beside is None or beside.get("WARC-Concurrent-To") != record.get("WARC-Record-ID"):
                    break
                end = following
    except FileNotFoundError:
        return None
    return Place(place.file, place.offset, max(end - place.offset, place.length))


def _read(file: BinaryIO, offset: int) -> tuple[Parsed | None, int]:
    """The record at an offset and where it ends; None where there is none that can be read."""
    member = Member(file, offset)
    stream = io.BufferedReader(member)
    try:
        record = parse(stream, 0)
        while stream.read(BLOCK):
            pass
    except Damaged:
        return None, offset
    return record, offset + member.length


def erase(folder: Path, places: Iterable[Place], at: float) -> None:
    """Write over these stretches, and wait until the disk has it; to do it twice does no harm."""
    for name, group in groupby(sorted(places, key=lambda place: (place.file, place.offset)), lambda place: place.file):
        fd = os.open(folder / name, os.O_WRONLY)
        try:
            for place in group:
                os.pwrite(fd, filler(place.length, at), place.offset)
            os.fsync(fd)
        finally:
            os.close(fd)


def filler(length: int, at: float) -> bytes:
    """One gzip member of exactly this length."""
    room = length - AROUND
    blocks = -(-room // (BLOCK + BLOCK_HEAD))
    data = _record(room - BLOCK_HEAD * blocks, at)
    parts = [HEADER]
    for number in range(blocks):
        part = data[number * BLOCK : (number + 1) * BLOCK]
        parts += [struct.pack("<BHH", number == blocks - 1, len(part), len(part) ^ 0xFFFF), part]
    return b"".join([*parts, struct.pack("<II", zlib.crc32(data), len(data))])


def _record(size: int, at: float) -> bytes:
    """A record of exactly this size; where there is no room for one, empty lines, which readers pass over."""
    head = (
        f"WARC/1.1\r\n{opening('metadata', new_record_id(), at)}Content-Type: text/plain\r\nContent-Length: ".encode()
    )
    for pad in (b"", b" "):  # the length has a digit more or less: there are sizes that only one of both makes
        for digits in range(1, 12):
            block = size - len(head) - len(pad) - digits - 8
            if block >= 0 and len(str(block)) == digits:
                return head + pad + b"%d\r\n\r\n" % block + TEXT.ljust(block)[:block] + b"\r\n\r\n"
    return b"\r\n".ljust(size, b"\n")[:size]

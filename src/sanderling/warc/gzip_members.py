"""Read gzip members as streams, and find intact members in damaged files."""

import io
import os
import zlib
from collections.abc import Iterator
from math import inf
from typing import BinaryIO, cast

try:
    from isal import isal_zlib as inflater
except ImportError:  # no wheel for this machine
    import zlib as inflater  # type: ignore[no-redef]

INFLATE_ERRORS = (zlib.error, cast(type[Exception], inflater.error))
GZIP_WINDOW_BITS = 31
READ_BYTES = 32_768
FIRST_READ_BYTES = 16_384  # most members are shorter
MAX_WHOLE_BYTES = 4_000_000  # of a member that is inflated at once
MAX_WASTED_BYTES = 8_000_000_000  # inflated of members that prove damaged, before the rest of a file is given up
SCAN_BYTES, SAMPLE_BYTES = 1 << 20, 512
GZIP_MAGIC = b"\x1f\x8b\x08"
RECORD_PREFIXES = (b"WARC/", b"filedesc:", b"http:", b"https:", b"dns:")  # first bytes of a WARC or ARC record
MIN_PREFIX_BYTES = min(map(len, RECORD_PREFIXES))


class DamagedRecordError(Exception):
    """Invalid bytes in a WARC file. Caught while iterating over records."""


class GzipMember(io.RawIOBase):
    """A decompressed stream. `length`: compressed size, set at the end."""

    def __init__(self, file: BinaryIO, offset: int, max_inflated_bytes: float = inf) -> None:
        self._file = file
        self._max_bytes = max_inflated_bytes
        self.inflated_bytes = 0
        self._offset = offset
        self._decompressor = inflater.decompressobj(GZIP_WINDOW_BITS)
        self._compressed_input = b""
        self.length = 0
        file.seek(offset)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        """Decompress at most `len(buffer)` bytes, as protection against decompression bombs."""
        while not self._decompressor.eof:
            try:
                data = self._decompressor.decompress(self._compressed_input, len(buffer))
            except INFLATE_ERRORS as error:
                raise DamagedRecordError(f"gzip: {error}") from error
            self._compressed_input = self._decompressor.unconsumed_tail
            if self._decompressor.eof:
                self.length = self._file.tell() - len(self._decompressor.unused_data) - self._offset
            if data:
                self.inflated_bytes += len(data)
                if self.inflated_bytes > self._max_bytes:
                    raise DamagedRecordError("the record is too large when decompressed")
                buffer[: len(data)] = data
                return len(data)
            self._read_input()
        return 0

    def _read_input(self) -> None:
        if not self._decompressor.eof and not self._compressed_input:
            self._compressed_input = self._file.read(READ_BYTES)
            if not self._compressed_input:
                raise DamagedRecordError("gzip: the file ends inside a member")

    def drain(self) -> int:
        """Read to the end. Returns the compressed length."""
        scratch = memoryview(bytearray(READ_BYTES))
        while self.readinto(scratch):
            pass
        return self.length


def inflate_whole_member(file: BinaryIO, offset: int) -> tuple[bytes, int] | None:
    """Return the contents and the compressed length of a member. None: it is large or damaged."""
    file.seek(offset)
    decompressor = inflater.decompressobj(GZIP_WINDOW_BITS)
    parts: list[bytes] = []
    allowed, read = MAX_WHOLE_BYTES, 0
    try:
        while not decompressor.eof:
            compressed = file.read(READ_BYTES if read else FIRST_READ_BYTES)
            if not compressed or allowed <= 0:
                return None
            read += len(compressed)
            parts.append(decompressor.decompress(compressed, allowed))
            allowed = 0 if decompressor.unconsumed_tail else allowed - len(parts[-1])
    except INFLATE_ERRORS:
        return None
    return b"".join(parts), read - len(decompressor.unused_data)


def find_intact_members(file: BinaryIO) -> Iterator[tuple[int, int]]:
    """Yield offset and length of every intact member with a record."""
    size = file.seek(0, os.SEEK_END)
    offset = 0
    while 0 <= offset < size:
        length = _measure_member(file, offset)
        if length:
            yield offset, length
        offset = offset + length if length else find_next_record(file, offset + 1)


def find_next_record(file: BinaryIO, offset: int) -> int:
    """Return the offset of the next intact member with a record, or -1. Gives up after `MAX_WASTED_BYTES`."""
    wasted_bytes = 0
    for position, start in _find_magics(file, offset):
        if _can_be_record(start):
            length, inflated_bytes = _try_member(file, position, MAX_WASTED_BYTES - wasted_bytes)
            if length:
                return position
            wasted_bytes += inflated_bytes
            if wasted_bytes >= MAX_WASTED_BYTES:
                return -1
    return -1


def _can_be_record(start: bytes) -> bool:
    """Return whether the first bytes of a member may be a record; most places with the magic number are no member."""
    try:
        inflated = inflater.decompressobj(GZIP_WINDOW_BITS).decompress(start, MIN_PREFIX_BYTES)
    except INFLATE_ERRORS:
        return False
    return len(inflated) < MIN_PREFIX_BYTES or inflated.startswith(
        tuple(name[:MIN_PREFIX_BYTES] for name in RECORD_PREFIXES)
    )


def _measure_member(file: BinaryIO, offset: int) -> int:
    """Return the compressed length, or 0 if the member is damaged."""
    return _try_member(file, offset, inf)[0]


def _try_member(file: BinaryIO, offset: int, max_inflated_bytes: float) -> tuple[int, int]:
    """Return the compressed length, or 0 if the member is damaged, and the number of inflated bytes."""
    member = GzipMember(file, offset, max_inflated_bytes)
    start = memoryview(bytearray(16))
    try:
        count = member.readinto(start)
        length = member.drain() if bytes(start[:count]).startswith(RECORD_PREFIXES) else 0
    except DamagedRecordError:
        length = 0
    return length, member.inflated_bytes


def _find_magics(file: BinaryIO, offset: int) -> Iterator[tuple[int, bytes]]:
    """Yield the places of the magic number from an offset, with the bytes that follow."""
    chunk, end = b"", offset
    while True:
        file.seek(end)
        data = file.read(SCAN_BYTES)
        chunk, start = chunk + data, end - len(chunk)
        end += len(data)
        last = len(chunk) - (SAMPLE_BYTES if data else len(GZIP_MAGIC) - 1)  # later ones come with the next chunk
        position = chunk.find(GZIP_MAGIC)
        while 0 <= position < last:
            yield start + position, chunk[position : position + SAMPLE_BYTES]
            position = chunk.find(GZIP_MAGIC, position + 1)
        if not data:
            return
        chunk = chunk[max(0, last) :]

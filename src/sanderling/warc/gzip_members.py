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
GZIP_MAGIC = b"\x1f\x8b\x08"
RECORD_PREFIXES = (b"WARC/", b"filedesc:", b"http:", b"https:", b"dns:")  # first bytes of a WARC or ARC record


class DamagedRecordError(Exception):
    """Invalid bytes in a WARC file. Caught while iterating over records."""


class GzipMember(io.RawIOBase):
    """A decompressed stream. `length`: compressed size, set at the end."""

    def __init__(self, file: BinaryIO, offset: int, max_inflated_bytes: float = inf) -> None:
        self._file = file
        self._remaining_bytes = max_inflated_bytes
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
                self._remaining_bytes -= len(data)
                if self._remaining_bytes < 0:
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
    """Return the offset of the next intact member with a record, or -1."""
    offset = _find_next_magic(file, offset)
    while offset >= 0 and not _measure_member(file, offset):
        offset = _find_next_magic(file, offset + 1)
    return offset


def _measure_member(file: BinaryIO, offset: int) -> int:
    """Return the compressed length, or 0 if the member is damaged."""
    member = GzipMember(file, offset)
    start = memoryview(bytearray(16))
    try:
        count = member.readinto(start)
        return member.drain() if bytes(start[:count]).startswith(RECORD_PREFIXES) else 0
    except DamagedRecordError:
        return 0


def _find_next_magic(file: BinaryIO, offset: int) -> int:
    file.seek(offset)
    tail = b""
    while chunk := file.read(1 << 20):
        found = (tail + chunk).find(GZIP_MAGIC)
        if found >= 0:
            return file.tell() - len(chunk) - len(tail) + found
        tail = chunk[-2:]
    return -1

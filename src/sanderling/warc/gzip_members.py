"""Gzip members of a file: read one as a stream, and walk over all of them, past damage."""

import io
import os
import zlib
from collections.abc import Iterator
from typing import BinaryIO, cast

try:
    from isal import isal_zlib as inflater
except ImportError:  # no wheel for this machine
    import zlib as inflater  # type: ignore[no-redef]

ERRORS = (zlib.error, cast(type[Exception], inflater.error))
GZIP = 31
CHUNK = 32_768
MAGIC = b"\x1f\x8b\x08"
RECORD = (b"WARC/", b"filedesc:", b"http:", b"https:", b"dns:")  # what a record may begin with, ARC too


class Damaged(Exception):
    """These bytes are not what they should be; caught where files are walked."""


class Member(io.RawIOBase):
    """One gzip member as a stream of what is inside; `length` is its size in the file once it has ended."""

    def __init__(self, file: BinaryIO, offset: int) -> None:
        self._file = file
        self._offset = offset
        self._inflate = inflater.decompressobj(GZIP)
        self._fed = b""
        self.length = 0
        file.seek(offset)

    def readable(self) -> bool:
        """Say so, for BufferedReader."""
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        """Inflate at most as much as the buffer holds, whatever the member would grow to."""
        while not self._inflate.eof:
            try:
                found = self._inflate.decompress(self._fed, len(buffer))
            except ERRORS as error:
                raise Damaged(f"gzip: {error}") from error
            self._fed = self._inflate.unconsumed_tail
            if self._inflate.eof:
                self.length = self._file.tell() - len(self._inflate.unused_data) - self._offset
            if found:
                buffer[: len(found)] = found
                return len(found)
            self._feed()
        return 0

    def _feed(self) -> None:
        if not self._inflate.eof and not self._fed:
            self._fed = self._file.read(CHUNK)
            if not self._fed:
                raise Damaged("gzip: the file ends inside a member")

    def drain(self) -> int:
        """Read to the end of the member and throw it away; return its length in the file."""
        scratch = memoryview(bytearray(CHUNK))
        while self.readinto(scratch):
            pass
        return self.length


def whole_members(file: BinaryIO) -> Iterator[tuple[int, int]]:
    """Yield offset and length of every whole member that holds a record, going on behind damaged ones."""
    size = file.seek(0, os.SEEK_END)
    offset = 0
    while 0 <= offset < size:
        length = _length_at(file, offset)
        if length:
            yield offset, length
        offset = offset + length if length else next_record(file, offset + 1)


def next_record(file: BinaryIO, offset: int) -> int:
    """Find the next whole member that holds a record; -1 if there is none."""
    offset = _next_magic(file, offset)
    while offset >= 0 and not _length_at(file, offset):
        offset = _next_magic(file, offset + 1)
    return offset


def _length_at(file: BinaryIO, offset: int) -> int:
    """The length of the member at this offset; 0 if there is none, or it is damaged."""
    member = Member(file, offset)
    start = memoryview(bytearray(16))
    try:
        count = member.readinto(start)
        return member.drain() if bytes(start[:count]).startswith(RECORD) else 0
    except Damaged:
        return 0


def _next_magic(file: BinaryIO, offset: int) -> int:
    """Find where a gzip member might begin; -1 if nowhere."""
    file.seek(offset)
    tail = b""
    while chunk := file.read(1 << 20):
        found = (tail + chunk).find(MAGIC)
        if found >= 0:
            return file.tell() - len(chunk) - len(tail) + found
        tail = chunk[-2:]
    return -1

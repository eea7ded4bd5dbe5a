"""Unpack a gzipped file while it streams in; a file that is not gzipped passes as it is.

This is about files named .gz, which are still packed when all content codings are undone. A file packed twice is
unpacked twice, no more.
"""

import zlib
from collections.abc import Iterator

CHUNK_BYTES = 64 * 1024  # bytes unpacked at a time
MAX_DEPTH = 2
MAX_MEMBERS = 10_000  # of one file; an empty one costs microseconds, and millions of them are a few kilobytes
GZIP_MAGIC = b"\x1f\x8b"


class GzipUnpacker:
    """Unpack in pieces, so that the caller can stop a bomb; `is_broken` if a stream is damaged or cut."""

    def __init__(self, depth: int = 1) -> None:
        self._depth = depth
        self._first_bytes = b""
        self._stream: zlib._Decompress | None = None
        self._inner: GzipUnpacker | None = None
        self._is_plain = False
        self._member_count = 1
        self._is_damaged = False
        self._is_finished = False  # rubbish behind the end

    @property
    def is_broken(self) -> bool:
        """Tell whether the stream is damaged, or did not come to its end."""
        unfinished = self._stream is not None and not self._stream.eof
        return self._is_damaged or unfinished or (self._inner is not None and self._inner.is_broken)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Unpack some bytes."""
        if self._stream is None and not self._is_plain:
            data = self._first_bytes = self._first_bytes + data
            if len(data) < len(GZIP_MAGIC) and GZIP_MAGIC.startswith(data):
                return
            self._is_plain = not data.startswith(GZIP_MAGIC)
            self._open_stream()
        if self._is_plain:
            yield data
        elif not self._is_damaged:
            yield from self._unpack(data)

    def finish(self) -> Iterator[bytes]:
        """Give what was too short to tell."""
        if self._stream is None and not self._is_plain:
            yield self._first_bytes
        if self._inner:
            yield from self._inner.finish()

    def _open_stream(self) -> None:
        if not self._is_plain:
            self._stream = zlib.decompressobj(31)
            self._inner = GzipUnpacker(self._depth + 1) if self._depth < MAX_DEPTH else None

    def _unpack(self, data: bytes) -> Iterator[bytes]:
        assert self._stream is not None
        while data and not self._is_finished:
            if self._stream.eof:
                self._is_finished = data[:1] != GZIP_MAGIC[:1]
                if self._is_finished:
                    return
                self._member_count += 1
                if self._member_count > MAX_MEMBERS:
                    self._is_damaged = True
                    return
                self._stream = zlib.decompressobj(31)
            try:
                piece = self._stream.decompress(data, CHUNK_BYTES)
            except zlib.error:
                self._is_damaged = True
                return
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
            if piece:
                yield from self._inner.feed(piece) if self._inner else (piece,)

"""Decompress .gz files incrementally, at most twice; other files pass through."""

import zlib
from collections.abc import Iterator

CHUNK_BYTES = 64 * 1024  # maximum size of a decompressed chunk
MAX_DEPTH = 2
PADDING_BYTES = (
    256 * 1024
)  # from here on, a file must yield at least 1/MAX_PADDING of its size: empty blocks cost CPU time
MAX_PADDING = 32
MAX_MEMBERS = 10_000  # per file; millions of empty members fit into a few kilobytes when compressed twice
GZIP_MAGIC = b"\x1f\x8b"


class GzipUnpacker:
    """Decompresses in chunks of bounded size, so that the caller can stop a bomb."""

    def __init__(self, depth: int = 1) -> None:
        self._depth = depth
        self._first_bytes = b""
        self._stream: zlib._Decompress | None = None
        self._inner: GzipUnpacker | None = None
        self._is_plain = False
        self._member_count = 1
        self._packed_size = self._unpacked_size = 0
        self._is_damaged = False
        self._is_finished = False  # trailing garbage

    @property
    def is_broken(self) -> bool:
        """Whether the stream is damaged or truncated."""
        is_truncated = self._stream is not None and not self._stream.eof
        return self._is_damaged or is_truncated or (self._inner is not None and self._inner.is_broken)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decompress some bytes."""
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
        """Return the bytes of a file too short to detect."""
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
        self._packed_size += len(data)
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
            consumed = self._packed_size - len(data)
            if consumed > PADDING_BYTES and consumed > MAX_PADDING * self._unpacked_size:
                self._is_damaged = True
                return
            try:
                chunk = self._stream.decompress(data, CHUNK_BYTES)
            except zlib.error:
                self._is_damaged = True
                return
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
            self._unpacked_size += len(chunk)
            if chunk:
                yield from self._inner.feed(chunk) if self._inner else (chunk,)

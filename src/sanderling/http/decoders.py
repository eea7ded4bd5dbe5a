"""Streaming decoders for gzip, deflate, br, and zstd, in chunks of bounded size."""

import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from typing import Any, Protocol

import brotli

zlib_module: Any = zlib
try:
    from isal import isal_zlib

    zlib_module = isal_zlib
except ImportError:  # no wheel for this platform; zlib is half as fast
    pass

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DECODER_ERRORS: tuple[type[Exception], ...] = (zlib_module.error, brotli.error, zstd.ZstdError)

CHUNK_BYTES = 64 * 1024  # maximum size of a decoded chunk
ZSTD_WINDOW_LOG = 23  # 8 MiB, the maximum of RFC 9659
GZIP_TRAILER_BYTES = 8  # checksum and length at the end of a gzip stream
MAX_STREAMS = 10_000  # gzip members or zstd frames per body; even an empty one costs microseconds
GZIP_MAGIC = b"\x1f\x8b"
# First byte of a frame or of a skippable frame.
ZSTD_FRAME_STARTS = b"\x28\x50\x51\x52\x53\x54\x55\x56\x57\x58\x59\x5a\x5b\x5c\x5d\x5e\x5f"


class TooManyStreamsError(Exception):
    """More than `MAX_STREAMS` members or frames."""


class ContentDecoder(Protocol):
    """Streaming decoder of a content coding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode some bytes and yield chunks."""

    def finish(self) -> Iterator[bytes]:
        """Decode buffered bytes at the end."""

    @property
    def is_complete(self) -> bool:
        """Whether the compressed stream ended."""

    @property
    def is_identity(self) -> bool:
        """Whether the body is not encoded."""


class InflateDecoder:
    """Decoder of gzip (concatenated members) and deflate (with or without zlib header).

    The last eight bytes may be the checksum, whose failure must not lose text.
    """

    def __init__(self, open_stream: Callable[[bytes], Any]) -> None:
        self._open_stream = open_stream
        self._stream: Any = None
        self._pending = b""
        self._is_finished = False  # a whole stream was read; trailing bytes are ignored
        self._stream_count = 1
        self.is_identity = False

    @property
    def is_complete(self) -> bool:
        return self.is_identity or self._is_finished or (self._stream is not None and self._stream.eof)

    def feed(self, data: bytes) -> Iterator[bytes]:
        buffered = self._pending + data
        ready = max(len(buffered) - GZIP_TRAILER_BYTES, 0)
        self._pending = buffered[ready:]
        return self._decode(buffered[:ready], buffered) if ready else iter(())

    def finish(self) -> Iterator[bytes]:
        buffered, self._pending = self._pending, b""
        return self._decode(buffered, buffered) if buffered else iter(())

    def _decode(self, data: bytes, start: bytes) -> Iterator[bytes]:
        if self._stream is None and not self.is_identity:
            self._stream = self._open_stream(start)
            self.is_identity = self._stream is None
        if self.is_identity:
            yield data
            return
        while data and not self._is_finished:
            if self._stream.eof:
                self._is_finished = self._open_stream is not _open_gzip or data[:1] != GZIP_MAGIC[:1]
                self._stream = _open_gzip(GZIP_MAGIC)
                self._stream_count = increment_stream_count(self._stream_count)
            else:
                data = yield from self._inflate(data)

    def _inflate(self, data: bytes) -> Generator[bytes, None, bytes]:
        """Yield decompressed chunks; returns the bytes after the stream."""
        while True:
            chunk = self._stream.decompress(data, CHUNK_BYTES)
            data = self._stream.unconsumed_tail
            if chunk:
                yield chunk
            if self._stream.eof:
                return bytes(self._stream.unused_data)
            if not data and len(chunk) < CHUNK_BYTES:
                return b""


def increment_stream_count(count: int) -> int:
    """Return count + 1. Raises TooManyStreamsError above `MAX_STREAMS`."""
    if count >= MAX_STREAMS:
        raise TooManyStreamsError
    return count + 1


def _open_gzip(start: bytes) -> Any:
    return zlib_module.decompressobj(31) if start.startswith(GZIP_MAGIC) else None


def _open_deflate(start: bytes) -> Any:
    """Open zlib format (RFC 9110) or raw deflate, which some servers send."""
    has_header = len(start) > 1 and start[0] & 0x0F == 8 and (start[0] * 256 + start[1]) % 31 == 0
    return zlib_module.decompressobj(15 if has_header else -15)


class BrotliDecoder:
    is_identity = False

    def __init__(self) -> None:
        self._stream: Any = brotli.Decompressor()

    @property
    def is_complete(self) -> bool:
        return bool(self._stream.is_finished())

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self.is_complete:
            chunk = self._stream.process(data, output_buffer_limit=CHUNK_BYTES // 2)  # it may return twice as much
            data = b""
            if not chunk:
                return  # `can_accept_more_data` is True even while output is pending
            yield chunk

    def finish(self) -> Iterator[bytes]:
        return iter(())


class ZstdDecoder:
    """Decoder of zstd frames, with the window limit of RFC 9659."""

    is_identity = False

    def __init__(self) -> None:
        self._stream = _open_zstd()
        self._is_finished = False
        self._stream_count = 1

    @property
    def is_complete(self) -> bool:
        return self._is_finished or self._stream.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data and not self._is_finished:
            if self._stream.eof:
                self._is_finished = data[0] not in ZSTD_FRAME_STARTS
                self._stream = _open_zstd()
                self._stream_count = increment_stream_count(self._stream_count)
            else:
                data = yield from self._decode(data)

    def _decode(self, data: bytes) -> Generator[bytes, None, bytes]:
        """Yield decompressed chunks; returns the bytes after the frame."""
        while True:
            chunk = self._stream.decompress(data, CHUNK_BYTES)
            data = b""
            if chunk:
                yield chunk
            if self._stream.eof or self._stream.needs_input:
                return self._stream.unused_data

    def finish(self) -> Iterator[bytes]:
        return iter(())


def _open_zstd() -> zstd.ZstdDecompressor:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})


DECODERS: dict[str, Callable[[], ContentDecoder]] = {
    "gzip": lambda: InflateDecoder(_open_gzip),
    "x-gzip": lambda: InflateDecoder(_open_gzip),
    "deflate": lambda: InflateDecoder(_open_deflate),
    "br": BrotliDecoder,
    "zstd": ZstdDecoder,
}

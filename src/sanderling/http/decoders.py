"""The content codings of the web, one by one: coded bytes in, pieces out.

No piece is large, whatever the coded bytes ask for; what the pieces come to is for others to watch.
"""

import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from typing import Any, Protocol

import brotli

zlib_module: Any = zlib
try:
    from isal import isal_zlib

    zlib_module = isal_zlib
except ImportError:  # no wheel for this machine: twice the work
    pass

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DECODER_ERRORS: tuple[type[Exception], ...] = (zlib_module.error, brotli.error, zstd.ZstdError)

CHUNK_BYTES = 64 * 1024  # bytes decoded at a time
ZSTD_WINDOW_LOG = 23  # 8 MiB, all that RFC 9659 lets a server ask for
GZIP_TRAILER_BYTES = 8  # checksum and length at the end of a gzip stream
MAX_STREAMS = 10_000  # gzip members or zstd frames of one body; each costs microseconds, even an empty one
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_FRAME_STARTS = (
    b"\x28\x50\x51\x52\x53\x54\x55\x56\x57\x58\x59\x5a\x5b\x5c\x5d\x5e\x5f"  # of frames, skippable ones too
)


class TooManyStreamsError(Exception):
    """A body consists of more members or frames than `STREAMS_LIMIT`."""


class ContentDecoder(Protocol):
    """One coding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode some bytes, in pieces."""

    def finish(self) -> Iterator[bytes]:
        """Decode what was held back."""

    @property
    def is_complete(self) -> bool:
        """Tell whether the stream came to its own end."""

    @property
    def is_identity(self) -> bool:
        """Tell whether the bytes were not coded at all."""


class InflateDecoder:
    """gzip (one member after another) and deflate (with and without its header).

    The last eight bytes are held back: they may be the checksum, and its failure must not cost any text.
    """

    def __init__(self, open_stream: Callable[[bytes], Any]) -> None:
        self._open_stream = open_stream
        self._stream: Any = None
        self._pending = b""
        self._is_finished = False  # a whole stream was read; what follows is rubbish
        self._stream_count = 1
        self.is_identity = False  # it is not coded at all

    @property
    def is_complete(self) -> bool:
        return self.is_identity or self._is_finished or (self._stream is not None and self._stream.eof)

    def feed(self, data: bytes) -> Iterator[bytes]:
        held = self._pending + data
        ready = max(len(held) - GZIP_TRAILER_BYTES, 0)
        self._pending = held[ready:]
        return self._decode(held[:ready], held) if ready else iter(())

    def finish(self) -> Iterator[bytes]:
        held, self._pending = self._pending, b""
        return self._decode(held, held) if held else iter(())

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
        """Push bytes through the stream in pieces; return those that come after its end."""
        while True:
            piece = self._stream.decompress(data, CHUNK_BYTES)
            data = self._stream.unconsumed_tail
            if piece:
                yield piece
            if self._stream.eof:
                return bytes(self._stream.unused_data)
            if not data and len(piece) < CHUNK_BYTES:
                return b""


def increment_stream_count(count: int) -> int:
    """Return the number of streams with one more. Raises TooManyStreamsError above `STREAMS_LIMIT`."""
    if count >= MAX_STREAMS:
        raise TooManyStreamsError
    return count + 1


def _open_gzip(start: bytes) -> Any:
    return zlib_module.decompressobj(31) if start.startswith(GZIP_MAGIC) else None


def _open_deflate(start: bytes) -> Any:
    """Open what is called deflate: zlib as the standard says, or raw as some servers send it."""
    has_header = len(start) > 1 and start[0] & 0x0F == 8 and (start[0] * 256 + start[1]) % 31 == 0
    return zlib_module.decompressobj(15 if has_header else -15)


class BrotliDecoder:
    """br."""

    is_identity = False

    def __init__(self) -> None:
        self._stream: Any = brotli.Decompressor()

    @property
    def is_complete(self) -> bool:
        return bool(self._stream.is_finished())

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self.is_complete:
            piece = self._stream.process(data, output_buffer_limit=CHUNK_BYTES // 2)  # it may give twice that
            data = b""
            if not piece:
                return  # `can_accept_more_data` says yes while there is still output waiting
            yield piece

    def finish(self) -> Iterator[bytes]:
        return iter(())


class ZstdDecoder:
    """zstd, one frame after another, with no larger window than the standard allows on the web."""

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
        """Push bytes through the frame in pieces; return those that come after its end."""
        while True:
            piece = self._stream.decompress(data, CHUNK_BYTES)
            data = b""
            if piece:
                yield piece
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

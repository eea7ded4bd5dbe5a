"""Undo content codings while a body streams in: gzip, deflate, br, zstd, and stacks of them, within a cap.

Decoding goes in pieces, so that a bomb is noticed when it crosses the cap, not after it has filled memory. What could
be decoded before a stream broke is kept, and `problem` says what went wrong.
"""

import codecs
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from enum import StrEnum
from io import BytesIO
from typing import Any, Protocol

import brotli

inflater: Any = zlib
try:
    from isal import isal_zlib

    inflater = isal_zlib
except ImportError:  # no wheel for this machine: twice the work
    pass

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BROKEN: tuple[type[Exception], ...] = (inflater.error, brotli.error, zstd.ZstdError)

PIECE = 64 * 1024  # bytes decoded at a time
SLICE = 1024  # bytes taken at a time: where a stream breaks, no more than what came of these is lost
STACK_LIMIT = 4  # codings on one body
ZSTD_WINDOW_LOG = 23  # 8 MiB, all that RFC 9659 lets a server ask for
TRAILER = 8  # checksum and length at the end of a gzip stream
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_STARTS = b"\x28\x50\x51\x52\x53\x54\x55\x56\x57\x58\x59\x5a\x5b\x5c\x5d\x5e\x5f"  # of frames, skippable ones too


class Problem(StrEnum):
    """What was wrong with a coded body."""

    NONE = ""
    TOO_LARGE = "too_large"  # decoding stopped at the cap
    DAMAGED = "damaged"  # the stream broke; what came before is kept
    TRUNCATED = "truncated"  # the stream ended too early; what came before is kept
    UNKNOWN_CODING = "unknown_coding"  # nothing was decoded: the bytes are handed on as they are
    NOT_CODED = "not_coded"  # the server announced gzip and sent something else: handed on as it is


class _Stage(Protocol):
    """One coding."""

    def push(self, data: bytes) -> Iterator[bytes]:
        """Decode some bytes, in pieces."""

    def end(self) -> Iterator[bytes]:
        """Decode what was held back."""

    @property
    def is_complete(self) -> bool:
        """Tell whether the stream came to its own end."""

    @property
    def is_plain(self) -> bool:
        """Tell whether the bytes were not coded at all."""


class Decoder:
    """The decoder of one body: feed it what comes, then finish. `problem` tells how it went."""

    def __init__(self, stages: list[_Stage], cap_bytes: int, problem: Problem = Problem.NONE) -> None:
        self._stages = stages
        self._sizes = [0] * (len(stages) + 1)
        self._cap = cap_bytes
        self._taken = 0
        self.problem = problem

    @property
    def size(self) -> int:
        """Bytes decoded so far."""
        return self._sizes[-1]

    def feed(self, data: bytes) -> bytes:
        """Decode some bytes; nothing more comes after the cap or a damaged place."""
        if self.problem in (Problem.TOO_LARGE, Problem.DAMAGED):
            return b""
        self._taken += len(data)
        return self._gather(self._through(0, data))

    def finish(self) -> bytes:
        """Decode what was held back, and see whether the stream was whole."""
        if self.problem in (Problem.TOO_LARGE, Problem.DAMAGED):
            return b""
        rest = self._gather(self._rest())
        if self.problem is Problem.NONE and self._taken and not all(stage.is_complete for stage in self._stages):
            self.problem = Problem.TRUNCATED
        if self.problem is Problem.NONE and any(stage.is_plain for stage in self._stages):
            self.problem = Problem.NOT_CODED
        return rest

    def _rest(self) -> Iterator[bytes]:
        for at, stage in enumerate(self._stages):
            for piece in stage.end():
                yield from self._counted(at, piece)

    def _through(self, at: int, data: bytes) -> Iterator[bytes]:
        """Send bytes through the stages from `at` on."""
        if at == len(self._stages):
            yield data
            return
        for start in range(0, len(data), SLICE):
            for piece in self._stages[at].push(data[start : start + SLICE]):
                yield from self._counted(at, piece)

    def _counted(self, at: int, piece: bytes) -> Iterator[bytes]:
        """Hand a piece of stage `at` to the next, unless that stage is a bomb by itself."""
        if at < len(self._stages) - 1:
            self._sizes[at] += len(piece)
            if self._sizes[at] > self._cap:
                self.problem = Problem.TOO_LARGE
                return
        yield from self._through(at + 1, piece)

    def _gather(self, pieces: Iterator[bytes]) -> bytes:
        out = BytesIO()  # gives its bytes away without a copy
        try:
            for piece in pieces:
                room = self._cap - self.size
                self._sizes[-1] += min(len(piece), room)
                out.write(piece[:room] if len(piece) > room else piece)
                if len(piece) > room:
                    self.problem = Problem.TOO_LARGE
                if self.problem is Problem.TOO_LARGE:
                    break
        except BROKEN:
            self.problem = Problem.DAMAGED
        return out.getvalue()


def decoder_for(content_encoding: str, cap_bytes: int) -> Decoder:
    """Make the decoder for a Content-Encoding header; an unknown coding is a problem of the decoder, not an error."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    codings = [name for name in names if name in _CODINGS or not _is_no_coding(name)]
    if len(codings) > STACK_LIMIT or not all(name in _CODINGS for name in codings):
        return Decoder([], cap_bytes, Problem.UNKNOWN_CODING)
    return Decoder([_CODINGS[name]() for name in reversed(codings)], cap_bytes)


def _is_no_coding(name: str) -> bool:
    """Tell what people write there by mistake: nothing, a charset, a media type; browsers pass over it too."""
    if name in ("", "identity", "none", "binary", "8bit", "7bit", "chunked") or "/" in name[:100]:
        return True
    try:
        return codecs.lookup(name[:40])._is_text_encoding
    except (LookupError, ValueError):
        return False


class _Inflate:
    """gzip (one member after another) and deflate (with and without its header).

    The last eight bytes are held back: they may be the checksum, and its failure must not cost any text.
    """

    def __init__(self, opened: Callable[[bytes], Any]) -> None:
        self._opened = opened
        self._stream: Any = None
        self._held = b""
        self._is_over = False  # a whole stream was read; what follows is rubbish
        self.is_plain = False  # it is not coded at all

    @property
    def is_complete(self) -> bool:
        return self.is_plain or self._is_over or (self._stream is not None and self._stream.eof)

    def push(self, data: bytes) -> Iterator[bytes]:
        held = self._held + data
        ready = max(len(held) - TRAILER, 0)
        self._held = held[ready:]
        return self._decode(held[:ready], held) if ready else iter(())

    def end(self) -> Iterator[bytes]:
        held, self._held = self._held, b""
        return self._decode(held, held) if held else iter(())

    def _decode(self, data: bytes, start: bytes) -> Iterator[bytes]:
        if self._stream is None and not self.is_plain:
            self._stream = self._opened(start)
            self.is_plain = self._stream is None
        if self.is_plain:
            yield data
            return
        while data and not self._is_over:
            if self._stream.eof:
                self._is_over = self._opened is not _gzip or data[:1] != GZIP_MAGIC[:1]
                self._stream = _gzip(GZIP_MAGIC)
            else:
                data = yield from self._inflate(data)

    def _inflate(self, data: bytes) -> Generator[bytes, None, bytes]:
        """Push bytes through the stream in pieces; return those that come after its end."""
        while True:
            piece = self._stream.decompress(data, PIECE)
            data = self._stream.unconsumed_tail
            if piece:
                yield piece
            if self._stream.eof:
                return bytes(self._stream.unused_data)
            if not data and len(piece) < PIECE:
                return b""


def _gzip(start: bytes) -> Any:
    return inflater.decompressobj(31) if start.startswith(GZIP_MAGIC) else None


def _deflate(start: bytes) -> Any:
    """Open what is called deflate: zlib as the standard says, or raw as some servers send it."""
    has_header = len(start) > 1 and start[0] & 0x0F == 8 and (start[0] * 256 + start[1]) % 31 == 0
    return inflater.decompressobj(15 if has_header else -15)


class _Brotli:
    """br."""

    is_plain = False

    def __init__(self) -> None:
        self._stream: Any = brotli.Decompressor()

    @property
    def is_complete(self) -> bool:
        return bool(self._stream.is_finished())

    def push(self, data: bytes) -> Iterator[bytes]:
        while not self.is_complete:
            piece = self._stream.process(data, output_buffer_limit=PIECE // 2)  # it may give twice that
            data = b""
            if not piece:
                return  # `can_accept_more_data` says yes while there is still output waiting
            yield piece

    def end(self) -> Iterator[bytes]:
        return iter(())


class _Zstd:
    """zstd, one frame after another, with no larger window than the standard allows on the web."""

    is_plain = False

    def __init__(self) -> None:
        self._stream = _zstd()
        self._is_over = False

    @property
    def is_complete(self) -> bool:
        return self._is_over or self._stream.eof

    def push(self, data: bytes) -> Iterator[bytes]:
        while data and not self._is_over:
            if self._stream.eof:
                self._is_over = data[0] not in ZSTD_STARTS
                self._stream = _zstd()
            else:
                data = yield from self._decode(data)

    def _decode(self, data: bytes) -> Generator[bytes, None, bytes]:
        """Push bytes through the frame in pieces; return those that come after its end."""
        while True:
            piece = self._stream.decompress(data, PIECE)
            data = b""
            if piece:
                yield piece
            if self._stream.eof or self._stream.needs_input:
                return self._stream.unused_data

    def end(self) -> Iterator[bytes]:
        return iter(())


def _zstd() -> zstd.ZstdDecompressor:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})


_CODINGS: dict[str, Callable[[], _Stage]] = {
    "gzip": lambda: _Inflate(_gzip),
    "x-gzip": lambda: _Inflate(_gzip),
    "deflate": lambda: _Inflate(_deflate),
    "br": _Brotli,
    "zstd": _Zstd,
}

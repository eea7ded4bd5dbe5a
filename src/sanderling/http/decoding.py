"""Undo the content codings of a body while it streams in, and stacks of them, within a cap.

Decoding goes in pieces, so that a bomb is noticed when it crosses the cap, not after it has filled memory. What could
be decoded before a stream broke is kept, and `problem` says what went wrong.
"""

import codecs
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from io import BytesIO

from sanderling.http.decoders import DECODER_ERRORS, DECODERS, ContentDecoder, TooManyStreamsError
from sanderling.models import Reason

SLICE_BYTES = 1024  # bytes taken at a time: where a stream breaks, no more than what came of these is lost
MAX_CODINGS = 4  # codings on one body
CPU_LIMIT_SECONDS = 5.0  # seconds of decoding one body; the largest ordinary ones take a tenth of it


class DecodeProblem(StrEnum):
    """What was wrong with a coded body."""

    NONE = ""
    TOO_LARGE = "too_large"  # decoding stopped at the cap
    TOO_MANY_STREAMS = "too_many_streams"  # more gzip members or zstd frames than any ordinary body has
    TOO_SLOW = "too_slow"  # decoding took more CPU time than a body may
    DAMAGED = "damaged"  # the stream broke; what came before is kept
    TRUNCATED = "truncated"  # the stream ended too early; what came before is kept
    UNKNOWN_CODING = "unknown_coding"  # nothing was decoded: the bytes are handed on as they are
    NOT_ENCODED = "not_coded"  # the server announced gzip and sent something else: handed on as it is


FATAL_PROBLEMS = frozenset(
    {DecodeProblem.TOO_LARGE, DecodeProblem.TOO_MANY_STREAMS, DecodeProblem.TOO_SLOW, DecodeProblem.DAMAGED}
)


class DecodeTimeoutError(Exception):
    """Decoding a body took more than `CPU_LIMIT`."""


class BodyDecoder:
    """The decoder of one body: feed it what comes, then finish. `problem` tells how it went."""

    def __init__(
        self,
        stages: list[ContentDecoder],
        max_bytes: int,
        problem: DecodeProblem = DecodeProblem.NONE,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self._stages = stages
        self._decoded_sizes = [0] * (len(stages) + 1)
        self._max_bytes = max_bytes
        self._received_bytes = 0
        self._clock = clock
        self._remaining_cpu_seconds = CPU_LIMIT_SECONDS
        self._deadline = 0.0  # on the clock, while bytes are being decoded
        self.problem = problem

    @property
    def size(self) -> int:
        """Bytes decoded so far."""
        return self._decoded_sizes[-1]

    def feed(self, data: bytes) -> bytes:
        """Decode some bytes; nothing more comes after the cap or a damaged place."""
        if self.problem in FATAL_PROBLEMS:
            return b""
        self._received_bytes += len(data)
        return self._collect_chunks(self._decode_from(0, data))

    def finish(self) -> bytes:
        """Decode what was held back, and see whether the stream was whole."""
        if self.problem in FATAL_PROBLEMS:
            return b""
        rest = self._collect_chunks(self._flush_stages())
        if (
            self.problem is DecodeProblem.NONE
            and self._received_bytes
            and not all(stage.is_complete for stage in self._stages)
        ):
            self.problem = DecodeProblem.TRUNCATED
        if self.problem is DecodeProblem.NONE and any(stage.is_identity for stage in self._stages):
            self.problem = DecodeProblem.NOT_ENCODED
        return rest

    def _flush_stages(self) -> Iterator[bytes]:
        for at, stage in enumerate(self._stages):
            for piece in stage.finish():
                yield from self._forward_chunk(at, piece)

    def _decode_from(self, stage_index: int, data: bytes) -> Iterator[bytes]:
        """Send bytes through the stages from `at` on."""
        if stage_index == len(self._stages):
            yield data
            return
        for start in range(0, len(data), SLICE_BYTES):
            if self._clock() > self._deadline:
                raise DecodeTimeoutError
            for piece in self._stages[stage_index].feed(data[start : start + SLICE_BYTES]):
                yield from self._forward_chunk(stage_index, piece)

    def _forward_chunk(self, stage_index: int, chunk: bytes) -> Iterator[bytes]:
        """Hand a piece of stage `at` to the next, unless that stage is a bomb by itself."""
        if stage_index < len(self._stages) - 1:
            self._decoded_sizes[stage_index] += len(chunk)
            if self._decoded_sizes[stage_index] > self._max_bytes:
                self.problem = DecodeProblem.TOO_LARGE
                return
        yield from self._decode_from(stage_index + 1, chunk)

    def _collect_chunks(self, chunks: Iterator[bytes]) -> bytes:
        out = BytesIO()  # gives its bytes away without a copy
        started = self._clock()
        self._deadline = started + self._remaining_cpu_seconds
        try:
            for piece in chunks:
                room = self._max_bytes - self.size
                self._decoded_sizes[-1] += min(len(piece), room)
                out.write(piece[:room] if len(piece) > room else piece)
                if len(piece) > room:
                    self.problem = DecodeProblem.TOO_LARGE
                if self.problem is DecodeProblem.TOO_LARGE:
                    break
        except DECODER_ERRORS:
            self.problem = DecodeProblem.DAMAGED
        except TooManyStreamsError:
            self.problem = DecodeProblem.TOO_MANY_STREAMS
        except DecodeTimeoutError:
            self.problem = DecodeProblem.TOO_SLOW
        self._remaining_cpu_seconds -= self._clock() - started
        return out.getvalue()


def build_decoder(content_encoding: str, max_bytes: int) -> BodyDecoder:
    """Make the decoder for a Content-Encoding header; an unknown coding is a problem of the decoder, not an error."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    codings = [name for name in names if name in DECODERS or not _is_ignored_coding(name)]
    if len(codings) > MAX_CODINGS or not all(name in DECODERS for name in codings):
        return BodyDecoder([], max_bytes, DecodeProblem.UNKNOWN_CODING)
    return BodyDecoder([DECODERS[name]() for name in reversed(codings)], max_bytes)


def _is_ignored_coding(name: str) -> bool:
    """Tell what people write there by mistake: nothing, a charset, a media type; browsers pass over it too."""
    if name in ("", "identity", "none", "binary", "8bit", "7bit", "chunked") or "/" in name[:100]:
        return True
    try:
        return codecs.lookup(name[:40])._is_text_encoding
    except (LookupError, ValueError):
        return False


def decode_body(body: bytes, coding: str, max_bytes: int) -> tuple[bytes, Reason]:
    """Undo the content coding; with a reason, the bytes are those that came before the trouble."""
    if not coding:
        return (body, Reason.NONE) if len(body) <= max_bytes else (body[:max_bytes], Reason.TOO_LARGE)
    from sanderling.http.decoding import DecodeProblem, build_decoder  # loads every decoder there is

    reasons = {
        DecodeProblem.NONE: Reason.NONE,
        DecodeProblem.NOT_ENCODED: Reason.NONE,  # announced and not done: the page is there all the same
        DecodeProblem.TOO_LARGE: Reason.TOO_LARGE,
    }
    decoder = build_decoder(coding, max_bytes)
    start = decoder.feed(body)
    rest = decoder.finish()
    return start + rest if rest else start, reasons.get(decoder.problem, Reason.BAD_ENCODING)

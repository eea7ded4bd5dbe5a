"""Remove content codings incrementally, up to a size limit. Bytes before a problem are kept."""

import codecs
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from io import BytesIO

from sanderling.http.decoders import DECODER_ERRORS, DECODERS, ContentDecoder, TooManyStreamsError
from sanderling.models import Reason

SLICE_BYTES = 1024  # encoded bytes per step; a damaged stream loses at most the output of one step
MAX_CODINGS = 4  # per body
PADDING_BYTES = 256 * 1024  # from here on, a compressed stream must yield at least 1/MAX_PADDING of its size
MAX_PADDING = 32  # a server that flushes after every character sends about seven bytes for each
CPU_LIMIT_SECONDS = 5.0  # per body; the largest ordinary bodies take a tenth of it


class DecodeProblem(StrEnum):
    """Problem of an encoded body."""

    NONE = ""
    TOO_LARGE = "too_large"  # decoding stopped at the size limit
    TOO_MANY_STREAMS = "too_many_streams"  # too many gzip members or zstd frames
    PADDED = "padded"  # compressed stream of empty blocks
    TOO_SLOW = "too_slow"  # CPU time limit reached
    DAMAGED = "damaged"  # invalid stream; bytes decoded before are kept
    TRUNCATED = "truncated"  # incomplete stream; bytes decoded before are kept
    UNKNOWN_CODING = "unknown_coding"  # the bytes are passed on unchanged
    NOT_ENCODED = "not_coded"  # declared as gzip but not compressed: passed on unchanged


FATAL_PROBLEMS = frozenset(
    {
        DecodeProblem.TOO_LARGE,
        DecodeProblem.TOO_MANY_STREAMS,
        DecodeProblem.PADDED,
        DecodeProblem.TOO_SLOW,
        DecodeProblem.DAMAGED,
    }
)


class DecodeTimeoutError(Exception):
    """CPU time limit reached."""


class PaddingError(Exception):
    """A compressed stream consists of empty blocks."""


class BodyDecoder:
    """Call `feed` repeatedly, then `finish`, then read `problem`."""

    def __init__(
        self,
        stages: list[ContentDecoder],
        max_bytes: int,
        problem: DecodeProblem = DecodeProblem.NONE,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self._stages = stages
        self._encoded_sizes = [0] * len(stages)
        self._decoded_sizes = [0] * (len(stages) + 1)
        self._max_bytes = max_bytes
        self._received_bytes = 0
        self._clock = clock
        self._remaining_cpu_seconds = CPU_LIMIT_SECONDS
        self._deadline = 0.0  # clock time, valid while bytes are being decoded
        self.problem = problem

    @property
    def size(self) -> int:
        """Decoded bytes so far."""
        return self._decoded_sizes[-1]

    def feed(self, data: bytes) -> bytes:
        """Decode some bytes; b"" after a fatal problem."""
        if self.problem in FATAL_PROBLEMS:
            return b""
        self._received_bytes += len(data)
        return self._collect_chunks(self._decode_from(0, data))

    def finish(self) -> bytes:
        """Decode buffered bytes and check for completeness."""
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
        for index, stage in enumerate(self._stages):
            for chunk in stage.finish():
                yield from self._forward_chunk(index, chunk)

    def _decode_from(self, stage_index: int, data: bytes) -> Iterator[bytes]:
        if stage_index == len(self._stages):
            yield data
            return
        for start in range(0, len(data), SLICE_BYTES):
            if self._clock() > self._deadline:
                raise DecodeTimeoutError
            piece = data[start : start + SLICE_BYTES]
            self._count_encoded(stage_index, len(piece))
            for chunk in self._stages[stage_index].feed(piece):
                yield from self._forward_chunk(stage_index, chunk)

    def _count_encoded(self, stage_index: int, size: int) -> None:
        """Count the input of a stage. Raises PaddingError if it yields nearly nothing: empty blocks cost CPU time."""
        encoded = self._encoded_sizes[stage_index] = self._encoded_sizes[stage_index] + size
        if encoded > PADDING_BYTES and encoded > MAX_PADDING * self._decoded_sizes[stage_index]:
            raise PaddingError

    def _forward_chunk(self, stage_index: int, chunk: bytes) -> Iterator[bytes]:
        self._decoded_sizes[stage_index] += len(chunk)
        if stage_index < len(self._stages) - 1 and self._decoded_sizes[stage_index] > self._max_bytes:
            self.problem = DecodeProblem.TOO_LARGE
            return
        yield from self._decode_from(stage_index + 1, chunk)

    def _collect_chunks(self, chunks: Iterator[bytes]) -> bytes:
        out = BytesIO()  # `getvalue` does not copy
        started = self._clock()
        self._deadline = started + self._remaining_cpu_seconds
        try:
            for chunk in chunks:
                remaining = self._max_bytes - self.size
                self._decoded_sizes[-1] += min(len(chunk), remaining)
                out.write(chunk[:remaining] if len(chunk) > remaining else chunk)
                if len(chunk) > remaining:
                    self.problem = DecodeProblem.TOO_LARGE
                if self.problem is DecodeProblem.TOO_LARGE:
                    break
        except DECODER_ERRORS:
            self.problem = DecodeProblem.DAMAGED
        except TooManyStreamsError:
            self.problem = DecodeProblem.TOO_MANY_STREAMS
        except PaddingError:
            self.problem = DecodeProblem.PADDED
        except DecodeTimeoutError:
            self.problem = DecodeProblem.TOO_SLOW
        self._remaining_cpu_seconds -= self._clock() - started
        return out.getvalue()


def build_decoder(content_encoding: str, max_bytes: int) -> BodyDecoder:
    """Return a decoder; an unknown coding sets its `problem`."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    codings = [name for name in names if name in DECODERS or not _is_ignored_coding(name)]
    if len(codings) > MAX_CODINGS or not all(name in DECODERS for name in codings):
        return BodyDecoder([], max_bytes, DecodeProblem.UNKNOWN_CODING)
    return BodyDecoder([DECODERS[name]() for name in reversed(codings)], max_bytes)


def _is_ignored_coding(name: str) -> bool:
    """Return whether browsers ignore a value (charset, media type)."""
    if name in ("", "identity", "none", "binary", "8bit", "7bit", "chunked") or "/" in name[:100]:
        return True
    try:
        return codecs.lookup(name[:40])._is_text_encoding
    except (LookupError, ValueError):
        return False


def decode_body(body: bytes, coding: str, max_bytes: int) -> tuple[bytes, Reason]:
    """Decode a whole body. With a reason, the bytes are those before the problem."""
    if not coding:
        return (body, Reason.NONE) if len(body) <= max_bytes else (body[:max_bytes], Reason.TOO_LARGE)
    reasons = {
        DecodeProblem.NONE: Reason.NONE,
        DecodeProblem.NOT_ENCODED: Reason.NONE,  # the page is usable
        DecodeProblem.TOO_LARGE: Reason.TOO_LARGE,
    }
    decoder = build_decoder(coding, max_bytes)
    start = decoder.feed(body)
    rest = decoder.finish()
    return start + rest if rest else start, reasons.get(decoder.problem, Reason.BAD_ENCODING)

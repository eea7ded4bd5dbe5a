"""Undo the content codings of a body while it streams in, and stacks of them, within a cap.

Decoding goes in pieces, so that a bomb is noticed when it crosses the cap, not after it has filled memory. What could
be decoded before a stream broke is kept, and `problem` says what went wrong.
"""

import codecs
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from io import BytesIO

from sanderling.http.decoders import BROKEN, CODINGS, Stage, TooManyStreamsError
from sanderling.models import Reason

SLICE = 1024  # bytes taken at a time: where a stream breaks, no more than what came of these is lost
STACK_LIMIT = 4  # codings on one body
CPU_LIMIT = 5.0  # seconds of decoding one body; the largest ordinary ones take a tenth of it


class Problem(StrEnum):
    """What was wrong with a coded body."""

    NONE = ""
    TOO_LARGE = "too_large"  # decoding stopped at the cap
    TOO_MANY_STREAMS = "too_many_streams"  # more gzip members or zstd frames than any ordinary body has
    TOO_SLOW = "too_slow"  # decoding took more CPU time than a body may
    DAMAGED = "damaged"  # the stream broke; what came before is kept
    TRUNCATED = "truncated"  # the stream ended too early; what came before is kept
    UNKNOWN_CODING = "unknown_coding"  # nothing was decoded: the bytes are handed on as they are
    NOT_CODED = "not_coded"  # the server announced gzip and sent something else: handed on as it is


FINAL = frozenset({Problem.TOO_LARGE, Problem.TOO_MANY_STREAMS, Problem.TOO_SLOW, Problem.DAMAGED})


class TooSlowError(Exception):
    """Decoding a body took more than `CPU_LIMIT`."""


class Decoder:
    """The decoder of one body: feed it what comes, then finish. `problem` tells how it went."""

    def __init__(
        self,
        stages: list[Stage],
        cap_bytes: int,
        problem: Problem = Problem.NONE,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self._stages = stages
        self._sizes = [0] * (len(stages) + 1)
        self._cap = cap_bytes
        self._taken = 0
        self._clock = clock
        self._cpu_left = CPU_LIMIT
        self._deadline = 0.0  # on the clock, while bytes are being decoded
        self.problem = problem

    @property
    def size(self) -> int:
        """Bytes decoded so far."""
        return self._sizes[-1]

    def feed(self, data: bytes) -> bytes:
        """Decode some bytes; nothing more comes after the cap or a damaged place."""
        if self.problem in FINAL:
            return b""
        self._taken += len(data)
        return self._gather(self._through(0, data))

    def finish(self) -> bytes:
        """Decode what was held back, and see whether the stream was whole."""
        if self.problem in FINAL:
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
            if self._clock() > self._deadline:
                raise TooSlowError
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
        started = self._clock()
        self._deadline = started + self._cpu_left
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
        except TooManyStreamsError:
            self.problem = Problem.TOO_MANY_STREAMS
        except TooSlowError:
            self.problem = Problem.TOO_SLOW
        self._cpu_left -= self._clock() - started
        return out.getvalue()


def decoder_for(content_encoding: str, cap_bytes: int) -> Decoder:
    """Make the decoder for a Content-Encoding header; an unknown coding is a problem of the decoder, not an error."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    codings = [name for name in names if name in CODINGS or not _is_no_coding(name)]
    if len(codings) > STACK_LIMIT or not all(name in CODINGS for name in codings):
        return Decoder([], cap_bytes, Problem.UNKNOWN_CODING)
    return Decoder([CODINGS[name]() for name in reversed(codings)], cap_bytes)


def _is_no_coding(name: str) -> bool:
    """Tell what people write there by mistake: nothing, a charset, a media type; browsers pass over it too."""
    if name in ("", "identity", "none", "binary", "8bit", "7bit", "chunked") or "/" in name[:100]:
        return True
    try:
        return codecs.lookup(name[:40])._is_text_encoding
    except (LookupError, ValueError):
        return False


def decoded(body: bytes, coding: str, cap_bytes: int) -> tuple[bytes, Reason]:
    """Undo the content coding; with a reason, the bytes are those that came before the trouble."""
    if not coding:
        return (body, Reason.NONE) if len(body) <= cap_bytes else (body[:cap_bytes], Reason.TOO_LARGE)
    from sanderling.http.decoding import Problem, decoder_for  # loads every decoder there is

    reasons = {
        Problem.NONE: Reason.NONE,
        Problem.NOT_CODED: Reason.NONE,  # announced and not done: the page is there all the same
        Problem.TOO_LARGE: Reason.TOO_LARGE,
    }
    decoder = decoder_for(coding, cap_bytes)
    start = decoder.feed(body)
    rest = decoder.finish()
    return start + rest if rest else start, reasons.get(decoder.problem, Reason.BAD_ENCODING)

"""The first answer about a whole site, packed by a model of text: two thirds of the bytes of zstd, ten times its work.

Measured on two documentation sites (postgresql-doc-15, python-django-doc), all pages as one stream, against the sum of
gzip -6 of each page: zstd 9 56 %, zstd 22 44 to 47 %, brotli 11 44 to 46 %, xz with 64 MB 43 to 45 %, PPMd of order 32
33 to 36 %, PPMd of order 16 with words as codes 32 to 35 %, in about the time of order 32 and half its memory. zstd
stays for all later answers: they refer to what was said, which it does well.

The stream is a row of segments: two lengths, then bytes. A segment can be read when some bytes behind it are there,
because the coder is so far behind; the last is empty. What is no text travels as it is.
"""

import struct
import time
from collections import deque
from typing import Any

import msgspec

from sanderling.engines.hosts.memory import MOST
from sanderling.engines.hosts.words import Words, choose
from sanderling.engines.wire import LENGTH, split_frames

NAME = "ppmd"  # what both sides call this coding
ORDER = 16
MODEL_BYTES = 256 * 2**20
SAMPLE = 2**20  # bytes from which words are chosen
SAMPLE_SECONDS = 1.5  # a slow site is not waited for
SEGMENT = 2**18
HEADER = struct.Struct("!II")
SLICE = 2**14  # bytes the coder is asked for at once: within one of its blocks, fewer than asked for is an end
BEHIND = 16  # coded bytes after a segment that its reading may need
AS_IS = 2**31  # added to the first length: these bytes are not coded
LONG = 2**15  # bytes from which it is worth a look whether a message is text
CONTROL = bytes((*range(9), *range(14, 32), 127))
JOINT = b"\n"


def is_here() -> bool:
    """Can this side speak it? It comes with the extra `host`."""
    try:
        import pyppmd  # noqa: F401 - only whether it is there
    except ImportError:
        return False
    return True


def is_text(content: bytes) -> bool:
    """Does this look like text? Few control characters in its middle; a model of text is slow on anything else."""
    sample = content[len(content) // 2 :][:4096]
    return len(sample.translate(None, CONTROL)) > 0.95 * len(sample)


class ProsePacker:
    """The sending side: messages in, segments out."""

    def __init__(self) -> None:
        import pyppmd

        self.coder: Any = pyppmd.Ppmd7Encoder(ORDER, MODEL_BYTES)
        self.words: Words | None = None
        self.waiting = bytearray()
        self.since = time.monotonic()
        self.said = bytearray()  # up to the limit of a memory

    def pack(self, message: object) -> bytes:
        """Add one message; its bytes may come out later."""
        body = msgspec.msgpack.encode(message)
        framed = LENGTH.pack(len(body)) + body
        self.said += framed[: max(0, MOST - len(self.said))]
        if len(framed) > LONG and not is_text(framed):
            before = self._segment() if self.waiting else b""
            return before + HEADER.pack(AS_IS + len(framed), len(framed)) + framed
        self.waiting += framed
        return self._segment() if len(self.waiting) >= (SAMPLE if self.words is None else SEGMENT) else b""

    def flush(self) -> bytes:
        """What was added so far, but for the first moments: words are chosen from as much as there is then."""
        if self.words is None and time.monotonic() - self.since < SAMPLE_SECONDS:
            return b""
        return self._segment() if self.waiting else b""

    def end(self) -> bytes:
        """All the rest."""
        rest = self._segment() if self.waiting or self.words is None else b""
        tail: bytes = self.coder.flush()
        return rest + HEADER.pack(0, len(tail)) + tail

    def _segment(self) -> bytes:
        plain = bytes(self.waiting)
        self.waiting.clear()
        if self.words is not None:
            return self._code(self.words.shorten(plain))
        chosen = choose(plain[:SAMPLE])
        self.words = Words(chosen)
        return self._code(JOINT.join(chosen) + JOINT) + self._code(self.words.shorten(plain))

    def _code(self, short: bytes) -> bytes:
        if not short:
            return b""
        coded = b"".join(self.coder.encode(short[at : at + SLICE]) for at in range(0, len(short), SLICE))
        return HEADER.pack(len(short), len(coded)) + coded


class ProseUnpacker:
    """The receiving side: bytes in, whole messages out; never more memory than a segment of `most` bytes."""

    def __init__(self, most: int) -> None:
        import pyppmd

        self.most = most
        self.coder: Any = pyppmd.Ppmd7Decoder(ORDER, MODEL_BYTES)
        self.words: Words | None = None
        self.came = bytearray()
        self.held = b""  # coded bytes that were not given to the coder yet
        self.coded = 0  # coded bytes that came in all
        self.due: deque[tuple[int, int, bytes]] = deque()  # not read: length, where its coded bytes end; or as it is
        self.kept = 0  # bytes of what came as it is, to be remembered in its place
        self.broken = False  # the coder gave up
        self.over = False  # the empty segment came
        self.buffer = bytearray()
        self.heard = bytearray()  # up to the limit of a memory

    def unpack(self, data: bytes) -> list[bytes]:
        """Whole messages that are there now; ValueError for what is no stream of ours or too large."""
        self.came += data
        found: list[bytes] = []
        while len(self.came) >= HEADER.size:
            if self.over:
                raise ValueError("a stream that goes on after its end")
            length, size = HEADER.unpack_from(self.came)
            as_is, length = length >= AS_IS, length % AS_IS
            if length > self.most or size > self.most:
                raise ValueError(f"a segment of {max(length, size)} bytes; {self.most} are allowed")
            if len(self.came) < HEADER.size + size:
                break
            content = bytes(self.came[HEADER.size : HEADER.size + size])
            del self.came[: HEADER.size + size]
            if as_is:
                found += split_frames(bytearray(content), self.most)
                self.due.append((0, 0, content[: max(0, MOST - self.kept)]))
                self.kept += len(content)
                continue
            self.held += content
            self.coded += size
            self.over = not length
            if length:
                self.due.append((length, self.coded, b""))
            found += self._read()
        return found

    def _read(self) -> list[bytes]:
        """Read what can be read now: all segments together, for the coder may be asked only once behind its end."""
        ready = [self.due.popleft() for _ in range(self._readable())]
        short = self._decode(total) if (total := sum(length for length, _, _ in ready)) else b""
        at = 0
        for length, _, plain in ready:
            if length:
                plain = self._plain(short[at : at + length])
                self.buffer += plain
                at += length
            self.heard += plain[: max(0, MOST - len(self.heard))]
        return split_frames(self.buffer, self.most)

    def _readable(self) -> int:
        """How many segments have enough coded bytes behind them."""
        if self.over:
            return len(self.due)
        late = (place for place, (_, end, _) in enumerate(self.due) if self.coded < end + BEHIND)
        return next(late, len(self.due))

    def _plain(self, short: bytes) -> bytes:
        """The text of a segment; the first is the dictionary."""
        if self.words is None:
            self.words = Words(short.split(JOINT)[:-1] if short != JOINT else ())
            return b""
        return self.words.restore(short, self.most)

    def _decode(self, length: int) -> bytes:
        """Read so many bytes. A coder that gave too few is never asked again: it would crash on bytes that lie."""
        if self.broken:
            raise ValueError("a stream that broke off")
        coded, self.held = self.held + b"\0" * BEHIND * self.over, b""
        parts, left = list[bytes](), length
        try:
            while left and not self.broken:  # its own sign of an end means nothing: long repetitions look like one
                parts.append(self.coder.decode(coded, min(left, SLICE)))
                self.broken = len(parts[-1]) < min(left, SLICE)
                coded, left = b"", left - len(parts[-1])
        except (SystemError, MemoryError) as error:  # how this library says that bytes are none of its own
            self.broken = True
            raise ValueError(f"no stream of text: {error}") from None
        if self.broken:
            raise ValueError("a segment that ends early")
        return b"".join(parts)

"""The first answer about a whole site, packed by a model of text: far fewer bytes than zstd, ten times its work.

The stream is a row of segments: two lengths, then bytes. First come the words of the site, then texts in shorthand: a
list of the messages without their pages, and the pages. A segment can be read when some bytes behind it are there; the
last is empty. What is no text, or very long, is packed by zstd and goes ahead of what waits.
"""

import struct
import time
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from sanderling.engines.hosts.coder import BEHIND, Coder, Decoder
from sanderling.engines.hosts.coder import is_here as is_here
from sanderling.engines.hosts.letter import Message, Page, packed, unpacked
from sanderling.engines.hosts.memory import MOST
from sanderling.engines.hosts.shorthand import Shorthand
from sanderling.engines.hosts.slips import Slips, as_list, is_plain
from sanderling.engines.hosts.words import Words, choose
from sanderling.engines.wire import LENGTH

NAME = "prose"  # what both sides call this coding
SAMPLE = 2**22  # bytes from which words are chosen
SAMPLE_SECONDS = 1.5  # a slow site is not waited for
SEGMENT = 2**18
LONGEST = 2**22  # bytes of a page that is packed as text
MOST_TEXT = 2**24  # bytes of a segment, and again when it is written out
HEADER = struct.Struct("!II")
APART = 2**31  # added to the first length: one message, by zstd
SHORT = 2**15  # bytes up to which everything is text
CONTROL = bytes((*range(9), *range(14, 32), 127))
JOINT = b"\n"


def is_text(content: bytes) -> bool:
    """Does this look like text? Few control characters in its middle; a model of text is slow on anything else."""
    sample = content[len(content) // 2 :][:4096]
    return len(sample.translate(None, CONTROL)) > 0.95 * len(sample)


def is_apart(message: Message) -> bool:
    """Is this a page that is not packed as text?"""
    if not isinstance(message, Page):
        return False
    size = len(message.body)
    return size > LONGEST or not is_plain(message.head) or (size > SHORT and not is_text(message.body))


def framed(message: object) -> bytes:
    """A message as both sides remember it."""
    body = msgspec.msgpack.encode(message)
    return LENGTH.pack(len(body)) + body


class Waiting(NamedTuple):
    """A message that is not coded yet."""

    slip: bytes
    page: bytes | None  # prepared; None if it is no page
    whole: bytes  # as both sides remember it; empty if their memories are full

    @property
    def size(self) -> int:
        """Bytes it adds to a segment."""
        return len(self.slip) + len(self.page or b"")


class ProsePacker:
    """The sending side: messages in, segments out."""

    def __init__(self) -> None:
        self.coder, self.shorthand, self.slips = Coder(), Shorthand(), Slips()
        self.words: Words | None = None
        self.waiting: deque[Waiting] = deque()
        self.size = 0  # bytes that wait
        self.since = time.monotonic()
        self.said = bytearray()  # up to the limit of a memory

    def pack(self, message: Message) -> bytes:
        """Add one message; its bytes may come out later."""
        if is_apart(message):
            return self._apart(framed(message))
        page = self.shorthand.prepare(message.body) if isinstance(message, Page) else None
        whole = framed(message) if len(self.said) < MOST else b""
        self.waiting.append(Waiting(self.slips.write(message), page, whole))
        self.size += self.waiting[-1].size
        return self._segment() if self.size >= (SAMPLE if self.words is None else SEGMENT) else b""

    def flush(self) -> bytes:
        """Some of what waits, but for the first moments: words are chosen from as much as there is then."""
        if self.words is None and time.monotonic() - self.since < SAMPLE_SECONDS:
            return b""
        return self._segment() if self.waiting else b""

    def end(self) -> Iterator[bytes]:
        """All the rest, segment by segment."""
        while self.waiting or self.words is None:
            yield self._segment()
        tail = self.coder.end()
        yield HEADER.pack(0, len(tail)) + tail

    def _apart(self, whole: bytes) -> bytes:
        self._remember(whole)
        small = packed(whole)
        return HEADER.pack(APART + len(whole), len(small)) + small

    def _segment(self) -> bytes:
        """Code the next messages that wait, and before the first of them the words."""
        words, before = (self.words, b"") if self.words else self._begin()
        taken, size = list[Waiting](), 0
        while self.waiting and size < SEGMENT:
            taken.append(self.waiting.popleft())
            self._remember(taken[-1].whole)
            size += taken[-1].size
        self.size -= size
        pages = [one.page for one in taken if one.page is not None]
        return before + self._code(self.shorthand.write(words, as_list([one.slip for one in taken]), pages))

    def _begin(self) -> tuple[Words, bytes]:
        chosen = choose(b"".join([one.page or b"" for one in self.waiting])[:SAMPLE])
        self.words = Words(chosen)
        return self.words, self._code(JOINT.join(chosen) + JOINT)

    def _code(self, short: bytes) -> bytes:
        coded = self.coder.encode(short)
        return HEADER.pack(len(short), len(coded)) + coded

    def _remember(self, whole: bytes) -> None:
        self.said += whole[: max(0, MOST - len(self.said))]


class ProseUnpacker:
    """The receiving side: bytes in, whole messages out; never more memory than a segment and a message apart need."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.decoder, self.shorthand, self.slips = Decoder(), Shorthand(), Slips()
        self.words: Words | None = None
        self.came = bytearray()
        self.held = b""  # coded bytes that were not given to the decoder yet
        self.coded = 0  # coded bytes that came in all
        self.due: deque[tuple[int, int, bytes]] = deque()  # not read: length, where its coded bytes end; or a message
        self.kept = 0  # bytes of messages apart, to be remembered in their place
        self.over = False  # the empty segment came
        self.heard = bytearray()  # up to the limit of a memory

    def unpack(self, data: bytes) -> list[bytes]:
        """Whole messages that are there now; ValueError for what is no stream of ours or too large."""
        self.came += data
        found: list[bytes] = []
        while len(self.came) >= HEADER.size:
            if self.over:
                raise ValueError("a stream that goes on after its end")
            length, size = HEADER.unpack_from(self.came)
            apart, length = length >= APART, length % APART
            most = self.most if apart else min(self.most, MOST_TEXT)
            if length > most or size > most:
                raise ValueError(f"a segment of {max(length, size)} bytes; {most} are allowed")
            if len(self.came) < HEADER.size + size:
                break
            content = bytes(self.came[HEADER.size : HEADER.size + size])
            del self.came[: HEADER.size + size]
            found += self._apart(content, length) if apart else self._text(content, length)
        return found

    def _apart(self, content: bytes, length: int) -> list[bytes]:
        whole = unpacked(content, length)
        if len(whole) < LENGTH.size or LENGTH.unpack_from(whole)[0] != len(whole) - LENGTH.size:
            raise ValueError("a message that is not whole")
        self.due.append((0, 0, whole[: max(0, MOST - self.kept)]))
        self.kept += len(whole)
        return [whole[LENGTH.size :]]

    def _text(self, content: bytes, length: int) -> list[bytes]:
        self.held += content
        self.coded += len(content)
        self.over = not length
        if length:
            self.due.append((length, self.coded, b""))
        return self._read()

    def _read(self) -> list[bytes]:
        """Read what can be read now: all segments together, for the coder may be asked only once behind its end."""
        ready = [self.due.popleft() for _ in range(self._readable())]
        total = sum(length for length, _, _ in ready)
        short, at, found = self._decode(total) if total else b"", 0, list[bytes]()
        for length, _, apart in ready:
            if not length:
                self._remember(apart)
                continue
            for message in self._messages(short[at : at + length]):
                self._remember(whole := framed(message))
                found.append(whole[LENGTH.size :])
            at += length
        return found

    def _decode(self, length: int) -> bytes:
        coded, self.held = self.held + b"\0" * BEHIND * self.over, b""
        return self.decoder.decode(coded, length)

    def _messages(self, short: bytes) -> list[Message]:
        """The messages of a segment; the first of all are the words."""
        if self.words is None:
            self.words = Words(short.split(JOINT)[:-1] if short != JOINT else ())
            return []
        return self.slips.read(*self.shorthand.read(self.words, short, MOST_TEXT))

    def _remember(self, whole: bytes) -> None:
        self.heard += whole[: max(0, MOST - len(self.heard))]

    def _readable(self) -> int:
        """How many segments have enough coded bytes behind them."""
        if self.over:
            return len(self.due)
        late = (place for place, (_, end, _) in enumerate(self.due) if self.coded < end + BEHIND)
        return next(late, len(self.due))

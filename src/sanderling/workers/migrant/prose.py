"""The first answer about a whole site, packed by a model of text: far fewer bytes than zstd, ten times its work.

The stream is a row of segments: two lengths, then bytes. First come the words of the site, then texts in shorthand: a
list of the messages without their pages, and the pages. A segment can be read when some bytes behind it are there; the
last is empty. What is no text, or very long, is packed by zstd and goes ahead of what waits.
"""

import struct
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import msgspec

from sanderling.workers.migrant.coder import FarCoder
from sanderling.workers.migrant.coder import is_here as is_here
from sanderling.workers.migrant.messages import MigrantMessage, PageMessage, compress_bytes
from sanderling.workers.migrant.shared_dictionary import MAX_DICTIONARY_BYTES
from sanderling.workers.migrant.shorthand import Shorthand
from sanderling.workers.migrant.slips import Slips, as_list, is_plain
from sanderling.workers.migrant.words import Words, choose
from sanderling.workers.worker_protocol import LENGTH_PREFIX

NAME = "prose3"  # what both sides call this coding; one that reads otherwise has another name
SAMPLE = 2**21  # bytes from which words are chosen
SAMPLE_SECONDS = 1.5  # a slow site is not waited for
SEGMENT = 2**18  # bytes of pages, prepared
FIRST_SEGMENT = 2**15  # the next are twice as long each: so the other side has something to read soon
LONGEST = 2**22  # bytes of a page that is packed as text
MOST_TEXT = 2**24  # bytes of a segment, and again when it is written out
HEADER = struct.Struct("!II")
APART = 2**31  # added to the first length: one message, by zstd
SHORT = 2**15  # bytes up to which everything is text
CONTROL = bytes((*range(9), *range(14, 32), 127))
JOINT = b"\n"
AHEAD = 3  # segments prepared while one is coded


def is_text(content: bytes) -> bool:
    """Does this look like text? Few control characters in its middle; a model of text is slow on anything else."""
    sample = content[len(content) // 2 :][:4096]
    return len(sample.translate(None, CONTROL)) > 0.95 * len(sample)


def is_apart(message: MigrantMessage) -> bool:
    """Is this a page that is not packed as text?"""
    if not isinstance(message, PageMessage):
        return False
    size = len(message.body)
    return size > LONGEST or not is_plain(message.head) or (size > SHORT and not is_text(message.body))


def framed(message: object) -> bytes:
    """A message as both sides remember it."""
    body = msgspec.msgpack.encode(message)
    return LENGTH_PREFIX.pack(len(body)) + body


class Waiting(NamedTuple):
    """A message that is not coded yet."""

    slip: bytes
    page: bytes | None  # prepared; None if it is no page
    whole: bytes  # as both sides remember it; empty if their memories are full
    full: int  # bytes of the page as it came

    @property
    def size(self) -> int:
        """Bytes it adds to a segment."""
        return len(self.slip) + len(self.page or b"")


class ProsePacker:
    """The sending side: messages in, segments out. Coding has a process of its own, and a thread that waits for it."""

    def __init__(self) -> None:
        self.coder, self.shorthand, self.slips = FarCoder(), Shorthand(), Slips()
        self.thread = ThreadPoolExecutor(1, "coder")
        self.coding: deque[Future[bytes]] = deque()
        self.words: Words | None = None
        self.waiting: deque[Waiting] = deque()
        self.most = FIRST_SEGMENT
        self.size = self.full = 0  # bytes that wait, prepared and as they came
        self.since = time.monotonic()
        self.dictionary_bytes = bytearray()  # up to the limit of a memory

    def compress(self, message: MigrantMessage) -> bytes:
        """Add one message; its bytes may come out later."""
        if is_apart(message):
            return self._apart(framed(message))
        body = message.body if isinstance(message, PageMessage) else None
        page = self.shorthand.prepare(body) if body is not None else None
        whole = framed(message) if len(self.dictionary_bytes) < MAX_DICTIONARY_BYTES else b""
        self.waiting.append(Waiting(self.slips.write(message), page, whole, len(body or b"")))
        self.size += self.waiting[-1].size
        self.full += self.waiting[-1].full
        if self._is_much:
            self._segment()
        return self._coded(AHEAD)

    @property
    def _is_much(self) -> bool:
        """Does enough wait for a segment, or for choosing words? Pages that repeat each other are short, and many."""
        most, longest = (SAMPLE, MOST_TEXT) if self.words is None else (self.most, LONGEST)
        return self.size >= most or self.full >= longest

    def flush(self) -> bytes:
        """Some of what waits, but for the first moments: words are chosen from as much as there is then."""
        if self.waiting and (self.words or time.monotonic() - self.since >= SAMPLE_SECONDS):
            self._segment()
        return self._coded(AHEAD)

    def finish(self) -> Iterator[bytes]:
        """All the rest, segment by segment."""
        while self.waiting or self.words is None:
            self._segment()
            yield self._coded(AHEAD)
        while self.coding:
            yield self._coded(len(self.coding) - 1)
        tail = self.coder.end()
        yield HEADER.pack(0, len(tail)) + tail
        self.close()

    def close(self) -> None:
        """End what was begun, wherever it is."""
        self.coder.kill()
        self.thread.shutdown(cancel_futures=True)
        self.coder.close()

    def _apart(self, whole: bytes) -> bytes:
        before = self._coded(0)  # both sides remember in the order of the stream
        self._remember(whole)
        small = compress_bytes(whole)
        return before + HEADER.pack(APART + len(whole), len(small)) + small

    def _segment(self) -> None:
        """Have the next messages that wait coded, and before the first of them the words."""
        words = self.words or self._choose()
        taken, size, full = list[Waiting](), 0, 0
        while self.waiting and size < self.most and full < LONGEST:  # with one page more, below what is read at once
            taken.append(self.waiting.popleft())
            self._remember(taken[-1].whole)
            size += taken[-1].size
            full += taken[-1].full
        self.most = min(SEGMENT, 2 * self.most)
        self.size -= size
        self.full -= full
        pages = [one.page for one in taken if one.page is not None]
        self._code(self.shorthand.write(words, as_list([one.slip for one in taken]), pages))

    def _choose(self) -> Words:
        chosen = choose(b"".join([one.page or b"" for one in self.waiting])[:SAMPLE])
        self._code(JOINT.join(chosen) + JOINT)
        self.words = Words(chosen)
        return self.words

    def _code(self, short: bytes) -> None:
        self.coding.append(self.thread.submit(lambda: self._with_header(short, self.coder.encode(short))))

    def _with_header(self, short: bytes, coded: bytes) -> bytes:
        return HEADER.pack(len(short), len(coded)) + coded

    def _coded(self, waiting: int) -> bytes:
        """Segments that are coded; no more than so many may still wait for it."""
        parts = list[bytes]()
        while self.coding and (self.coding[0].done() or len(self.coding) > waiting):
            parts.append(self.coding.popleft().result())
        return b"".join(parts)

    def _remember(self, whole: bytes) -> None:
        self.dictionary_bytes += whole[: max(0, MAX_DICTIONARY_BYTES - len(self.dictionary_bytes))]

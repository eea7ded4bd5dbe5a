"""The receiving side of prose: bytes in, whole messages out, and never more than a few segments at once."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from sanderling.workers.migrant.coder import BEHIND, FarDecoder
from sanderling.workers.migrant.messages import MigrantMessage, decompress_bytes
from sanderling.workers.migrant.prose import APART, HEADER, JOINT, MOST_TEXT, framed
from sanderling.workers.migrant.shared_dictionary import MAX_DICTIONARY_BYTES
from sanderling.workers.migrant.shorthand import Shorthand
from sanderling.workers.migrant.slips import Slips
from sanderling.workers.migrant.words import MOST_WORDS, Words
from sanderling.workers.worker_protocol import LENGTH_PREFIX

PATIENCE = 300.0  # seconds a segment may take to be read: that of the slowest machine takes a few
AHEAD = 2**22  # bytes of text that are being read before any are written out


class Due(NamedTuple):
    """A segment that is not read yet, or a message apart that is to be remembered in its place."""

    length: int
    end: int = 0  # of its coded bytes, among those of all
    apart: bytes = b""


class Reading(NamedTuple):
    """Segments that are being read."""

    due: list[Due]
    length: int
    text: Future[bytes]


class ProseUnpacker:
    """The receiving side: bytes in, whole messages out. Reading has a process of its own, and a thread that waits."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.decoder, self.shorthand, self.slips = FarDecoder(), Shorthand(), Slips()
        self.thread = ThreadPoolExecutor(1, "decoder")
        self.reading: deque[Reading] = deque()
        self.ahead = 0  # bytes of text that are being read
        self.words: Words | None = None
        self.came = bytearray()
        self.held = b""  # coded bytes that were not given to the decoder yet
        self.coded = 0  # coded bytes that came in all
        self.due: deque[Due] = deque()
        self.kept = 0  # bytes of messages apart, to be remembered in their place
        self.over = False  # the empty segment came
        self.dictionary_bytes = bytearray()  # up to the limit of a memory

    def decompress(self, data: bytes) -> Iterator[bytes]:
        """Whole messages that are there now, as they are taken; ValueError for no stream of ours or a too large one."""
        self.came += data
        yield from self._read(AHEAD)
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
            if apart:
                yield self._apart(content, length)
            else:
                yield from self._text(content, length)

    def finish(self) -> Iterator[bytes]:
        """What came whole and was not handed out yet, of a stream that broke off."""
        return self._read(0)

    def _apart(self, content: bytes, length: int) -> bytes:
        whole = decompress_bytes(content, length)
        if len(whole) < LENGTH_PREFIX.size or LENGTH_PREFIX.unpack_from(whole)[0] != len(whole) - LENGTH_PREFIX.size:
            raise ValueError("a message that is not whole")
        self.due.append(Due(0, apart=whole[: max(0, MAX_DICTIONARY_BYTES - self.kept)]))
        self.kept += len(whole)
        return whole[LENGTH_PREFIX.size :]

    def _text(self, content: bytes, length: int) -> Iterator[bytes]:
        self.held += content
        self.coded += len(content)
        self.over = not length
        if length:
            self.due.append(Due(length, self.coded))
        self._begin()
        return self._read(0 if self.over else AHEAD)

    def _begin(self) -> None:
        """Begin to read what can be read now: all segments together, for the coder is asked once behind its end."""
        ready = [self.due.popleft() for _ in range(self._readable())]
        length = sum(due.length for due in ready)
        if length > 2 * MOST_TEXT:
            raise ValueError("too many segments at once")
        if not ready:
            return
        coded, self.held = (self.held + b"\0" * BEHIND * self.over, b"") if length else (b"", self.held)
        self.ahead += length
        self.reading.append(Reading(ready, length, self.thread.submit(self._decode, coded, length)))

    def _decode(self, coded: bytes, length: int) -> bytes:
        return self.decoder.decode(coded, length) if length else b""

    def _read(self, ahead: int) -> Iterator[bytes]:
        """The messages of what is read; no more text than so much may still be on its way."""
        while self.reading and (self.ahead > ahead or not self.reading[0].length or self.reading[0].text.done()):
            reading = self.reading.popleft()
            self.ahead -= reading.length
            yield from self._written_out(reading.due, self._waited_for(reading.text))
        if self.over and not self.reading:
            self.close()

    def _waited_for(self, text: Future[bytes]) -> bytes:
        try:
            return text.result(PATIENCE)
        except TimeoutError:
            self.decoder.kill()
            raise ValueError("the process that reads hangs") from None

    def _written_out(self, ready: list[Due], short: bytes) -> Iterator[bytes]:
        at = 0
        for due in ready:
            if not due.length:
                self._remember(due.apart)
                continue
            for message in self._messages(short[at : at + due.length]):
                self._remember(whole := framed(message))
                yield whole[LENGTH_PREFIX.size :]
            at += due.length

    def close(self) -> None:
        """End what was begun, wherever it is."""
        self.decoder.kill()
        self.thread.shutdown(cancel_futures=True)
        self.decoder.close()

    def _messages(self, short: bytes) -> list[MigrantMessage]:
        """The messages of a segment; the first of all are the words."""
        if self.words is None:
            self.words = Words(short.split(JOINT, MOST_WORDS + 1)[:-1] if short != JOINT else ())
            return []
        return self.slips.read(*self.shorthand.read(self.words, short, MOST_TEXT))

    def _remember(self, whole: bytes) -> None:
        self.dictionary_bytes += whole[: max(0, MAX_DICTIONARY_BYTES - len(self.dictionary_bytes))]

    def _readable(self) -> int:
        """How many segments have enough coded bytes behind them."""
        if self.over:
            return len(self.due)
        late = (place for place, due in enumerate(self.due) if self.coded < due.end + BEHIND)
        return next(late, len(self.due))

"""The receiving side of prose: bytes in, whole messages out, and never more than a segment at once."""

from collections import deque

from sanderling.engines.hosts.coder import BEHIND, Decoder
from sanderling.engines.hosts.letter import Message, unpacked
from sanderling.engines.hosts.memory import MOST
from sanderling.engines.hosts.prose import APART, HEADER, JOINT, MOST_TEXT, framed
from sanderling.engines.hosts.shorthand import Shorthand
from sanderling.engines.hosts.slips import Slips
from sanderling.engines.hosts.words import Words
from sanderling.engines.wire import LENGTH


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
        if total > 2 * MOST_TEXT:
            raise ValueError("too many segments at once")
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

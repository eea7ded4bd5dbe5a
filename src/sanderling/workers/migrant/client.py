"""The post between a crawler and a host: letters go out one after the other, answers come by a queue."""

import http.client
import json
import queue
import threading
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.clock import Clock, real
from sanderling.models import Reason, Stop
from sanderling.workers.migrant import prose
from sanderling.workers.migrant.address import TIMEOUT as TIMEOUT
from sanderling.workers.migrant.address import Address as Address
from sanderling.workers.migrant.keys import public_of, read_key, sign
from sanderling.workers.migrant.messages import (
    CODING_HEADER,
    DECODER,
    KEY_HEADER,
    MEMORY_HEADER,
    PATH,
    SIGNATURE_HEADER,
    End,
    Letter,
    Message,
    Packer,
    Page,
    Unpacker,
)
from sanderling.workers.migrant.owner_rules import Refusal
from sanderling.workers.migrant.reader import ProseUnpacker
from sanderling.workers.migrant.shared_dictionary import Recall, name_of

WAITING = 256  # messages read ahead; then the connection waits
LARGE = 2**18  # bytes of a page that count as one more message
PASSING = (Refusal.BUSY, Refusal.CLOSED, Refusal.EARLIER)  # refusals that end by themselves
UNTIMELY = (Refusal.EXPIRED, Refusal.NOT_YET)  # a letter is issued when it is sent: clocks differ
READ = 64 * 1024
FAREWELL_SECONDS = 3.0
MAX_MESSAGE = 80 * 2**20


class Failed(Struct, frozen=True):
    """A letter was not obeyed, or its answer broke off."""

    reason: Reason
    note: str
    final: bool = False  # another try would end the same way


class Sent(Struct):
    """A letter on its way: what it asks for, and what is still open."""

    letter: Letter
    open: dict[int, Stop]


News = tuple[Sent, Message | Failed, int]


class Shelf(queue.Queue[News]):
    """A queue with room for so many messages, or fewer if they are large."""

    def _init(self, maxsize: int) -> None:
        super()._init(maxsize)
        self.taken = 0

    def _qsize(self) -> int:
        return self.taken

    def _put(self, item: News) -> None:
        super()._put(item)
        self.taken += _room(item)

    def _get(self) -> News:
        item: News = super()._get()
        self.taken -= _room(item)
        return item


def _room(item: News) -> int:
    message = item[1]
    return 1 + (len(message.body) // LARGE if isinstance(message, Page) else 0)


class Post:
    """Sends letters one after the other over one connection, in a thread of its own; answers come by a queue."""

    EMPTY = queue.Empty

    def __init__(self, address: Address, clock: Clock = real) -> None:
        self.address, self.clock = address, clock
        self.key = read_key(Path(address.key_file))
        self.sender = public_of(self.key)
        self.outbox: queue.Queue[Sent | None] = queue.Queue()
        self.inbox = Shelf(WAITING)
        self.link: http.client.HTTPConnection | None = None
        self.unpacker: Unpacker | ProseUnpacker = Unpacker(MAX_MESSAGE)
        self.closed = False
        self.thread = threading.Thread(target=self._run, daemon=True, name="post")
        self.thread.start()

    def close(self) -> None:
        """Stop; what is on its way is lost, and was leased. An answer about to end may end: it is remembered."""
        self.closed = True
        self.outbox.put(None)
        self.thread.join(FAREWELL_SECONDS)

    def _run(self) -> None:
        while not self.closed and (sent := self.outbox.get()) is not None:
            try:
                self._exchange(sent)
            except (OSError, http.client.HTTPException) as error:
                self._put(sent, Failed(Reason.CONNECT, f"{self.address.url}: {error or type(error).__name__}"))
                self._hang_up()
            except (ValueError, msgspec.DecodeError) as error:
                self._put(sent, Failed(Reason.BROKEN_RESPONSE, f"{self.address.url}: {error}"))
                self._hang_up()
        self._hang_up()

    def _put(self, sent: Sent, message: Message | Failed, size: int = 0) -> None:
        while not self.closed:
            try:
                self.inbox.put((sent, message, size), timeout=1.0)
                break
            except queue.Full:
                continue

    def _exchange(self, sent: Sent) -> None:
        recall = Recall(self.address.memory, self.address.receiver, sent.letter.site)
        first = self.link is None
        answer = self._ask(sent, recall)
        if answer.status != 200:
            why = _refusal(answer)
            hint = " (do the clocks of both machines agree?)" if why in UNTIMELY else ""
            self._put(sent, Failed(Reason.HOST_REFUSED, f"refused: {why}{hint}", why not in PASSING))
            self._hang_up()
            return
        known = not first or self._begin(sent.letter, answer)
        if not first and isinstance(self.unpacker, ProseUnpacker):  # later answers are zstd and refer to this one
            self.unpacker = Unpacker(MAX_MESSAGE, bytes(self.unpacker.heard))
        ended = self._read(sent, answer, None if known else recall)
        if not ended:
            self._put(sent, Failed(Reason.BROKEN_RESPONSE, "the host's answer broke off"))
            self._hang_up()

    def _ask(self, sent: Sent, recall: Recall) -> http.client.HTTPResponse:
        """Send a letter, issued now: it may have waited. The first on a connection says what we remember."""
        now, lives = self.clock(), sent.letter.expires - sent.letter.issued
        sent.letter = msgspec.structs.replace(sent.letter, issued=now, expires=now + lives)
        if self.link is None:
            self.link, self.packer = self.address.connect(), Packer()
            self.memory = recall.content()
            sent.letter = msgspec.structs.replace(sent.letter, memory=name_of(self.memory) if self.memory else "")
        body = self.packer.pack(sent.letter) + self.packer.flush()
        headers = {KEY_HEADER: self.sender, SIGNATURE_HEADER: sign(self.key, body)}
        self.link.request("POST", PATH, body, headers)
        return self.link.getresponse()

    def _begin(self, letter: Letter, answer: http.client.HTTPResponse) -> bool:
        """Begin the stream of a connection; True if it refers to what we remember."""
        known = answer.headers.get(MEMORY_HEADER, "") == letter.memory != ""
        is_prose = answer.headers.get(CODING_HEADER, "") == prose.NAME in letter.codings
        self.unpacker = ProseUnpacker(MAX_MESSAGE) if is_prose else Unpacker(MAX_MESSAGE, self.memory if known else b"")
        return known

    def _read(self, sent: Sent, answer: http.client.HTTPResponse, recall: Recall | None) -> bool:
        """Hand over the messages of an answer; True if it came to its end, and then it is remembered if asked."""
        self.ended, self.spent = False, 0
        try:
            while data := answer.read1(READ):
                self.spent += len(data)
                self._hand_over(sent, self.unpacker.unpack(data), recall)
        except (OSError, http.client.HTTPException):
            self._hand_over(sent, self.unpacker.rest(), recall)
            raise
        self._hand_over(sent, self.unpacker.rest(), recall)
        return self.ended

    def _hand_over(self, sent: Sent, messages: Iterable[bytes], recall: Recall | None) -> None:
        """Hand over messages one by one, as there is room for them; the next page bears what the link carried."""
        for packed in messages:
            message = DECODER.decode(packed)
            if isinstance(message, End) and not self.ended:
                self.ended = True
                if recall is not None:  # before the end is told: with it the crawl may be over, and we with it
                    recall.keep(bytes(self.unpacker.heard))
            carried = self.spent if isinstance(message, Page) else 0
            self.spent -= carried
            self._put(sent, message, carried)

    def _hang_up(self) -> None:
        self.unpacker.close()
        if self.link is not None:
            self.link.close()
            self.link = None


def _refusal(answer: http.client.HTTPResponse) -> str:
    try:
        return str(json.loads(answer.read(10_000))["refused"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"HTTP status {answer.status}"

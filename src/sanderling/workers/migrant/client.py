"""The post between a crawler and a host: letters go out one after the other, answers come by a queue."""

import http.client
import json
import queue
import threading
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.clock import Clock, system_clock
from sanderling.models import FetchTask, Reason
from sanderling.workers.migrant import prose
from sanderling.workers.migrant.address import DEFAULT_TIMEOUT_SECONDS as DEFAULT_TIMEOUT_SECONDS
from sanderling.workers.migrant.address import MigrantAddress as MigrantAddress
from sanderling.workers.migrant.keys import get_public_key, load_key, sign_body
from sanderling.workers.migrant.messages import (
    DICTIONARY_HEADER,
    ENCODING_HEADER,
    KEY_HEADER,
    MESSAGE_DECODER,
    REQUEST_PATH,
    SIGNATURE_HEADER,
    EndMessage,
    MessageCompressor,
    MessageDecompressor,
    MigrantMessage,
    MigrantRequest,
    PageMessage,
)
from sanderling.workers.migrant.owner_rules import RefusalReason
from sanderling.workers.migrant.reader import ProseUnpacker
from sanderling.workers.migrant.shared_dictionary import SiteDictionary, compute_dictionary_id

MAX_QUEUED_MESSAGES = 256  # messages read ahead; then the connection waits
SLOT_BYTES = 2**18  # bytes of a page that count as one more message
TEMPORARY_REFUSALS = (
    RefusalReason.BUSY,
    RefusalReason.OUTSIDE_HOURS,
    RefusalReason.ISSUED_BEFORE_START,
)  # refusals that end by themselves
CLOCK_REFUSALS = (
    RefusalReason.EXPIRED,
    RefusalReason.ISSUED_IN_FUTURE,
)  # a letter is issued when it is sent: clocks differ
READ_BYTES = 64 * 1024
CLOSE_TIMEOUT_SECONDS = 3.0
MAX_MESSAGE_BYTES = 80 * 2**20


class RequestFailure(Struct, frozen=True):
    """A letter was not obeyed, or its answer broke off."""

    reason: Reason
    detail: str
    is_final: bool = False  # another try would end the same way


class SentRequest(Struct):
    """A letter on its way: what it asks for, and what is still open."""

    request: MigrantRequest
    open_tasks: dict[int, FetchTask]


ReceivedMessage = tuple[SentRequest, MigrantMessage | RequestFailure, int]


class MessageQueue(queue.Queue[ReceivedMessage]):
    """A queue with room for so many messages, or fewer if they are large."""

    def _init(self, maxsize: int) -> None:
        super()._init(maxsize)
        self.used_slots = 0

    def _qsize(self) -> int:
        return self.used_slots

    def _put(self, item: ReceivedMessage) -> None:
        super()._put(item)
        self.used_slots += _count_slots(item)

    def _get(self) -> ReceivedMessage:
        item: ReceivedMessage = super()._get()
        self.used_slots -= _count_slots(item)
        return item


def _count_slots(item: ReceivedMessage) -> int:
    message = item[1]
    return 1 + (len(message.body) // SLOT_BYTES if isinstance(message, PageMessage) else 0)


class MigrantClient:
    """Sends letters one after the other over one connection, in a thread of its own; answers come by a queue."""

    EMPTY = queue.Empty

    def __init__(self, address: MigrantAddress, clock: Clock = system_clock) -> None:
        self.address, self.clock = address, clock
        self.private_key = load_key(Path(address.key_file))
        self.public_key = get_public_key(self.private_key)
        self.outbox: queue.Queue[SentRequest | None] = queue.Queue()
        self.inbox = MessageQueue(MAX_QUEUED_MESSAGES)
        self.connection: http.client.HTTPConnection | None = None
        self.decompressor: MessageDecompressor | ProseUnpacker = MessageDecompressor(MAX_MESSAGE_BYTES)
        self.is_closed = False
        self.thread = threading.Thread(target=self._run, daemon=True, name="post")
        self.thread.start()

    def close(self) -> None:
        """Stop; what is on its way is lost, and was leased. An answer about to end may end: it is remembered."""
        self.is_closed = True
        self.outbox.put(None)
        self.thread.join(CLOSE_TIMEOUT_SECONDS)

    def _run(self) -> None:
        while not self.is_closed and (sent := self.outbox.get()) is not None:
            try:
                self._exchange_messages(sent)
            except (OSError, http.client.HTTPException) as error:
                self._enqueue(
                    sent, RequestFailure(Reason.CONNECT, f"{self.address.url}: {error or type(error).__name__}")
                )
                self._disconnect()
            except (ValueError, msgspec.DecodeError) as error:
                self._enqueue(sent, RequestFailure(Reason.BROKEN_RESPONSE, f"{self.address.url}: {error}"))
                self._disconnect()
        self._disconnect()

    def _enqueue(self, sent: SentRequest, message: MigrantMessage | RequestFailure, size: int = 0) -> None:
        while not self.is_closed:
            try:
                self.inbox.put((sent, message, size), timeout=1.0)
                break
            except queue.Full:
                continue

    def _exchange_messages(self, sent: SentRequest) -> None:
        recall = SiteDictionary(self.address.dictionary_folder, self.address.receiver, sent.request.site)
        first = self.connection is None
        answer = self._send_request(sent, recall)
        if answer.status != 200:
            why = _parse_refusal(answer)
            hint = " (do the clocks of both machines agree?)" if why in CLOCK_REFUSALS else ""
            self._enqueue(
                sent, RequestFailure(Reason.MIGRANT_REFUSED, f"refused: {why}{hint}", why not in TEMPORARY_REFUSALS)
            )
            self._disconnect()
            return
        known = not first or self._open_stream(sent.request, answer)
        if not first and isinstance(self.decompressor, ProseUnpacker):  # later answers are zstd and refer to this one
            self.decompressor = MessageDecompressor(MAX_MESSAGE_BYTES, bytes(self.decompressor.dictionary_bytes))
        ended = self._read_response(sent, answer, None if known else recall)
        if not ended:
            self._enqueue(sent, RequestFailure(Reason.BROKEN_RESPONSE, "the host's answer broke off"))
            self._disconnect()

    def _send_request(self, sent: SentRequest, site_dictionary: SiteDictionary) -> http.client.HTTPResponse:
        """Send a letter, issued now: it may have waited. The first on a connection says what we remember."""
        now, lives = self.clock(), sent.request.expires_at - sent.request.issued_at
        sent.request = msgspec.structs.replace(sent.request, issued_at=now, expires_at=now + lives)
        if self.connection is None:
            self.connection, self.compressor = self.address.connect(), MessageCompressor()
            self.dictionary = site_dictionary.load()
            sent.request = msgspec.structs.replace(
                sent.request, dictionary_id=compute_dictionary_id(self.dictionary) if self.dictionary else ""
            )
        body = self.compressor.compress(sent.request) + self.compressor.flush()
        headers = {KEY_HEADER: self.public_key, SIGNATURE_HEADER: sign_body(self.private_key, body)}
        self.connection.request("POST", REQUEST_PATH, body, headers)
        return self.connection.getresponse()

    def _open_stream(self, request: MigrantRequest, response: http.client.HTTPResponse) -> bool:
        """Begin the stream of a connection; True if it refers to what we remember."""
        known = response.headers.get(DICTIONARY_HEADER, "") == request.dictionary_id != ""
        is_prose = response.headers.get(ENCODING_HEADER, "") == prose.NAME in request.accepted_encodings
        self.decompressor = (
            ProseUnpacker(MAX_MESSAGE_BYTES)
            if is_prose
            else MessageDecompressor(MAX_MESSAGE_BYTES, self.dictionary if known else b"")
        )
        return known

    def _read_response(
        self, sent: SentRequest, response: http.client.HTTPResponse, site_dictionary: SiteDictionary | None
    ) -> bool:
        """Hand over the messages of an answer; True if it came to its end, and then it is remembered if asked."""
        self.is_response_complete, self.unattributed_bytes = False, 0
        try:
            while data := response.read1(READ_BYTES):
                self.unattributed_bytes += len(data)
                self._enqueue_messages(sent, self.decompressor.decompress(data), site_dictionary)
        except (OSError, http.client.HTTPException):
            self._enqueue_messages(sent, self.decompressor.finish(), site_dictionary)
            raise
        self._enqueue_messages(sent, self.decompressor.finish(), site_dictionary)
        return self.is_response_complete

    def _enqueue_messages(
        self, sent: SentRequest, encoded_messages: Iterable[bytes], site_dictionary: SiteDictionary | None
    ) -> None:
        """Hand over messages one by one, as there is room for them; the next page bears what the link carried."""
        for packed in encoded_messages:
            message = MESSAGE_DECODER.decode(packed)
            if isinstance(message, EndMessage) and not self.is_response_complete:
                self.is_response_complete = True
                if site_dictionary is not None:  # before the end is told: with it the crawl may be over, and we with it
                    site_dictionary.save(bytes(self.decompressor.dictionary_bytes))
            carried = self.unattributed_bytes if isinstance(message, PageMessage) else 0
            self.unattributed_bytes -= carried
            self._enqueue(sent, message, carried)

    def _disconnect(self) -> None:
        self.decompressor.close()
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def _parse_refusal(response: http.client.HTTPResponse) -> str:
    try:
        return str(json.loads(response.read(10_000))["refused"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"HTTP status {response.status}"

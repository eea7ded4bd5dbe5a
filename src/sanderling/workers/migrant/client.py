"""Connection from a crawler to a migrant: sends signed requests in a thread, queues the messages of the responses.

The queue is bounded, so a slow crawler slows the migrant down.
"""

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
from sanderling.workers.migrant.address import DEFAULT_TIMEOUT_SECONDS as DEFAULT_TIMEOUT_SECONDS
from sanderling.workers.migrant.address import MigrantAddress as MigrantAddress
from sanderling.workers.migrant.keys import get_public_key, load_key, sign_body
from sanderling.workers.migrant.messages import (
    DICTIONARY_HEADER,
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
from sanderling.workers.migrant.shared_dictionary import SiteDictionary, compute_dictionary_id

MAX_QUEUED_MESSAGES = 256
SLOT_BYTES = 2**18  # a page takes one more slot of the queue for each of these
TEMPORARY_REFUSALS = (
    RefusalReason.BUSY,
    RefusalReason.OUTSIDE_HOURS,
    RefusalReason.ISSUED_BEFORE_START,
)
CLOCK_REFUSALS = (
    RefusalReason.EXPIRED,
    RefusalReason.ISSUED_IN_FUTURE,
)  # requests are dated when they are sent, so the clocks of the two machines differ
READ_BYTES = 64 * 1024
CLOSE_TIMEOUT_SECONDS = 3.0
MAX_MESSAGE_BYTES = 80 * 2**20


class RequestFailure(Struct, frozen=True):
    """A request that was refused, or whose response ended early."""

    reason: Reason
    detail: str
    is_final: bool = False  # a retry would fail in the same way


class SentRequest(Struct):
    """`tasks`: without a result yet, by their index in the request."""

    request: MigrantRequest
    open_tasks: dict[int, FetchTask]


ReceivedMessage = tuple[SentRequest, MigrantMessage | RequestFailure, int]  # the last: bytes received for it


class MessageQueue(queue.Queue[ReceivedMessage]):
    """A queue in which large pages take several slots."""

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
    """Sends the requests put into `outbox` and puts the received messages into `inbox`."""

    EMPTY = queue.Empty

    def __init__(self, address: MigrantAddress, clock: Clock = system_clock) -> None:
        self.address, self.clock = address, clock
        self.private_key = load_key(Path(address.key_file))
        self.public_key = get_public_key(self.private_key)
        self.outbox: queue.Queue[SentRequest | None] = queue.Queue()
        self.inbox = MessageQueue(MAX_QUEUED_MESSAGES)
        self.connection: http.client.HTTPConnection | None = None
        self.decompressor = MessageDecompressor(MAX_MESSAGE_BYTES)
        self.is_closed = False
        self.thread = threading.Thread(target=self._run, daemon=True, name="migrant-client")
        self.thread.start()

    def close(self) -> None:
        """Stop the thread and discard unread messages.

        A response that is about to end may end, so that its dictionary is stored.
        """
        self.is_closed = True
        self.outbox.put(None)
        self.thread.join(CLOSE_TIMEOUT_SECONDS)

    def _run(self) -> None:
        while not self.is_closed and (sent := self.outbox.get()) is not None:
            try:
                self._exchange_messages(sent)
            except (OSError, http.client.HTTPException) as error:
                detail = f"{self.address.url}: {error or type(error).__name__}"
                self._enqueue(sent, RequestFailure(Reason.CONNECT, detail))
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
        site_dictionary = SiteDictionary(self.address.dictionary_folder, self.address.receiver, sent.request.site)
        is_first = self.connection is None
        response = self._send_request(sent, site_dictionary)
        if response.status != 200:
            self._enqueue(sent, _build_refusal(_parse_refusal(response)))
            self._disconnect()
            return
        has_dictionary = not is_first or self._open_stream(sent.request, response)
        if not self._read_response(sent, response, None if has_dictionary else site_dictionary):
            self._enqueue(sent, RequestFailure(Reason.BROKEN_RESPONSE, "the response of the migrant ended early"))
            self._disconnect()

    def _send_request(self, sent: SentRequest, site_dictionary: SiteDictionary) -> http.client.HTTPResponse:
        now, lifetime = self.clock(), sent.request.expires_at - sent.request.issued_at
        sent.request = msgspec.structs.replace(sent.request, issued_at=now, expires_at=now + lifetime)
        if self.connection is None:
            self.connection, self.compressor = self.address.connect(), MessageCompressor()
            self.dictionary = site_dictionary.load()
            dictionary_id = compute_dictionary_id(self.dictionary) if self.dictionary else ""
            sent.request = msgspec.structs.replace(sent.request, dictionary_id=dictionary_id)
        body = self.compressor.compress(sent.request) + self.compressor.flush()
        headers = {KEY_HEADER: self.public_key, SIGNATURE_HEADER: sign_body(self.private_key, body)}
        self.connection.request("POST", REQUEST_PATH, body, headers)
        return self.connection.getresponse()

    def _open_stream(self, request: MigrantRequest, response: http.client.HTTPResponse) -> bool:
        """Return True if the connection uses the shared dictionary."""
        has_dictionary = response.headers.get(DICTIONARY_HEADER, "") == request.dictionary_id != ""
        self.decompressor = MessageDecompressor(MAX_MESSAGE_BYTES, self.dictionary if has_dictionary else b"")
        return has_dictionary

    def _read_response(
        self, sent: SentRequest, response: http.client.HTTPResponse, site_dictionary: SiteDictionary | None
    ) -> bool:
        """Return True if the response is complete."""
        self.is_response_complete, self.unattributed_bytes = False, 0
        while data := response.read1(READ_BYTES):
            self.unattributed_bytes += len(data)
            self._enqueue_messages(sent, self.decompressor.decompress(data), site_dictionary)
        return self.is_response_complete

    def _enqueue_messages(
        self, sent: SentRequest, encoded_messages: Iterable[bytes], site_dictionary: SiteDictionary | None
    ) -> None:
        """Enqueue messages, with the bytes received since the last page."""
        for encoded in encoded_messages:
            message = MESSAGE_DECODER.decode(encoded)
            if isinstance(message, EndMessage) and not self.is_response_complete:
                self.is_response_complete = True
                if site_dictionary is not None:  # before the end is enqueued: the crawl may end with it
                    site_dictionary.save(bytes(self.decompressor.dictionary_bytes))
            received_bytes = self.unattributed_bytes if isinstance(message, PageMessage) else 0
            self.unattributed_bytes -= received_bytes
            self._enqueue(sent, message, received_bytes)

    def _disconnect(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def _build_refusal(reason: str) -> RequestFailure:
    hint = " (do the clocks of both machines agree?)" if reason in CLOCK_REFUSALS else ""
    return RequestFailure(Reason.MIGRANT_REFUSED, f"refused: {reason}{hint}", reason not in TEMPORARY_REFUSALS)


def _parse_refusal(response: http.client.HTTPResponse) -> str:
    try:
        return str(json.loads(response.read(10_000))["refused"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"HTTP status {response.status}"

"""HTTP(S) server of a migrant: authenticates and validates requests, walks the site, streams the results.

Site walk and compression run in two threads. Each direction of a connection is one compressed stream.
"""

import json
import queue
import re
import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec

from sanderling.clock import Clock, system_clock
from sanderling.errors import UsageError
from sanderling.workers.migrant.compression import CompressionPolicy
from sanderling.workers.migrant.keys import has_valid_signature, load_senders
from sanderling.workers.migrant.messages import (
    DICTIONARY_HEADER,
    KEY_HEADER,
    MEDIA_TYPE,
    REQUEST_PATH,
    SIGNATURE_HEADER,
    MessageCompressor,
    MessageDecompressor,
    MigrantMessage,
    MigrantRequest,
)
from sanderling.workers.migrant.owner_rules import (
    LastRequestTimes,
    OwnerRules,
    RefusalReason,
    ReplayGuard,
    SiteRules,
    check_request,
    find_site_rules,
)
from sanderling.workers.migrant.rate_limit import ConnectionLimit, SiteRateLimiter
from sanderling.workers.migrant.sender import MessageSender
from sanderling.workers.migrant.shared_dictionary import DictionaryStore
from sanderling.workers.migrant.site_reader import SiteReader, open_site_reader
from sanderling.workers.migrant.site_walk import SiteWalk

IDLE_TIMEOUT_SECONDS = 300.0  # for a crawler that has sent a valid request
UNAUTHENTICATED_TIMEOUT_SECONDS = 10.0  # for a connection without a valid request
CONNECTIONS_PER_REQUEST_SLOT = 8  # beyond these, unauthenticated connections are closed
MAX_QUEUED_MESSAGES = 256  # messages waiting for compression
CONTENT_LENGTH_PATTERN = re.compile(r"[0-9]{1,15}")
PORT_PATTERN, MAX_PORT = re.compile(r"[0-9]{1,5}"), 65535
STATUS_BY_REFUSAL = {
    RefusalReason.TOO_LARGE: 413,
    RefusalReason.UNREADABLE: 400,
    RefusalReason.TRUNCATED: 400,
    RefusalReason.BUSY: 503,
}


class RequestRefused(Exception):
    def __init__(self, reason: RefusalReason) -> None:
        super().__init__(reason)
        self.reason = reason


class MigrantServer(ThreadingHTTPServer):
    """Accepts connections of crawlers, within the rules of the site owner."""

    daemon_threads = True
    request_queue_size = 32

    def __init__(self, rules: OwnerRules, folder: Path, clock: Clock = system_clock) -> None:
        self.rules = rules
        self.senders_file = folder / rules.senders
        self.clock = clock
        self.last_request_times = LastRequestTimes(folder / "requests.json")
        self.replay_guard = ReplayGuard(clock(), self.last_request_times.issued_at_by_sender)
        self.dictionaries = DictionaryStore(folder / "memories")
        self.rate_limiters = {site.site: SiteRateLimiter(site, clock) for site in rules.site}
        self.check_lock = threading.Lock()
        self.request_slots = threading.BoundedSemaphore(rules.max_concurrent_requests)
        self.compression_policy = CompressionPolicy(self.rate_limiters)
        self.connection_limit = ConnectionLimit(CONNECTIONS_PER_REQUEST_SLOT * rules.max_concurrent_requests)
        host, _, port = rules.listen.rpartition(":")
        if not PORT_PATTERN.fullmatch(port) or int(port) > MAX_PORT:
            raise UsageError(f"listen = {rules.listen!r}: write an address and a port, such as 0.0.0.0:8443")
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        context = build_tls_context(rules, folder)
        try:
            super().__init__((host.strip("[]"), int(port)), MigrantRequestHandler)
        except OSError as error:
            raise UsageError(f"cannot listen on {rules.listen}: {error.strerror}") from None
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Accept a connection unless all places are taken by authenticated crawlers."""
        return self.connection_limit.add(request, str(client_address[0]))

    def shutdown_request(self, request: Any) -> None:
        """Close a connection and free its place."""
        self.connection_limit.remove(request)
        super().shutdown_request(request)

    def handle_error(self, *_: Any) -> None:
        """Print an error, except for a connection closed by the crawler."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            print(f"sanderling migrant: {error!r}", file=sys.stderr, flush=True)

    def authenticate_request(
        self, body: bytes, public_key: str, signature: str, decompressor: MessageDecompressor
    ) -> MigrantRequest:
        """Check sender, signature, format and owner rules, in this order. Raises RequestRefused."""
        if public_key not in load_senders(self.senders_file):
            raise RequestRefused(RefusalReason.UNKNOWN_SENDER)
        if not has_valid_signature(public_key, signature, body):
            raise RequestRefused(RefusalReason.BAD_SIGNATURE)
        try:
            (message,) = decompressor.decompress(body)
            request = msgspec.msgpack.decode(message, type=MigrantRequest)
        except (ValueError, msgspec.DecodeError):
            raise RequestRefused(RefusalReason.UNREADABLE) from None
        with self.check_lock:
            refusal = check_request(request, public_key, self.rules, self.replay_guard, self.clock())
            if refusal is None:
                self.last_request_times.record(request)
        if refusal is not None:
            raise RequestRefused(refusal)
        return request


def build_tls_context(rules: OwnerRules, folder: Path) -> ssl.SSLContext | None:
    """Build the TLS context of the server.

    None: it serves plain HTTP.
    """
    if not rules.certificate:
        if rules.private_key:
            raise UsageError("private_key is set without a certificate; set certificate, too")
        return None
    certificate, key = folder / rules.certificate, folder / (rules.private_key or rules.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        for file in (certificate, key):
            file.read_bytes()
        context.load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        raise UsageError(f"{certificate} and {key} are no valid certificate and key: {error.reason}") from None
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}") from None
    return context


class MigrantRequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = UNAUTHENTICATED_TIMEOUT_SECONDS
    disable_nagle_algorithm = True  # a response has several writes, none of which should wait for an ACK
    server: MigrantServer

    def setup(self) -> None:
        """Create the state of the connection."""
        super().setup()
        self.compressor: MessageCompressor | None = None
        self.should_store_dictionary = False  # the first response becomes the shared dictionary
        self.decompressor = MessageDecompressor(self.server.rules.max_request_bytes)
        # One per connection, so that robots.txt is read once for all of its requests.
        self.site_readers: dict[tuple[str, str, bool], SiteReader] = {}

    def finish(self) -> None:
        """Close the connection and its site readers."""
        super().finish()
        for reader in self.site_readers.values():
            reader.close()

    def do_GET(self) -> None:
        """Return the name of the migrant and its sites."""
        self._send_json(200, {"name": self.server.rules.name, "sites": [site.site for site in self.server.rules.site]})

    def do_POST(self) -> None:
        """Answer a request, or refuse it with a reason."""
        try:
            request = self._read_request()
        except RequestRefused as refused:
            return self._refuse(refused.reason)
        self.server.connection_limit.mark_authenticated(self.request)
        self.connection.settimeout(IDLE_TIMEOUT_SECONDS)
        if not self.server.request_slots.acquire(blocking=False):  # unauthenticated clients take none
            return self._refuse(RefusalReason.BUSY)
        try:
            self.log_message("accepted request from %s for %s", request.sender[:12], request.site)
            return self._answer_request(request)
        finally:
            self.server.request_slots.release()

    def _read_request(self) -> MigrantRequest:
        length = self.headers.get("Content-Length", "")
        if self.path != REQUEST_PATH or not CONTENT_LENGTH_PATTERN.fullmatch(length):
            raise RequestRefused(RefusalReason.UNREADABLE)
        if int(length) > self.server.rules.max_request_bytes:
            raise RequestRefused(RefusalReason.TOO_LARGE)
        try:
            body = self.rfile.read(int(length))
        except OSError:
            body = b""
        if len(body) < int(length):
            raise RequestRefused(RefusalReason.TRUNCATED)
        signer, signature = self.headers.get(KEY_HEADER, ""), self.headers.get(SIGNATURE_HEADER, "")
        return self.server.authenticate_request(body, signer, signature, self.decompressor)

    def _answer_request(self, request: MigrantRequest) -> None:
        site = find_site_rules(request, self.server.rules)
        assert site is not None, "the request was checked"
        self.send_response(200)
        self.send_header("Content-Type", MEDIA_TYPE)
        self.send_header("Transfer-Encoding", "chunked")
        compressor = self._open_compressor(request, site)
        self.end_headers()
        key = (site.site, request.user_agent, request.template_filter is not None)
        if key not in self.site_readers:
            self.site_readers[key] = open_site_reader(site, *key[1:])
        self._stream_messages(
            SiteWalk(request, self.server.rate_limiters[site.site], self.site_readers[key]), compressor
        )
        if self.should_store_dictionary:
            self.server.dictionaries.put(bytes(compressor.dictionary_bytes))
            self.should_store_dictionary = False
        self.wfile.write(b"0\r\n\r\n")

    def _open_compressor(self, request: MigrantRequest, site: SiteRules) -> MessageCompressor:
        if self.compressor is None:
            dictionary = self.server.dictionaries.get(request.dictionary_id)
            self.should_store_dictionary = not dictionary
            if dictionary:
                self.send_header(DICTIONARY_HEADER, request.dictionary_id)
            is_first_crawl = request.is_whole_site and not dictionary and not request.watch_seconds
            self.compressor = MessageCompressor(
                dictionary, is_first_crawl and self.server.compression_policy.should_minimize_size(site, request)
            )
        return self.compressor

    def _stream_messages(self, walk: SiteWalk, compressor: MessageCompressor) -> None:
        """Walk the site while another thread compresses and sends."""
        messages: queue.Queue[MigrantMessage | None] = queue.Queue(MAX_QUEUED_MESSAGES)
        sender = MessageSender(messages, compressor, self._write_chunk)
        sender.start()
        try:
            for message in walk.generate_messages():
                messages.put(message)
                if sender.error is not None:
                    break
        finally:
            messages.put(None)
            sender.join()
        if sender.error is not None:
            raise sender.error

    def _write_chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _refuse(self, reason: RefusalReason) -> None:
        self.close_connection = True
        self.log_message("refused request: %s", reason.value)
        self._send_json(STATUS_BY_REFUSAL.get(reason, 403), {"refused": reason.value})

    def _send_json(self, status: int, content: dict[str, object]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """Return a short Server header: it is sent with every response."""
        return "sanderling"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing: requests are logged when they are accepted or refused."""

    def log_message(self, format: str, *args: Any) -> None:
        """Print a line to standard error."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.server.clock()))
        print(f"{now} {self.client_address[0]} {format % args}", file=sys.stderr, flush=True)

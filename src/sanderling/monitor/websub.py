"""WebSub (W3C, 2018): subscribe to hubs, and learn from them which pages changed.

A notification is only an announcement: the pages are fetched from their server. Subscriptions are not stored: a new run
subscribes again, and an address of an earlier run answers 410, which ends the delivery.
"""

import hashlib
import hmac
import logging
import secrets
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from msgspec import Struct

from sanderling.clock import Clock
from sanderling.discovery.sitemap_parser import parse_sitemap
from sanderling.errors import UsageError
from sanderling.fetch.curl_client import CurlClient
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.transport import FetchRequest
from sanderling.http.head import parse_head
from sanderling.monitor.websub_hubs import HubTopic
from sanderling.urls.normalize import get_host, normalize_url

_log = logging.getLogger(__name__)
LEASE_SECONDS = 7 * 86_400  # that is asked for
MIN_LEASE = 300.0
MAX_LEASE = 30 * 86_400.0
RENEW_SHARE = 0.8  # of a lease, after which it is renewed
RETRY_SECONDS = 3600.0  # after a hub refused, or did not verify
MAX_FAILURES = 3  # in a row, after which a hub is left
MAX_SUBSCRIPTIONS = 1_000
MAX_NOTIFICATION = 1_000_000  # bytes
MAX_ENTRIES = 200  # of a notification
MAX_ANNOUNCED = 10_000  # pages that wait for the next check
MAX_ANSWER = 100_000  # bytes of a hub
MAX_CONNECTIONS = 16
IDLE_SECONDS = 10.0  # of a connection
DIGESTS = {name: getattr(hashlib, name) for name in ("sha1", "sha256", "sha384", "sha512")}


class HubAddress(Struct, frozen=True):
    """The address at which WebSub hubs reach the service, and where it listens."""

    url: str
    host: str = "127.0.0.1"
    port: int = 8440


class Subscription(Struct):
    """A topic at a hub. The token makes its address; the secret signs its notifications."""

    topic: str
    hub: str
    token: str
    secret: str
    next_request_at: float = 0.0
    is_verified: bool = False
    failures: int = 0


def verify_signature(secret: str, header: str, body: bytes) -> bool:
    """Check the `X-Hub-Signature` of a notification."""
    name, _, signature = header.strip().partition("=")
    if (digest := DIGESTS.get(name.strip().lower())) is None:
        return False
    expected = hmac.new(secret.encode(), body, digest).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.strip().lower().encode("ascii", "replace"))


class Subscriber:
    """Keeps subscriptions, and serves the address at which hubs verify them and announce changes."""

    def __init__(self, address: HubAddress, settings: FetchSettings, clock: Clock) -> None:
        self.callback = address.url.rstrip("/")
        self.settings = settings
        self.clock = clock
        self.lock = threading.Lock()
        self.subscriptions: dict[str, Subscription] = {}  # by token
        self.announced: dict[str, None] = {}
        self.connections = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self.stopping = threading.Event()
        try:
            self.server = _CallbackServer((address.host, address.port), _build_handler(self))
        except OSError as error:
            raise UsageError(f"cannot listen on {address.host}:{address.port}: {error.strerror}") from None
        self.threads = [threading.Thread(target=self.server.serve_forever, name="websub server", daemon=True),
                        threading.Thread(target=self._send_requests, name="websub", daemon=True)]  # fmt: skip

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.stopping.set()
        self.server.shutdown()
        for thread in self.threads:
            thread.join()
        self.server.server_close()

    def add_topic(self, topic: HubTopic) -> None:
        """Subscribe to a topic at its hubs, unless it is known."""
        with self.lock:
            known = {(found.topic, found.hub) for found in self.subscriptions.values()}
            for hub in topic.hubs:
                if (topic.url, hub) not in known and len(self.subscriptions) < MAX_SUBSCRIPTIONS:
                    token = secrets.token_urlsafe(24)
                    self.subscriptions[token] = Subscription(topic.url, hub, token, secrets.token_urlsafe(32))

    def take_announced(self) -> list[str]:
        """Return the URLs that were announced since the last call."""
        with self.lock:
            announced, self.announced = list(self.announced), {}
        return announced

    def verify_intent(self, token: str, query: dict[str, list[str]]) -> str | None:
        """Return the challenge to answer with. None: this subscription was not asked for."""
        mode, topic = (query.get(f"hub.{name}", [""])[0] for name in ("mode", "topic"))
        with self.lock:
            found = self.subscriptions.get(token)
            if found is None or topic != found.topic:
                return None
            if mode == "denied":
                _log.warning("the hub %s denied the subscription to %s", found.hub, topic)
                found.failures, found.is_verified = MAX_FAILURES, False
                return ""
            if mode != "subscribe" or found.failures >= MAX_FAILURES:
                return None
            try:
                lease = min(MAX_LEASE, max(MIN_LEASE, float(query.get("hub.lease_seconds", [""])[0])))
            except ValueError:
                lease = float(LEASE_SECONDS)
            found.is_verified, found.failures = True, 0
            found.next_request_at = self.clock() + RENEW_SHARE * lease
        return query.get("hub.challenge", [""])[0]

    def receive(self, token: str, signature: str, body: bytes) -> bool:
        """Queue the pages of a notification if its signature is right. False: there is no such subscription."""
        with self.lock:
            found = self.subscriptions.get(token)
        if found is None:
            return False
        if not found.is_verified or not verify_signature(found.secret, signature, body):
            _log.warning("ignored a notification about %s: its signature is wrong", found.topic)
            return True
        report = parse_sitemap([body])
        urls = [found.topic, *(entry.loc for entry in report.entries[:MAX_ENTRIES])]
        host = get_host(found.topic)
        keys = [url.url for text in urls if (url := normalize_url(text)) is not None and get_host(url.url) == host]
        with self.lock:
            if len(self.announced) < MAX_ANNOUNCED:
                self.announced.update(dict.fromkeys(keys))
        return True

    def _send_requests(self) -> None:
        """Send the requests to hubs that are due, until stopped."""
        client = CurlClient(self.settings)
        while not self.stopping.wait(0.2):
            now = self.clock()
            with self.lock:
                due = [found for found in self.subscriptions.values()
                       if found.next_request_at <= now and found.failures < MAX_FAILURES]  # fmt: skip
                for found in due:
                    found.next_request_at = now + RETRY_SECONDS
            for found in due:
                if self.stopping.is_set():
                    break
                self._subscribe(client, found)
        client.close()

    def _subscribe(self, client: CurlClient, found: Subscription) -> None:
        fields = {"hub.mode": "subscribe", "hub.topic": found.topic, "hub.callback": f"{self.callback}/{found.token}",
                  "hub.secret": found.secret, "hub.lease_seconds": str(LEASE_SECONDS)}  # fmt: skip
        request = FetchRequest(
            found.hub, parse_endpoint(get_host(found.hub)), None, (), MAX_ANSWER, self.settings.timeout,
            truncates_body=True, method="POST", headers=(b"Content-Type: application/x-www-form-urlencoded",),
            request_body=urlencode(fields).encode(),
        )  # fmt: skip
        client.start(request)
        while not (responses := client.wait(0.5)) and not self.stopping.is_set():
            pass
        status = parse_head(responses[0].head_lines)[0] if responses and not responses[0].curl_error else 0
        if not 200 <= status < 300 and responses:
            with self.lock:
                found.failures += 1
            _log.warning("the hub %s did not accept the subscription to %s (%s)", found.hub, found.topic,
                         status or responses[0].detail)  # fmt: skip


class _CallbackServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 16

    def handle_error(self, *_: object) -> None:
        """Ignore connections that break."""


def _build_handler(subscriber: Subscriber) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = IDLE_SECONDS
        server_version, sys_version = "sanderling", ""

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = parse_qs(parts.query, keep_blank_values=True, max_num_fields=20)
            challenge = subscriber.verify_intent(parts.path.rpartition("/")[2], query)
            self._answer(404 if challenge is None else 200, challenge or "")

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > MAX_NOTIFICATION:
                return self._answer(413)
            body = self.rfile.read(int(length))
            token = urlsplit(self.path).path.rpartition("/")[2]
            is_known = subscriber.receive(token, self.headers.get("X-Hub-Signature", ""), body)
            return self._answer(202 if is_known else 410)

        def handle(self) -> None:
            if subscriber.connections.acquire(blocking=False):
                with suppress(OSError, ValueError):
                    super().handle()
                subscriber.connections.release()

        def _answer(self, status: int, text: str = "") -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("X-Content-Type-Options", "nosniff")  # the challenge is text of the hub
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Write no log: addresses contain tokens."""

    return Handler

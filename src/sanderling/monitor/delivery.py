"""Deliver messages: to webhooks as signed JSON, and to chat and mail through apprise.

Webhooks follow the Standard Webhooks specification: `webhook-id`, `webhook-timestamp`, and `webhook-signature`, the
HMAC-SHA256 of id, timestamp and body. The id is also sent as `Idempotency-Key`.
"""

import base64
import hashlib
import hmac
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from http.client import HTTPException
from typing import Any
from urllib.error import URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from msgspec import json

from sanderling.changes.alerts import open_sender
from sanderling.config.redact import redact_password
from sanderling.config.secret_values import read_secret
from sanderling.errors import SanderlingError, UsageError
from sanderling.monitor.outbox import Outbox, OutgoingMessage
from sanderling.urls.normalize import normalize_url

TIMEOUT_SECONDS = 20.0
MAX_CONCURRENT = 8  # targets
REPEATED_REMARK = "(You may have received this message before: the service was stopped while sending it.)"
WEBHOOK_SCHEMES = ("http://", "https://")


class _NoRedirects(HTTPRedirectHandler):
    """Refuses redirects: a signed message must not reach another host."""

    def redirect_request(self, *_args: object, **_kwargs: object) -> None:
        return None


_opener = build_opener(_NoRedirects)


def validate_target(target: str) -> str:
    """Return a notification target. Raises UsageError if it cannot work."""
    address = read_secret(target, "the notification target")
    if not address.startswith(WEBHOOK_SCHEMES):
        open_sender([address])
    elif normalize_url(address) is None:
        raise UsageError(f"{redact_password(address)!r} is not a webhook URL; write https://HOST/PATH")
    return target


def sign_message(key: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a webhook (Standard Webhooks, version 1)."""
    secret = base64.b64decode(key.removeprefix("whsec_"))
    digest = hmac.new(secret, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def send_message(message: OutgoingMessage, key: str, now: float) -> str:
    """Send a message. Returns an error, or an empty string."""
    try:
        target = read_secret(message.target, "the notification target")
    except UsageError as error:
        return str(error)
    if target.startswith(WEBHOOK_SCHEMES):
        return post_webhook(target, message.key, message.body, key, int(now))
    payload = json.decode(message.body)
    if message.is_repeated:  # mail and chat services know no ids
        payload["message"] += f"\n\n{REPEATED_REMARK}"
    try:
        sender = open_sender([target])
        sent = sender.notify(body=payload["message"], title=payload["subject"])
    except (SanderlingError, OSError, ValueError) as error:
        return str(error)
    return "" if sent else "the service did not accept the message"


def post_webhook(target: str, message_id: str, body: bytes, key: str, timestamp: int) -> str:
    """Post a signed message to a webhook. Returns an error, or an empty string."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "sanderling",
        "Idempotency-Key": message_id,
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign_message(key, message_id, timestamp, body),
    }
    request = Request(target, body, headers)  # noqa: S310 only http and https
    try:
        with _opener.open(request, timeout=TIMEOUT_SECONDS) as response:
            response.read(1_000)
    except (URLError, HTTPException, OSError, ValueError) as error:
        return f"{type(error).__name__}: {redact_password(str(error))}"
    return ""


class Deliverer:
    """Sends the messages of an outbox; a slow target delays no other."""

    def __init__(self, outbox: Outbox, clock: Callable[[], float] = time.time) -> None:
        self.outbox = outbox
        self.clock = clock
        self.key = outbox.store.get_webhook_key()
        self.pool = ThreadPoolExecutor(MAX_CONCURRENT, thread_name_prefix="delivery")
        self.in_flight: dict[str, tuple[OutgoingMessage, Future[str]]] = {}

    def step(self) -> int:
        """Record finished deliveries and start the next. Returns the number of messages sent."""
        sent = 0
        for target, (message, future) in list(self.in_flight.items()):
            if not future.done():
                continue
            del self.in_flight[target]
            error = _get_error(future)
            if error:
                self.outbox.record_failure(message, error, self.clock())
            else:
                self.outbox.record_sent(message, self.clock())
                sent += 1
        for message in self.outbox.load_sendable(self.clock()):
            if message.target in self.in_flight or len(self.in_flight) >= MAX_CONCURRENT:
                continue
            claimed = self.outbox.claim(message, self.clock())
            if claimed is not None:
                task = self.pool.submit(send_message, claimed, self.key, self.clock())
                self.in_flight[message.target] = (claimed, task)
        return sent

    def run_for(self, seconds: float) -> int:
        """Send messages until there are none, or for so long: many changes may come at once. Returns their number."""
        sent, deadline = self.step(), time.monotonic() + seconds
        while self.in_flight and (remaining := deadline - time.monotonic()) > 0:
            wait([task for _, task in self.in_flight.values()], remaining, FIRST_COMPLETED)
            sent += self.step()
        return sent

    def close(self) -> None:
        """Wait for deliveries under way, and record them."""
        self.pool.shutdown(wait=True, cancel_futures=True)
        for message, future in self.in_flight.values():
            if future.cancelled():
                self.outbox.release(message)
                continue
            error = _get_error(future)
            if error:
                self.outbox.record_failure(message, error, self.clock())
            else:
                self.outbox.record_sent(message, self.clock())
        self.in_flight.clear()


def _get_error(future: "Future[Any]") -> str:
    """Return the error of a delivery. A notification plug-in may raise anything."""
    error = future.exception()
    return f"{type(error).__name__}: {error}" if error is not None else str(future.result())

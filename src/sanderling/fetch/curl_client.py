"""Transport over libcurl: many requests at once, driven by socket readiness."""

import os
import re
import select
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pycurl

from sanderling.errors import UsageError
from sanderling.fetch.curl_transfer import (
    MIN_BYTES_PER_SECOND,
    READ_BUFFER_BYTES,
    CurlTransfer,
    SharedTransferState,
    get_http_version,
)
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.transport import FetchRequest, FetchResponse, HostEndpoint
from sanderling.http.cookie_jar import load_jar, update_jar

CA_BUNDLE_PATHS = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, Red Hat
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",  # Alpine, macOS, BSD
)


def find_ca_file(configured: str = "", paths: tuple[str, ...] = CA_BUNDLE_PATHS) -> str:
    """Return the CA bundle: configured, SSL_CERT_FILE, the system's, or that of certifi."""
    if configured:
        if not Path(configured).is_file():
            raise UsageError(f"CA file not found: {configured}")
        return configured
    for path in (os.environ.get("SSL_CERT_FILE", ""), *paths):
        if path and Path(path).is_file():
            return path
    import certifi

    return certifi.where()


ACCEPT_HEADER = "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
ACCEPT_ENCODING_HEADER = "Accept-Encoding: gzip, deflate, br, zstd"
POLL_EVENTS = {
    pycurl.POLL_IN: select.POLLIN,
    pycurl.POLL_OUT: select.POLLOUT,
    pycurl.POLL_INOUT: select.POLLIN | select.POLLOUT,
}
RECORDED_HEADERS = re.compile(
    rb"accept(-\w+)?|cache-control|dnt|forwarded|from|host|origin|pragma|prefer|priority|referer|save-data"
    rb"|sec-(?:ch|fetch|gpc)[\w-]*|te|upgrade-insecure-requests|user-agent|via"
)  # headers stored in the archive; any other header may contain a secret
SELECT_FLAGS = {
    select.POLLIN: pycurl.CSELECT_IN,
    select.POLLOUT: pycurl.CSELECT_OUT,
}  # for anything else, such as an error or a hang-up, both flags are set
SELECT_BOTH = pycurl.CSELECT_IN | pycurl.CSELECT_OUT
# epoll takes seconds, poll milliseconds.
POLLER, TIMEOUT_UNIT = (select.epoll, 1) if hasattr(select, "epoll") else (select.poll, 1000)
SWEEP_SECONDS = 1.0  # curl measures the speed of a silent connection only when called


def build_request_headers(settings: FetchSettings) -> list[bytes]:
    """Return the request headers in order; user headers replace defaults."""
    defaults = [f"User-Agent: {settings.user_agent}", ACCEPT_HEADER, ACCEPT_ENCODING_HEADER]
    overridden = {header.partition(":")[0].lower() for header in settings.headers}
    used = [header for header in defaults if header.partition(":")[0].lower() not in overridden]
    return [header.encode("utf-8") for header in (*used, *settings.headers)]


def serialize_recorded_headers(headers: list[bytes]) -> tuple[bool, bytes]:
    """Return whether a Host header is set, and the headers to store in the archive.

    Unknown headers may contain keys and are left out.
    """
    named = [(header.partition(b":")[0].lower(), header) for header in headers]
    recorded = [
        (name, header)
        for name, header in named
        if RECORDED_HEADERS.fullmatch(name) and header.partition(b":")[2].strip()
    ]
    lines = [header + b"\r\n" for _, header in sorted(recorded, key=lambda pair: pair[0] != b"host")]
    return any(name == b"host" for name, _ in named), b"".join(lines)


def build_curl_options(settings: FetchSettings, headers: list[bytes]) -> list[tuple[int, Any]]:
    """Return the options that are set once on every curl handle."""
    options = [
        (pycurl.NOSIGNAL, 1),
        (pycurl.FOLLOWLOCATION, 0),  # the coordinator decides about redirects
        (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
        (pycurl.PATH_AS_IS, 1),
        (pycurl.HTTPHEADER, headers),
        (pycurl.USERAGENT, settings.user_agent.encode()),  # for CONNECT requests to proxies
        (pycurl.HTTP_CONTENT_DECODING, 0),  # the archive stores raw bytes; http/decoding.py decodes with a limit
        (pycurl.HTTP_VERSION, get_http_version(settings)),
        (pycurl.CONNECTTIMEOUT_MS, int(settings.connect_timeout * 1000)),
        (pycurl.LOW_SPEED_LIMIT, MIN_BYTES_PER_SECOND),
        (pycurl.LOW_SPEED_TIME, max(1, round(settings.idle_timeout))),
        (pycurl.BUFFERSIZE, READ_BUFFER_BYTES),
        (pycurl.TCP_NODELAY, 1),
        (pycurl.PROXY, settings.proxy),  # empty also disables the proxies of the environment
        (pycurl.NOPROXY, ""),  # else NO_PROXY could bypass the proxy and the address guard
    ]
    ca_file = find_ca_file(settings.ca_file)
    options += [(pycurl.CAINFO, ca_file), (pycurl.PROXY_CAINFO, ca_file)]
    if settings.cookies:
        options.append((pycurl.COOKIEFILE, ""))
    return options


class CurlClient:
    """Implements `Transport` with a curl multi handle; connections are reused."""

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        self._headers = build_request_headers(settings)
        self._shared = SharedTransferState(settings.max_buffered)
        self._options = build_curl_options(settings, self._headers)
        self._cookie_share: Any = None
        if settings.cookies:
            self._cookie_share = pycurl.CurlShare()
            self._cookie_share.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_COOKIE)
            self._options.append((pycurl.SHARE, self._cookie_share))
            self._loader = self._load_cookies()
        self._idle_transfers: list[CurlTransfer] = []
        self._active_transfers: dict[Any, CurlTransfer] = {}
        self._poller: Any = POLLER()
        self._sockets: set[int] = set()
        self._timer_at: float | None = None  # next call that curl requested
        self._next_sweep = 0.0  # next call for every socket
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, 2 * settings.max_in_flight)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)

    def _load_cookies(self) -> Any:
        """Load the cookie jar into the cookies that all handles share. Returns the handle that reads them again."""
        loader = pycurl.Curl()
        loader.setopt(pycurl.SHARE, self._cookie_share)
        loader.setopt(pycurl.COOKIEFILE, "")
        self._loaded_cookies = load_jar(Path(self._settings.cookie_jar)) if self._settings.cookie_jar else []
        for line in self._loaded_cookies:
            loader.setopt(pycurl.COOKIELIST, line.encode())
        return loader

    def _save_cookies(self) -> None:
        if self._settings.cookie_jar:
            lines = [str(line) for line in self._loader.getinfo(pycurl.INFO_COOKIELIST)]
            with suppress(OSError):  # the folder may be of another machine
                update_jar(Path(self._settings.cookie_jar), lines, self._loaded_cookies)
        self._loader.close()

    def has_capacity(self, pending_responses: int = 0) -> bool:
        return (
            len(self._active_transfers) + pending_responses < self._settings.max_in_flight
            and self._shared.buffered_bytes < self._shared.max_bytes
        )

    @property
    def is_busy(self) -> bool:
        """Return True while a request is in flight."""
        return bool(self._active_transfers)

    def start(self, request: FetchRequest) -> None:
        transfer = (
            self._idle_transfers.pop()
            if self._idle_transfers
            else CurlTransfer(self._settings, self._shared, self._options)
        )
        transfer.prepare(request, self._headers)
        self._active_transfers[transfer.curl] = transfer
        self._multi.add_handle(transfer.curl)

    def wait(self, timeout: float) -> list[FetchResponse]:
        """Let curl work until responses are complete or the timeout passes."""
        for fd, events in self._poller.poll(self._compute_poll_timeout(timeout) * TIMEOUT_UNIT):
            if fd in self._sockets:
                self._multi.socket_action(fd, SELECT_FLAGS.get(events, SELECT_BOTH))
        now = time.monotonic()
        if self._timer_at is not None and self._timer_at <= now:
            self._timer_at = None
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        if self._next_sweep <= now:
            self._next_sweep = now + SWEEP_SECONDS
            for fd in tuple(self._sockets):
                self._multi.socket_action(fd, 0)
        return self._collect_responses()

    def _compute_poll_timeout(self, max_timeout: float) -> float:
        if not self._active_transfers:
            return max_timeout
        wake = self._next_sweep if self._timer_at is None else min(self._next_sweep, self._timer_at)
        return max(0.0, min(max_timeout, wake - time.monotonic()))

    def _collect_responses(self) -> list[FetchResponse]:
        responses = []
        remaining = 1
        while remaining:
            remaining, done, failed = self._multi.info_read()
            responses += [self._finish_transfer(curl, pycurl.E_OK, "") for curl in done]
            responses += [self._finish_transfer(curl, error, detail) for curl, error, detail in failed]
        return responses

    def _finish_transfer(self, curl: Any, error: int, detail: str) -> FetchResponse:
        self._multi.remove_handle(curl)
        transfer = self._active_transfers.pop(curl)
        self._idle_transfers.append(transfer)
        return transfer.finish(error, detail)

    def watch_descriptor(self, fd: int) -> None:
        """Let `wait` return when a descriptor that is not curl's becomes readable."""
        self._poller.register(fd, select.POLLIN)

    def unwatch_descriptor(self, fd: int) -> None:
        self._poller.unregister(fd)

    def drop_addresses(self, endpoint: HostEndpoint) -> None:
        """Remove a host from curl's DNS cache with the next request."""
        if endpoint.addresses:
            self._shared.stale_endpoints.add(endpoint.host_port)

    def cancel(self) -> list[FetchRequest]:
        """Abort all requests in flight and return them."""
        requests = [transfer.request for transfer in self._active_transfers.values()]
        for curl in list(self._active_transfers):
            self._finish_transfer(curl, pycurl.E_OK, "")
        return requests

    def close(self) -> None:
        """Close every connection."""
        self.cancel()
        for transfer in self._idle_transfers:
            transfer.close()
        self._idle_transfers.clear()
        self._multi.close()
        if self._cookie_share is not None:
            self._save_cookies()
            self._cookie_share.close()

    def _watch_socket(self, event: int, fd: int, _multi: Any, _data: Any) -> None:
        if event == pycurl.POLL_REMOVE:
            if fd in self._sockets:
                self._sockets.remove(fd)
                self._poller.unregister(fd)
        elif fd in self._sockets:
            self._poller.modify(fd, POLL_EVENTS[event])
        else:
            self._sockets.add(fd)
            self._poller.register(fd, POLL_EVENTS[event])

    def _set_timer(self, milliseconds: int) -> None:
        self._timer_at = None if milliseconds < 0 else time.monotonic() + milliseconds / 1000

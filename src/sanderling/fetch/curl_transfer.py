"""One request on its way: a curl handle that is used again and again, its buffers, its limits and its guard."""

import socket
from typing import Any

import pycurl
from msgspec import Struct

from sanderling.config.redact import redact_address_password
from sanderling.fetch.address_guard import is_global
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.http.head import get_media_type, parse_head
from sanderling.models import Host, Reason

MIN_BYTES_PER_SECOND = 256  # per second; a server that sends less for the whole idle time-out is dripping
READ_BUFFER_BYTES = 128 * 1024  # taken from a socket at once
SMALL_BODY_BYTES = 1024 * 1024  # a body up to here is never given up for others' sake
ABORT_TRANSFER = 0  # what a callback returns to end its transfer


class HostEndpoint(Struct, frozen=True):
    """Where a request goes: one host, and the addresses we know it by."""

    host: Host
    hostname: str
    port: int
    addresses: tuple[str, ...] = ()  # empty: curl resolves, and the guard looks at what it found

    @property
    def setting_names(self) -> frozenset[str]:
        """What a person may call it in a setting: with its port or without."""
        return frozenset((self.hostname, f"{self.hostname}:{self.port}"))

    @property
    def host_port(self) -> str:
        """The name curl remembers the addresses by."""
        return f"{self.hostname}:{self.port}"

    @property
    def resolve_entry(self) -> str:
        """The line that tells curl the addresses, so that no name is resolved twice."""
        return f"{self.host_port}:" + ",".join(f"[{a}]" if ":" in a else a for a in self.addresses)


class FetchRequest(Struct, frozen=True):
    """One request to make."""

    url: str
    endpoint: HostEndpoint
    user_data: Any  # why it is made; whoever asks knows
    conditional_headers: tuple[bytes, ...] = ()  # If-None-Match, If-Modified-Since
    max_body: int = 0
    timeout: float = 60.0
    truncates_body: bool = False  # a body that is too long is cut, not refused
    uses_fresh_connection: bool = (
        False  # on a connection of its own: others that shared one may have been why it failed before
    )


class FetchResponse(Struct, frozen=True):
    """What came back, as it came: the head in lines, the body with its content coding."""

    request: FetchRequest
    head_lines: list[bytes]
    body: bytes
    duration_seconds: float
    address: str = ""
    received_bytes: int = 0
    curl_error: int = pycurl.E_OK
    detail: str = ""
    abort_reason: Reason = Reason.NONE  # we ended it ourselves, for this reason
    is_buffer_full: bool = False  # we ended it because too much was in flight
    is_truncated: bool = False


class SharedTransferState:
    """What all transfers of a fetcher share."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes  # that bodies on their way may take together
        self.buffered_bytes = 0
        self.stale_endpoints: set[str] = set()  # places whose addresses curl may forget


class CurlTransfer:
    """A pooled curl handle with what it has received so far."""

    def __init__(self, settings: FetchSettings, shared: SharedTransferState, options: list[tuple[int, Any]]) -> None:
        self.settings, self.shared, self.max_head = settings, shared, settings.max_head
        self.endpoint: HostEndpoint | None = None
        self.timeout, self.max_body = 0.0, -1
        self.conditional_headers: tuple[bytes, ...] = ()
        self.uses_fresh_connection = False
        self.sockets: list[socket.socket] = []
        self.has_request_target = False
        self.curl = pycurl.Curl()
        for option, value in options:
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._receive_body)
        self.curl.setopt(pycurl.HEADERFUNCTION, self._receive_head)
        if not settings.allow_private and not settings.proxy:
            self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)

    def prepare(self, request: FetchRequest, headers: list[bytes]) -> None:
        """Make the handle ready for one request; what is as before is not set again."""
        self.request = request
        self.chunks: list[bytes] = []
        self.head_lines: list[bytes] = []
        self.body_size = self.head_size = 0
        self.abort_reason = Reason.NONE
        self.refused_address = ""
        self.is_buffer_full = False
        curl = self.curl
        if request.endpoint is not self.endpoint:
            self._set_endpoint(request.endpoint)
        if request.timeout != self.timeout:
            self.timeout = request.timeout
            curl.setopt(pycurl.TIMEOUT_MS, int(request.timeout * 1000))
        if request.max_body != self.max_body or request.truncates_body:
            self.max_body = request.max_body
            curl.setopt(
                pycurl.MAXFILESIZE_LARGE, 0 if request.truncates_body else request.max_body
            )  # what announces more is not even read
        if request.conditional_headers != self.conditional_headers:
            self.conditional_headers = request.conditional_headers
            curl.setopt(pycurl.HTTPHEADER, [*headers, *request.conditional_headers])
        if request.uses_fresh_connection != self.uses_fresh_connection:
            self.uses_fresh_connection = request.uses_fresh_connection
            curl.setopt(pycurl.FRESH_CONNECT, request.uses_fresh_connection)
        curl.setopt(pycurl.URL, request.url)
        if self.has_request_target or "%" in request.url:
            self._set_request_target(request.url)

    def _set_request_target(self, url: str) -> None:
        """Send escapes as they are written: curl would put them in capitals. A proxy wants the whole URL."""
        if not self.settings.proxy:
            self.has_request_target = True  # a handle that was told a target needs one for every request
            self.curl.setopt(pycurl.REQUEST_TARGET, url[url.index("/", 8) :])

    def _set_endpoint(self, endpoint: HostEndpoint) -> None:
        """Set what belongs to a host: its addresses, whom it may trust, who we are there."""
        curl, settings = self.curl, self.settings
        if endpoint.addresses and not settings.proxy:
            self.shared.stale_endpoints.discard(endpoint.host_port)
            curl.setopt(
                pycurl.RESOLVE, [*(f"-{place}" for place in self.shared.stale_endpoints), endpoint.resolve_entry]
            )
            self.shared.stale_endpoints.clear()
        curl.setopt(
            pycurl.PIPEWAIT, endpoint.host.startswith("https:")
        )  # rather share an HTTP/2 connection than open one
        trusted = endpoint.setting_names.isdisjoint(settings.insecure_hosts)
        curl.setopt(pycurl.SSL_VERIFYPEER, trusted)
        curl.setopt(pycurl.SSL_VERIFYHOST, 2 if trusted else 0)
        if login := next(
            (settings.basic_auth[name] for name in endpoint.setting_names if name in settings.basic_auth), ""
        ):
            curl.setopt(pycurl.HTTPAUTH, pycurl.HTTPAUTH_BASIC)
            curl.setopt(pycurl.USERPWD, login.encode())
        else:
            curl.unsetopt(pycurl.USERPWD)
        self.endpoint = endpoint

    def _receive_body(self, chunk: bytes) -> int | None:
        if not self.chunks and self.settings.accepted_types and not self._is_accepted_type():
            self.abort_reason = Reason.MEDIA_TYPE
            return ABORT_TRANSFER
        self.chunks.append(chunk)
        self.body_size += len(chunk)
        self.shared.buffered_bytes += len(chunk)
        if self.body_size > self.request.max_body:
            self.abort_reason = Reason.TOO_LARGE
            return ABORT_TRANSFER
        if self.shared.buffered_bytes > self.shared.max_bytes and self.body_size > SMALL_BODY_BYTES:
            self.is_buffer_full = True
            return ABORT_TRANSFER
        return None

    def _receive_head(self, line: bytes) -> int | None:
        self.head_size += len(line)
        if self.head_size > self.max_head:
            self.abort_reason = Reason.TOO_MANY_HEADERS
            return ABORT_TRANSFER
        self.head_lines.append(line)
        return None

    def _is_accepted_type(self) -> bool:
        """Say whether a media type that comes is one of those kept; only pages are sorted out, not error messages."""
        status, fields = parse_head(self.head_lines)
        mime = get_media_type(fields)
        if self.request.truncates_body or not (200 <= status < 300 and mime):
            return True
        return mime in self.settings.accepted_types or mime.partition("/")[0] + "/*" in self.settings.accepted_types

    def _open_socket(self, _purpose: int, target: Any) -> "socket.socket | int":
        """Open a socket to an address of the public internet; refuse any other."""
        address = str(target.addr[0]) if target.family in (socket.AF_INET, socket.AF_INET6) else ""
        if not is_global(address):
            self.refused_address = address or "an address that is none"
            bad: int = pycurl.SOCKET_BAD
            return bad
        opened = socket.socket(target.family, target.socktype, target.protocol)
        self.sockets.append(opened)  # curl works on a copy of it
        return opened

    def finish(self, error: int, detail: str) -> FetchResponse:
        """Hand over what came and let go of it."""
        while self.sockets:
            self.sockets.pop().close()
        self.shared.buffered_bytes -= self.body_size
        curl = self.curl
        why = self.abort_reason
        if self.refused_address and error == pycurl.E_COULDNT_CONNECT:
            why, detail = Reason.PRIVATE_ADDRESS, f"{self.refused_address} is not a public address"
        if detail and self.settings.proxy:
            detail = redact_address_password(detail, self.settings.proxy)
        cut = why is Reason.TOO_LARGE and self.request.truncates_body
        reply = FetchResponse(
            self.request,
            self.head_lines,
            b"".join(self.chunks),
            curl.getinfo(pycurl.TOTAL_TIME),
            "" if self.settings.proxy else curl.getinfo(pycurl.PRIMARY_IP),
            self.head_size + self.body_size,
            pycurl.E_OK if cut else error,
            detail,
            Reason.NONE if cut else why,
            self.is_buffer_full,
            cut,
        )
        self.chunks, self.head_lines = [], []
        return reply

    def close(self) -> None:
        """Free the handle."""
        self.curl.close()

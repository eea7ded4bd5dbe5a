"""Reusable curl handle with its buffers, size limits, and address guard."""

import re
import socket
import time
from enum import Enum
from typing import Any

import pycurl

from sanderling.config.redact import redact_address_password
from sanderling.fetch.address_guard import is_global
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.transport import FetchRequest, FetchResponse, HostEndpoint
from sanderling.http.cookie_jar import mask_cookie
from sanderling.http.head import get_media_type, parse_head
from sanderling.models import Reason

MIN_BYTES_PER_SECOND = 256  # slower for the whole idle timeout: aborted as too slow
READ_BUFFER_BYTES = 128 * 1024
SMALL_BODY_BYTES = 1024 * 1024  # smaller bodies are not aborted when the buffer is full
ABORT_TRANSFER = 0  # return value of a curl callback


HTTP3_FEATURE = 1 << 25  # CURL_VERSION_HTTP3
H3_OFFER = re.compile(rb'(?<![\w-])h3="?:(\d{1,5})').finditer  # Alt-Svc (RFC 7838); with a host name it is no match
MAX_HTTP3_ENDPOINTS = 10_000


def has_http3() -> bool:
    """Return whether libcurl was compiled with HTTP/3."""
    return bool(pycurl.version_info()[4] & HTTP3_FEATURE) and hasattr(pycurl, "CURL_HTTP_VERSION_3")


def can_use_http3(settings: FetchSettings) -> bool:
    return settings.http2 and not settings.proxy and has_http3()


def get_http_version(settings: FetchSettings) -> int:
    """Return the version of a first request: HTTP/2 if the server offers it over TLS."""
    version: int = pycurl.CURL_HTTP_VERSION_2TLS if settings.http2 else pycurl.CURL_HTTP_VERSION_1_1
    return version


class Http3(Enum):
    """What is known of HTTP/3 at a host and port."""

    UNKNOWN = 0
    OFFERED = 1
    USED = 2
    UNREACHABLE = 3


HTTP3_VERSIONS = {
    Http3.OFFERED: getattr(pycurl, "CURL_HTTP_VERSION_3", 0),
    Http3.USED: getattr(pycurl, "CURL_HTTP_VERSION_3ONLY", 0),  # else an idle TCP connection would be used again
}


class SharedTransferState:
    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes  # of all bodies in flight
        self.buffered_bytes = 0
        self.stale_endpoints: set[str] = set()  # host:port entries to remove from curl's DNS cache
        self.http3_endpoints: dict[str, Http3] = {}  # by host:port


class CurlTransfer:
    """A pooled curl handle with the data received so far."""

    def __init__(self, settings: FetchSettings, shared: SharedTransferState, options: list[tuple[int, Any]]) -> None:
        self.settings, self.shared, self.max_head = settings, shared, settings.max_head
        self.endpoint: HostEndpoint | None = None
        self.timeout, self.max_body = 0.0, -1
        self.request_headers: tuple[bytes, ...] = ()  # in addition to those of the crawl
        self.method = "GET"
        self.uses_fresh_connection = False
        self.http_version = get_http_version(settings)
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
        """Set up the handle for a request; unchanged options are not set again."""
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
            # Aborts by Content-Length, before the body is read.
            curl.setopt(pycurl.MAXFILESIZE_LARGE, 0 if request.truncates_body else request.max_body)
        request_headers = request.headers + request.conditional_headers
        if request_headers != self.request_headers:
            self.request_headers = request_headers
            names = {line.partition(b":")[0].lower() for line in request.headers}
            kept = [line for line in headers if line.partition(b":")[0].lower() not in names]
            curl.setopt(pycurl.HTTPHEADER, [*kept, *request_headers])
        if request.method != self.method or request.method == "POST":
            self._set_method(request)
        http3 = self.shared.http3_endpoints.get(request.endpoint.host_port, Http3.UNKNOWN)
        uses_fresh_connection = request.uses_fresh_connection or http3 is Http3.OFFERED
        if uses_fresh_connection != self.uses_fresh_connection:
            self.uses_fresh_connection = uses_fresh_connection
            curl.setopt(pycurl.FRESH_CONNECT, uses_fresh_connection)
        version = HTTP3_VERSIONS.get(http3) or get_http_version(self.settings)
        if version != self.http_version:
            self.http_version = version
            curl.setopt(pycurl.HTTP_VERSION, version)
        curl.setopt(pycurl.URL, request.url)
        if self.has_request_target or "%" in request.url:
            self._set_request_target(request.url)

    def _set_method(self, request: FetchRequest) -> None:
        self.method = request.method
        if request.method == "POST":
            self.curl.setopt(pycurl.POST, 1)
            self.curl.setopt(pycurl.POSTFIELDS, request.request_body)
        else:
            self.curl.setopt(pycurl.HTTPGET, 1)

    def _set_request_target(self, url: str) -> None:
        """Send percent escapes unchanged: curl would uppercase them."""
        if not self.settings.proxy:
            self.has_request_target = True  # from now on it must be set for every request
            self.curl.setopt(pycurl.REQUEST_TARGET, url[url.index("/", 8) :])

    def _set_endpoint(self, endpoint: HostEndpoint) -> None:
        curl, settings = self.curl, self.settings
        if endpoint.addresses and not settings.proxy:
            self.shared.stale_endpoints.discard(endpoint.host_port)
            curl.setopt(
                pycurl.RESOLVE,
                [*(f"-{host_port}" for host_port in self.shared.stale_endpoints), endpoint.resolve_entry],
            )
            self.shared.stale_endpoints.clear()
        curl.setopt(pycurl.PIPEWAIT, endpoint.host.startswith("https:"))  # prefer sharing an HTTP/2 connection
        verifies_tls = endpoint.setting_names.isdisjoint(settings.insecure_hosts)
        curl.setopt(pycurl.SSL_VERIFYPEER, verifies_tls)
        curl.setopt(pycurl.SSL_VERIFYHOST, 2 if verifies_tls else 0)
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
        self.head_lines.append(mask_cookie(line) if self.settings.cookies else line)
        return None

    def _is_accepted_type(self) -> bool:
        status, fields = parse_head(self.head_lines)
        mime = get_media_type(fields)
        if self.request.truncates_body or not (200 <= status < 300 and mime):
            return True
        return mime in self.settings.accepted_types or mime.partition("/")[0] + "/*" in self.settings.accepted_types

    def _open_socket(self, _purpose: int, target: Any) -> "socket.socket | int":
        """Open a socket to a public address; refuse any other."""
        address = str(target.addr[0]) if target.family in (socket.AF_INET, socket.AF_INET6) else ""
        if not is_global(address):
            self.refused_address = address or "an unknown address"
            refused: int = pycurl.SOCKET_BAD
            return refused
        sock = socket.socket(target.family, target.socktype, target.protocol)
        self.sockets.append(sock)  # curl duplicates the descriptor; closed in `finish`
        return sock

    def finish(self, error: int, detail: str) -> FetchResponse:
        """Return the response and release the buffers."""
        while self.sockets:
            self.sockets.pop().close()
        self.shared.buffered_bytes -= self.body_size
        curl = self.curl
        reason = self.abort_reason
        if self.refused_address and error == pycurl.E_COULDNT_CONNECT:
            reason, detail = Reason.PRIVATE_ADDRESS, f"{self.refused_address} is not a public address"
        if detail and self.settings.proxy:
            detail = redact_address_password(detail, self.settings.proxy)
        self._update_http3()
        is_truncated = reason is Reason.TOO_LARGE and self.request.truncates_body
        response = FetchResponse(
            self.request,
            self.head_lines,
            b"".join(self.chunks),
            curl.getinfo(pycurl.TOTAL_TIME),
            "" if self.settings.proxy else curl.getinfo(pycurl.PRIMARY_IP),
            self.head_size + self.body_size,
            pycurl.E_OK if is_truncated else error,
            detail,
            Reason.NONE if is_truncated else reason,
            self.is_buffer_full,
            is_truncated,
            time.monotonic() - (curl.getinfo(pycurl.TOTAL_TIME) - curl.getinfo(pycurl.PRETRANSFER_TIME)),
        )
        self.chunks, self.head_lines = [], []
        return response

    def _update_http3(self) -> None:
        """Remember whether the server offers HTTP/3 at its own host and port; other places are not pinned, and ignored.

        At the first request, curl tries QUIC and TCP; from then on, what worked is used.
        """
        endpoint, known = self.request.endpoint, self.shared.http3_endpoints
        state = known.get(endpoint.host_port, Http3.UNKNOWN)
        is_http3 = bool(self.head_lines) and self.head_lines[0].startswith(b"HTTP/3")
        if state in (Http3.OFFERED, Http3.USED):
            known[endpoint.host_port] = Http3.USED if is_http3 else Http3.UNREACHABLE
        elif state is Http3.UNKNOWN and endpoint.host.startswith("https:") and can_use_http3(self.settings):
            offers = b" ".join(line for line in self.head_lines if line[:8].lower() == b"alt-svc:")
            if any(match[1] == str(endpoint.port).encode() for match in H3_OFFER(offers)):
                if len(known) >= MAX_HTTP3_ENDPOINTS:
                    known.clear()
                known[endpoint.host_port] = Http3.OFFERED

    def close(self) -> None:
        self.curl.close()

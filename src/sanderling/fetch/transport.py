"""Transport of the fetch loop: sends requests and returns responses.

A transport only moves bytes; politeness and robots.txt are above it. Rendered pages have a fetch loop of their own,
which uses this transport for all requests of the browser (`workers/browser/rendering_loop.py`).
"""

from collections.abc import Callable
from typing import Any, Protocol
from urllib.parse import parse_qsl

from msgspec import Struct
from msgspec.structs import replace

from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import Host, Reason
from sanderling.urls.unsafe_actions import is_post_url, split_post_url


class HostEndpoint(Struct, frozen=True):
    """A host with its known addresses."""

    host: Host
    hostname: str
    port: int
    addresses: tuple[str, ...] = ()  # empty: the transport resolves the name and checks the address

    @property
    def setting_names(self) -> frozenset[str]:
        """Return the names of the host in settings: with and without port."""
        return frozenset((self.hostname, f"{self.hostname}:{self.port}"))

    @property
    def host_port(self) -> str:
        """Return the key of the host in curl's DNS cache."""
        return f"{self.hostname}:{self.port}"

    @property
    def resolve_entry(self) -> str:
        """Return the CURLOPT_RESOLVE entry that gives curl the addresses."""
        return f"{self.host_port}:" + ",".join(f"[{a}]" if ":" in a else a for a in self.addresses)


class FetchRequest(Struct, frozen=True):
    url: str
    endpoint: HostEndpoint
    user_data: Any  # opaque to the transport
    conditional_headers: tuple[bytes, ...] = ()  # If-None-Match, If-Modified-Since
    max_body: int = 0
    timeout: float = 60.0
    truncates_body: bool = False  # cut a body that is too long instead of failing
    uses_fresh_connection: bool = (
        False  # for retries: other requests on a shared connection may have caused the failure
    )
    method: str = "GET"  # or POST
    headers: tuple[bytes, ...] = ()  # replace those of the crawl of the same name
    request_body: bytes = b""


class FetchResponse(Struct, frozen=True):
    """Head lines, and the body with its content coding."""

    request: FetchRequest
    head_lines: list[bytes]
    body: bytes
    duration_seconds: float
    address: str = ""
    received_bytes: int = 0
    curl_error: int = 0  # pycurl.E_*; 0: no error
    detail: str = ""
    abort_reason: Reason = Reason.NONE  # the transport aborted the transfer for this reason
    is_buffer_full: bool = False  # aborted because too many bytes were in flight
    is_truncated: bool = False
    sent_at: float = 0.0  # monotonic clock; later than the start by the time to connect. 0: unknown


class Transport(Protocol):
    """Called only from the thread of the fetch loop."""

    @property
    def is_busy(self) -> bool:
        """Return True while a request is in flight."""

    def has_capacity(self, pending_responses: int = 0) -> bool:
        """Return True if another request may start."""

    def start(self, request: FetchRequest) -> None:
        """Start a request without blocking."""

    def wait(self, timeout: float) -> list[FetchResponse]:
        """Block until responses are complete or the timeout passes; return them."""

    def drop_addresses(self, endpoint: HostEndpoint) -> None:
        """Discard cached addresses of a host that is no longer crawled."""

    def cancel(self) -> list[FetchRequest]:
        """Abort all requests in flight and return them."""

    def close(self) -> None:
        """Abort all requests and release all connections."""


def build_post_request(request: FetchRequest, forms: tuple[tuple[str, tuple[str, ...]], ...]) -> FetchRequest:
    """Return the POST request that a URL stands for, if a recipe of the user sends exactly these fields."""
    if not forms or not is_post_url(request.url):
        return request
    address, body = split_post_url(request.url)
    names = tuple(sorted(name for name, _ in parse_qsl(body.decode(), keep_blank_values=True)))
    if (address, names) not in forms:
        return request
    headers = (*request.headers, b"Content-Type: application/x-www-form-urlencoded")
    return replace(request, url=address, method="POST", headers=headers, request_body=body, conditional_headers=())


TransportFactory = Callable[[FetchSettings], Transport]
"""Open the transport of a fetch loop."""

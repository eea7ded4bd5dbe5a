"""Allowed host names, rate limits, security headers."""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable

from msgspec import Struct
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# No external resources, no inline script or style, no framing.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), interest-cohort=()",
}
MAX_REQUEST_BYTES = 64 * 1024
MAX_CLIENTS = 10_000  # in memory only; the oldest are dropped


class RequestRate(Struct, frozen=True):
    """Tokens per second, and bucket capacity."""

    per_second: float
    burst: float


PATH_RATES = {
    "/login": RequestRate(0.1, 8),
    "/api/events": RequestRate(10, 60),
    "/api/rating": RequestRate(0.5, 10),
    "": RequestRate(2_000, 4_000),  # enough for a classroom behind one address
}
ALL_CLIENTS = "*"
LOGIN_RATE = RequestRate(0.5, 20)  # for all clients together, so that many addresses give no more attempts


class ClientRateLimiter:
    """Token buckets by client and path, in memory only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()

    def take_token(self, client: str, path: str) -> bool:
        key = path if path in PATH_RATES else ""
        return self._take_token(client, key, PATH_RATES[key])

    def take_login_token(self) -> bool:
        """Return whether the shared login bucket has a token."""
        return self._take_token(ALL_CLIENTS, "/login", LOGIN_RATE)

    def _take_token(self, client: str, key: str, rate: RequestRate) -> bool:
        now = self.clock()
        tokens, last_time = self.buckets.pop((client, key), (rate.burst, now))
        tokens = min(rate.burst, tokens + (now - last_time) * rate.per_second)
        allowed = tokens >= 1
        self.buckets[client, key] = (tokens - 1 if allowed else tokens, now)
        if key == "/login" and (ALL_CLIENTS, key) in self.buckets:
            self.buckets.move_to_end((ALL_CLIENTS, key))  # many addresses must not evict the shared bucket
        while len(self.buckets) > MAX_CLIENTS:
            self.buckets.popitem(last=False)
        return allowed


class SecurityMiddleware:
    def __init__(
        self, app: ASGIApp, host_names: Iterable[str] = (), rate_limiter: ClientRateLimiter | None = None
    ) -> None:
        self.app = app
        self.host_names = frozenset(host_names)
        self.rate_limiter = rate_limiter or ClientRateLimiter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        rejection = self._reject(scope)
        if rejection is not None:
            await rejection(scope, receive, _add_security_headers(send))
            return
        await self.app(scope, receive, _add_security_headers(send))

    def _reject(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not is_known_host(headers.get("host", ""), self.host_names):
            return _build_rejection(scope, "Unknown host name; allow it with --host-name.", 421)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MAX_REQUEST_BYTES or "transfer-encoding" in headers:
            return _build_rejection(scope, "The request body is too large.", 413)
        client = scope.get("client")
        if not self.rate_limiter.take_token(
            get_client_key(client[0] if client else ""), scope["path"]
        ) or not self._can_try_login(scope):
            return _build_rejection(scope, "Too many requests; try again in 10 seconds.", 429, {"Retry-After": "10"})
        return None

    def _can_try_login(self, scope: Scope) -> bool:
        return scope["method"] != "POST" or scope["path"] != "/login" or self.rate_limiter.take_login_token()


def _build_rejection(scope: Scope, message: str, status: int, headers: dict[str, str] | None = None) -> Response:
    """Return an error: JSON for the API, else text."""
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": message}, status, headers)
    return PlainTextResponse(message, status, headers)


def get_client_key(address: str) -> str:
    """Return the IPv4 address, or the /64 network of an IPv6 address."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((ip, 64), strict=False))


def is_known_host(host: str, host_names: frozenset[str]) -> bool:
    """Return whether a Host is an IP address or allowed name, against DNS rebinding."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    name = name.strip("[]").lower()
    if name == "localhost" or name in host_names:
        return True
    try:
        return ipaddress.ip_address(name) is not None
    except ValueError:
        return False


def _add_security_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers


def is_same_origin(request: Request) -> bool:
    """Return whether a page of this site sent the request."""
    fetched_by = request.headers.get("sec-fetch-site")
    if fetched_by is not None:
        return fetched_by == "same-origin"
    origin = request.headers.get("origin")
    return origin is not None and origin == f"{request.url.scheme}://{request.headers.get('host', '')}"

"""What stands before every request: known host names, rates, and headers that tie the browser's hands."""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable

from msgspec import Struct
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing from elsewhere, no inline script or style, no framing by others.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), interest-cohort=()",
}
LARGEST_BODY = 64 * 1024
REMEMBERED = 10_000  # addresses, in memory only, forgotten oldest first


class Rate(Struct, frozen=True):
    """How often a visitor may knock: so many per second, and so many at once."""

    per_second: float
    burst: float


RATES = {
    "/login": Rate(0.1, 8),
    "/api/events": Rate(10, 60),
    "/api/rating": Rate(0.5, 10),
    "": Rate(2_000, 4_000),  # enough for a classroom behind one address
}
ALL_CLIENTS = "*"
LOGINS = Rate(0.5, 20)  # passwords tried, by all clients together: who has many addresses has no more tries


class Buckets:
    """Token buckets by visitor and path; nothing of it is written down."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.level: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()

    def take(self, who: str, path: str) -> bool:
        """Take one token; says no when the bucket is empty."""
        key = path if path in RATES else ""
        return self._take(who, key, RATES[key])

    def take_login(self) -> bool:
        """Take one token of those that all clients share for passwords."""
        return self._take(ALL_CLIENTS, "/login", LOGINS)

    def _take(self, who: str, key: str, rate: Rate) -> bool:
        now = self.clock()
        tokens, then = self.level.pop((who, key), (rate.burst, now))
        tokens = min(rate.burst, tokens + (now - then) * rate.per_second)
        allowed = tokens >= 1
        self.level[who, key] = (tokens - 1 if allowed else tokens, now)
        if key == "/login" and (ALL_CLIENTS, key) in self.level:
            self.level.move_to_end((ALL_CLIENTS, key))  # a crowd of addresses must not make it forgotten
        while len(self.level) > REMEMBERED:
            self.level.popitem(last=False)
        return allowed


class Guard:
    """The outermost layer of the app."""

    def __init__(self, app: ASGIApp, names: Iterable[str] = (), buckets: Buckets | None = None) -> None:
        self.app = app
        self.names = frozenset(names)
        self.buckets = buckets or Buckets()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Turn away what should not come in, and dress what goes out."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refuse(scope)
        if refusal is not None:
            await refusal(scope, receive, _dressed(send))
            return
        await self.app(scope, receive, _dressed(send))

    def _refuse(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        if not is_known_host(headers.get("host", ""), self.names):
            return PlainTextResponse("This name is not served here; see --host-name.", 421)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > LARGEST_BODY or "transfer-encoding" in headers:
            return PlainTextResponse("Too large.", 413)
        client = scope.get("client")
        if not self.buckets.take(client_key(client[0] if client else ""), scope["path"]) or not self._admits_login(
            scope
        ):
            return PlainTextResponse("Too many requests; please wait a moment.", 429, {"Retry-After": "10"})
        return None

    def _admits_login(self, scope: Scope) -> bool:
        """May a password be tried now? Other requests may always."""
        return scope["method"] != "POST" or scope["path"] != "/login" or self.buckets.take_login()


def client_key(address: str) -> str:
    """Return what identifies a client: its IPv4 address, or the /64 of its IPv6 address (that of one customer)."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((ip, 64), strict=False))


def is_known_host(host: str, names: frozenset[str]) -> bool:
    """Only addresses and names we were told of: a foreign name that points here is an attack (DNS rebinding)."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    name = name.strip("[]").lower()
    if name == "localhost" or name in names:
        return True
    try:
        return ipaddress.ip_address(name) is not None
    except ValueError:
        return False


def _dressed(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def dressed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return dressed


def is_same_origin(request: Request) -> bool:
    """Did our own page send this? Browsers say so, and no other page can make them lie."""
    fetched_by = request.headers.get("sec-fetch-site")
    if fetched_by is not None:
        return fetched_by == "same-origin"
    origin = request.headers.get("origin")
    return origin is not None and origin == f"{request.url.scheme}://{request.headers.get('host', '')}"

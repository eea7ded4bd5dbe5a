"""Requests of pages: which are sent, with which headers, and which responses are kept for other pages."""

import json
import re
from collections import OrderedDict

from msgspec import Struct

from sanderling.fetch.curl_client import RECORDED_HEADERS
from sanderling.workers.browser.tab_protocol import HeaderPair, Subrequest

MAX_BODY_BYTES = 64 * 1024  # of a request
MAX_REDIRECTS = 5
CACHE_BYTES = 64 * 1024 * 1024
CACHED_KINDS = frozenset(("script", "stylesheet", "font", "image"))  # versioned by their URL on most sites
STATIC_SECONDS = 600.0
MAX_CACHE_SECONDS = 3600.0
# Set by the fetcher, or meaningless for it. Cookies are the fetcher's own, so that none reaches the archive.
UNSENT_HEADERS = re.compile(
    r"accept-encoding|connection|content-length|cookie|expect|host|if-.*|keep-alive|priority|proxy-.*|range|sec-.*"
    r"|te|trailer|transfer-encoding|upgrade.*|user-agent|:.*"
)
UNPASSED_HEADERS = frozenset(
    ("content-encoding", "content-length", "transfer-encoding", "connection", "alt-svc", "strict-transport-security",
     "nel", "report-to", "reporting-endpoints", "clear-site-data")
)  # fmt: skip
SEARCH_PATHS = re.compile(r"/1/indexes/[^/]+/(?:query|queries)$|/_m?search$|/(?:multi_)?search$")
GRAPHQL_READ = re.compile(r"\s*(?:#[^\n]*\n\s*)*(?:query\b|fragment\b|\{)")
GRAPHQL_WRITE = re.compile(r"(?:^|\})\s*(?:mutation|subscription)\b")
MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE)
HEADER_LINE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+: [^\x00-\x08\x0a-\x1f\x7f]*")


class Subresponse(Struct, frozen=True):
    status: int
    headers: tuple[HeaderPair, ...]
    body: bytes


def is_sendable(request: Subrequest) -> bool:
    """Return whether a request only reads: GET, or a POST that is a query by its content."""
    if request.method == "GET":
        return True
    if request.method != "POST" or len(request.body) > MAX_BODY_BYTES:
        return False
    try:
        content = json.loads(request.body)
    except (ValueError, RecursionError):
        return False
    if SEARCH_PATHS.search(request.url.partition("?")[0]):
        return True
    operations = content if isinstance(content, list) else [content]
    return bool(operations) and all(_is_graphql_query(operation) for operation in operations)


def _is_graphql_query(operation: object) -> bool:
    text = operation.get("query") if isinstance(operation, dict) else None
    return isinstance(text, str) and bool(GRAPHQL_READ.match(text)) and not GRAPHQL_WRITE.search(text)


def build_header_lines(request: Subrequest) -> tuple[bytes, ...]:
    """Return the headers to send in addition to those of the crawl."""
    lines = [f"{name}: {value}" for name, value in request.headers.items() if not UNSENT_HEADERS.fullmatch(name)]
    if request.method == "POST":
        lines.append("Expect:")  # else curl waits for 100 Continue
    return tuple(line.encode("utf-8") for line in lines if HEADER_LINE.fullmatch(line) or line == "Expect:")


def filter_recorded(lines: tuple[bytes, ...]) -> list[bytes]:
    """Return the headers that may be archived: others may contain a secret."""
    return [line + b"\r\n" for line in lines if RECORDED_HEADERS.fullmatch(line.partition(b":")[0].lower())]


def filter_response_headers(fields: dict[bytes, bytes]) -> tuple[HeaderPair, ...]:
    """Return the headers of a decoded response for the browser."""
    named = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in fields.items())
    return tuple((name, value.replace("\n", ", ")) for name, value in named if name not in UNPASSED_HEADERS)


class SubresponseCache:
    """Responses to requests of earlier pages, limited by size."""

    def __init__(self, max_bytes: int = CACHE_BYTES) -> None:
        self._max_bytes, self._bytes = max_bytes, 0
        self._entries: OrderedDict[str, tuple[float, Subresponse]] = OrderedDict()

    def find(self, request: Subrequest, now: float) -> Subresponse | None:
        expires_at, response = self._entries.get(request.url, (0.0, None))
        return response if request.method == "GET" and expires_at > now else None

    def add(self, request: Subrequest, response: Subresponse, now: float) -> None:
        """Keep a response as long as its Cache-Control says; scripts and style sheets for ten minutes at least."""
        if request.method != "GET" or not 200 <= response.status < 300 or len(response.body) > self._max_bytes // 8:
            return
        control = next((value for name, value in response.headers if name == "cache-control"), "")
        match = MAX_AGE.search(control)
        seconds = float(match[1]) if match and "no-" not in control.lower() else 0.0
        seconds = max(min(seconds, MAX_CACHE_SECONDS), STATIC_SECONDS if request.kind in CACHED_KINDS else 0.0)
        if not seconds:
            return
        self._remove(request.url)
        self._entries[request.url] = now + seconds, response
        self._bytes += len(response.body)
        while self._bytes > self._max_bytes:
            self._remove(next(iter(self._entries)))

    def keep(self, url: str, response: Subresponse, expires_at: float) -> None:
        """Keep a response for the page that is rendered next."""
        self._remove(url)
        if len(response.body) <= self._max_bytes // 8:
            self._entries[url] = expires_at, response
            self._bytes += len(response.body)

    def _remove(self, url: str) -> None:
        _, old = self._entries.pop(url, (0.0, None))
        self._bytes -= len(old.body) if old else 0

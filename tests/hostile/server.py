"""A loopback server that misbehaves on purpose: a path per misbehavior, over raw sockets.

`HostileServer()` serves `PAGES`; tests may pass other pages or another robots.txt. Endless responses end when the
client disconnects or the server stops, never by a count.
"""

import socket
import ssl
import struct
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Self

from sanderling.models import Host

Behavior = Callable[["Exchange"], None]
HTML = "Content-Type: text/html; charset=utf-8"


@dataclass(frozen=True)
class Request:
    """A received request."""

    method: str
    path: str
    raw: bytes
    at: float

    @property
    def headers(self) -> dict[str, str]:
        """Return header values by lowercase name."""
        pairs = (line.partition(":") for line in self.raw.decode("latin-1").split("\r\n")[1:] if line)
        return {name.strip().lower(): value.strip() for name, _, value in pairs}


class Exchange:
    """A request on a connection, with methods to respond to it."""

    def __init__(self, connection: socket.socket, request: Request, stopping: threading.Event) -> None:
        self.connection, self.request, self.stopping = connection, request, stopping
        self.stays = False  # keep the connection open for another request

    def send(self, data: bytes) -> None:
        """Send raw bytes."""
        self.connection.sendall(data)

    def head(self, *lines: str, status: str = "200 OK") -> None:
        self.send("".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", *lines, "")).encode("latin-1"))

    def answer(self, body: bytes = b"", *lines: str, status: str = "200 OK") -> None:
        """Send a correct response and keep the connection."""
        self.head(*lines, f"Content-Length: {len(body)}", status=status)
        self.send(body)
        self.stays = True

    def page(self, body: bytes, *lines: str) -> None:
        self.answer(body, HTML, *lines)

    def forever(self, data: bytes, pause: float = 0.0) -> None:
        """Send the same bytes repeatedly until the client disconnects."""
        while not self.stopping.wait(pause) if pause else not self.stopping.is_set():
            self.send(data)

    def reset(self) -> None:
        """Close the connection with a TCP reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@dataclass
class HostileServer:
    """Serves behaviors by path, with a thread per connection."""

    pages: Mapping[str, Behavior] = field(default_factory=lambda: PAGES)
    robots: Behavior | None = None  # None: 404
    tls: ssl.SSLContext | None = None
    speak: Callable[[socket.socket, "HostileServer"], bool] | None = None  # serves another protocol than HTTP/1.1
    requests: list[Request] = field(default_factory=list)
    connections: int = 0

    def __enter__(self) -> Self:
        self._stopping = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._threads: list[threading.Thread] = []
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._acceptor = threading.Thread(target=self._accept)
        self._acceptor.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._acceptor.join()
        self._socket.close()
        self.close_connections()
        for thread in self._threads:
            thread.join()

    def close_connections(self) -> None:
        with self._lock:
            for connection in self._open:
                _hang_up(connection)

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    @property
    def host(self) -> Host:
        """Return scheme and authority."""
        return Host(f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}")

    @property
    def paths(self) -> list[str]:
        """Return the requested paths in order."""
        return [request.path for request in self.requests]

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:  # the server is closing
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections += 1
            thread = threading.Thread(target=self._welcome, args=(connection,))
            with self._lock:
                self._open.add(connection)
            self._threads.append(thread)
            thread.start()

    def _welcome(self, connection: socket.socket) -> None:
        stream = connection
        try:
            if self.tls is not None:
                stream = self.tls.wrap_socket(connection, server_side=True)
            while self.speak(stream, self) if self.speak else self._serve(stream):
                pass
        except (OSError, ssl.SSLError):  # the client disconnected, as many tests expect
            pass
        finally:
            with self._lock:
                self._open.discard(connection)
            stream.close()
            connection.close()

    def _serve(self, connection: socket.socket) -> bool:
        """Respond to a request; return True if another may follow."""
        raw = _read_head(connection)
        if not raw:
            return False
        method, path, *_ = raw.decode("latin-1").split(" ", 2)
        request = Request(method, path, raw, time.monotonic())
        self.requests.append(request)
        exchange = Exchange(connection, request, self._stopping)
        self._find_behavior(path)(exchange)
        return exchange.stays

    def _find_behavior(self, path: str) -> Behavior:
        if path == "/robots.txt":
            return self.robots or missing
        first = path.partition("?")[0][1:].partition("/")[0]
        return self.pages.get(path) or self.pages.get(f"/{first}/*") or missing


def _read_head(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return b""
        data += chunk
    return data


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):  # already closed
        connection.shutdown(socket.SHUT_RDWR)


def rules(text: str) -> Behavior:
    """Return a behavior that serves this robots.txt."""
    return lambda exchange: exchange.answer(text.encode(), "Content-Type: text/plain")


def text_of(size: int) -> bytes:
    return b"<p>" + b"sand " * (size // 5) + b"</p>"


# Correct responses.


def missing(exchange: Exchange) -> None:
    exchange.answer(b"<h1>no such page</h1>", HTML, status="404 Not Found")


def home(exchange: Exchange) -> None:
    links = b"".join(b'<li><a href="%s">%s</a>' % (path.encode(), path.encode()) for path in PAGES if "*" not in path)
    exchange.page(b"<!doctype html><title>Harbour</title><ul>" + links + b"</ul>")


def tagged(exchange: Exchange) -> None:
    """A page with validators: 304 for a matching If-None-Match."""
    if exchange.request.headers.get("if-none-match") == '"tide"':
        exchange.answer(b"", 'ETag: "tide"', status="304 Not Modified")
    else:
        exchange.page(b"<title>Tide</title>low", 'ETag: "tide"', "Last-Modified: Tue, 01 Oct 2024 10:00:00 GMT")


# Endless or oversized bodies.


def endless_body(exchange: Exchange) -> None:
    exchange.head(HTML)
    exchange.forever(text_of(65536))


def endless_chunks(exchange: Exchange) -> None:
    exchange.head(HTML, "Transfer-Encoding: chunked")
    exchange.forever(b"8000\r\n" + b"a" * 0x8000 + b"\r\n")


def huge_length(exchange: Exchange) -> None:
    exchange.head(HTML, "Content-Length: 1000000000000")
    exchange.forever(text_of(65536))


def drip(exchange: Exchange) -> None:
    exchange.head(HTML, "Content-Length: 1000000")
    exchange.forever(b"a", pause=0.05)


def drip_head(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\n")
    exchange.forever(b"X: y\r\n", pause=0.05)


def silent(exchange: Exchange) -> None:
    exchange.stopping.wait()


# Excessive headers.


def header_flood(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\n")
    exchange.forever(b"".join(b"X-Flood-%d: %s\r\n" % (n, b"a" * 100) for n in range(100)))


def long_header(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nX-Long: ")
    exchange.forever(b"a" * 65536)


def interim_flood(exchange: Exchange) -> None:
    exchange.forever(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n")


def interim(exchange: Exchange) -> None:
    exchange.send(b'HTTP/1.1 103 Early Hints\r\nETag: "early"\r\n\r\n')
    exchange.page(b"<title>After the hints</title>")


# Broken framing.


def bad_chunk(exchange: Exchange) -> None:
    exchange.head(HTML, "Transfer-Encoding: chunked")
    exchange.send(b"5\r\nhello\r\nnot-a-size\r\nworld\r\n0\r\n\r\n")


def chunked_part(exchange: Exchange) -> None:
    exchange.head(HTML, "Transfer-Encoding: chunked", "Content-Range: bytes 0-99/100", status="206 Partial Content")
    exchange.send(b"4\r\nhalf\r\n0\r\n\r\n")


def endless_chunk_size(exchange: Exchange) -> None:
    exchange.head(HTML, "Transfer-Encoding: chunked")
    exchange.send(b"ffffffffffffffffffffffff\r\n")
    exchange.forever(b"a" * 65536)


def cut_chunks(exchange: Exchange) -> None:
    exchange.head(HTML, "Transfer-Encoding: chunked")
    exchange.send(b"ff\r\nonly a little")


def short_body(exchange: Exchange) -> None:
    exchange.head(HTML, "Content-Length: 1000")
    exchange.send(b"<title>Cut</title>")


def long_body(exchange: Exchange) -> None:
    exchange.head(HTML, "Content-Length: 18")
    exchange.send(b"<title>Cut</title> and then some more that was not announced")


def two_lengths(exchange: Exchange) -> None:
    exchange.head(HTML, "Content-Length: 5", "Content-Length: 50")
    exchange.send(b"hello")


def negative_length(exchange: Exchange) -> None:
    exchange.head(HTML, "Content-Length: -5")
    exchange.send(b"hello")


def no_status(exchange: Exchange) -> None:
    exchange.send(b"<html>no status line</html>")


def bad_status(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 banana\r\nContent-Length: 0\r\n\r\n")


def close(exchange: Exchange) -> None:
    """Close the connection without a response."""


def reset(exchange: Exchange) -> None:
    exchange.head(HTML, "Content-Length: 1000")
    exchange.reset()


def trailers(exchange: Exchange) -> None:
    exchange.head(HTML, "Transfer-Encoding: chunked", "Trailer: X-Last")
    exchange.send(b"16\r\n<title>Trailed</title>\r\n0\r\nX-Last: word\r\nLocation: /elsewhere\r\n\r\n")
    exchange.stays = True


# Redirects.


def redirect_to(target: str, status: str = "302 Found") -> Behavior:
    return lambda exchange: exchange.answer(b"", f"Location: {target}", status=status)


def redirect_forever(exchange: Exchange) -> None:
    step = int(exchange.request.path.rpartition("/")[2] or 0)
    exchange.answer(b"", f"Location: /hop/{step + 1}", status="302 Found")


def redirect_without_target(exchange: Exchange) -> None:
    exchange.answer(b"", status="301 Moved Permanently")


def with_note(line: str, *headers: str) -> Behavior:
    """Return a behavior whose body links to the new location."""
    note = b"<title>Somewhere else</title><p>It is <a href=/elsewhere>here</a> or <a href=/there>there</a>."
    return lambda exchange: exchange.answer(note, "Content-Type: text/html", *headers, status=line)


# Refusals.


def status(line: str, *headers: str) -> Behavior:
    return lambda exchange: exchange.answer(line.encode(), *headers, status=line)


# Content codings.


def coded(coding: str, body: bytes) -> Behavior:
    return lambda exchange: exchange.page(body, f"Content-Encoding: {coding}")


def gzip_of(data: bytes) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return packer.compress(data) + packer.flush()


@cache
def bomb(size: int = 64 * 1024 * 1024) -> bytes:
    """Return a gzip stream that decompresses to a thousand times its size."""
    packer = zlib.compressobj(9, wbits=31)
    block = bytes(1024 * 1024)
    return b"".join([packer.compress(block) for _ in range(size // len(block))]) + packer.flush()


def endless_bomb(exchange: Exchange) -> None:
    exchange.head(HTML, "Content-Encoding: gzip")
    packer = zlib.compressobj(9, wbits=31)
    while not exchange.stopping.is_set():
        exchange.send(packer.compress(bytes(1024 * 1024)) or b"")


# Extreme pages.


def nul_bytes(exchange: Exchange) -> None:
    exchange.page(b"<title>N\0ul</title>" + b'\0<a href="/a\0b">x</a>' * 1000)


def bad_charset(exchange: Exchange) -> None:
    exchange.answer("<title>Caf\u00e9</title>".encode("latin-1"), "Content-Type: text/html; charset=klingon-8")


def lying_charset(exchange: Exchange) -> None:
    exchange.answer("<title>Caf\u00e9 \u20ac</title>".encode("utf-16"), "Content-Type: text/html; charset=us-ascii")


def deep(exchange: Exchange) -> None:
    exchange.page(b"<title>Deep</title>" + b"<div>" * 1_000_000 + b'<a href="/bottom">x</a>')


def wide(exchange: Exchange) -> None:
    exchange.page(b"<title>Wide</title>" + b"<p>x" * 1_000_000)


def many_links(exchange: Exchange) -> None:
    exchange.page(b"<title>Links</title>" + ten_million_bytes_of_links())


@cache
def ten_million_bytes_of_links() -> bytes:
    return b"".join([b'<a href="/l/%d">%d</a>' % (n, n) for n in range(400_000)])[:10_000_000]


def many_attributes(exchange: Exchange) -> None:
    exchange.page(b"<title>Attributes</title><p " + b" ".join(b"a%d=1" % n for n in range(200_000)) + b">")


def binary(exchange: Exchange) -> None:
    exchange.page(bytes(range(256)) * 400)


def calendar(exchange: Exchange) -> None:
    """Link every day to the following days, without end."""
    day = int(exchange.request.path.rpartition("/")[2])
    links = b"".join(
        b'<a href="/calendar/%d">day</a><a href="/calendar/%d?sid=%x">day</a>' % (d, d, d * 2654435761)
        for d in range(day + 1, day + 11)
    )
    exchange.page(b"<title>Day</title>" + links)


def trap(exchange: Exchange) -> None:
    """Serve 100,000 links to further traps."""
    links = b"".join(b'<a href="/trap/x/x/x/x/%d?session=%x">t</a>' % (n, n * 2654435761) for n in range(100_000))
    exchange.page(b"<title>Trap</title>" + links)


def cut_head(sent: bytes) -> Behavior:
    """Return a behavior that sends part of a response head and closes the connection."""
    return lambda exchange: exchange.send(sent)


CUT_HEADS: dict[str, bytes] = {
    "/cut-head": b"HTTP/1.1 200 OK\r\n",
    "/cut-head-status": b"HTTP/1.1 200 O",
    "/cut-head-header": b"HTTP/1.1 200 OK\r\nContent-Ty",
    "/cut-head-value": b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "a',
    "/cut-head-end": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n",
    "/cut-head-cr": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r",
    "/cut-head-length": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n",
    "/cut-head-301": b"HTTP/1.1 301 Moved Permanently\r\nLocation: /ok\r\n",
    "/cut-head-target": b"HTTP/1.1 301 Moved Permanently\r\nLocation: /o",
    "/cut-head-304": b"HTTP/1.1 304 Not Modified\r\n",
    "/cut-head-404": b"HTTP/1.1 404 Not Found\r\n",
    "/cut-head-410": b"HTTP/1.1 410 Gone\r\nContent-Type: text/html\r\n",
    "/cut-head-interim": b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n",
    "/cut-head-after-interim": b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n",
}


PAGES: dict[str, Behavior] = {
    **{path: cut_head(sent) for path, sent in CUT_HEADS.items()},
    "/": home,
    "/ok": lambda exchange: exchange.page(b'<title>Fine</title><a href="/">home</a>'),
    "/tagged": tagged,
    "/text": lambda exchange: exchange.answer(b"plain words", "Content-Type: text/plain"),
    "/endless-body": endless_body,
    "/endless-chunks": endless_chunks,
    "/huge-length": huge_length,
    "/drip": drip,
    "/drip-head": drip_head,
    "/silent": silent,
    "/header-flood": header_flood,
    "/long-header": long_header,
    "/interim-flood": interim_flood,
    "/interim": interim,
    "/bad-chunk": bad_chunk,
    "/endless-chunk-size": endless_chunk_size,
    "/cut-chunks": cut_chunks,
    "/short-body": short_body,
    "/long-body": long_body,
    "/two-lengths": two_lengths,
    "/negative-length": negative_length,
    "/no-status": no_status,
    "/bad-status": bad_status,
    "/close": close,
    "/reset": reset,
    "/trailers": trailers,
    "/hop/*": redirect_forever,
    "/redirect": redirect_to("../ok?a#b", "301 Moved Permanently"),
    "/redirect-self": redirect_to("/redirect-self"),
    "/redirect-private": redirect_to("http://169.254.169.254/latest/meta-data/"),
    "/redirect-file": redirect_to("file:///etc/passwd"),
    "/redirect-nowhere": redirect_without_target,
    "/moved-with-a-note": with_note("301 Moved Permanently"),
    "/found-with-a-note": with_note("302 Found"),
    "/choices": with_note("300 Multiple Choices"),
    "/choices-preferred": with_note("300 Multiple Choices", "Location: /elsewhere"),
    "/use-proxy": with_note("305 Use Proxy", "Location: http://127.0.0.1:9/"),
    "/switch-proxy": with_note("306 Switch Proxy", "Location: /elsewhere"),
    "/unknown-redirect": with_note("399 Somewhere", "Location: /elsewhere"),
    "/unknown-choices": with_note("399 Somewhere"),
    "/gone": status("410 Gone"),
    "/forbidden": status("403 Forbidden"),
    "/teapot": status("418 I'm a teapot"),
    "/broken": status("500 Internal Server Error"),
    "/busy": status("503 Service Unavailable", "Retry-After: 120"),
    "/busy-for-ever": status("503 Service Unavailable", "Retry-After: 99999999999999999999"),
    "/too-many": status("429 Too Many Requests"),
    "/unasked-304": status("304 Not Modified"),
    "/unasked-206": status("206 Partial Content", "Content-Range: bytes 0-3/100"),
    "/unasked-206-whole": lambda exchange: exchange.answer(
        b"<title>All of it</title>",
        "Content-Type: text/html",
        "Content-Range: bytes 0-23/24",
        status="206 Partial Content",
    ),
    "/unasked-206-lying": status("206 Partial Content", "Content-Range: bytes 0-99/100"),
    "/unasked-206-cut": chunked_part,
    "/unasked-206-bare": status("206 Partial Content"),
    "/gzip": coded("gzip", gzip_of(b"<title>Packed</title>")),
    "/bomb": lambda exchange: exchange.page(bomb(), "Content-Encoding: gzip"),
    "/endless-bomb": endless_bomb,
    "/double-bomb": lambda exchange: exchange.page(gzip_of(bomb()), "Content-Encoding: gzip, gzip"),
    "/bad-gzip": coded("gzip", b"<title>I am not packed</title>"),
    "/cut-gzip": coded("gzip", gzip_of(text_of(100_000))[:-20]),
    "/unknown-coding": coded("lzma-and-a-prayer", b"?"),
    "/many-codings": coded(", ".join(["gzip"] * 1000), gzip_of(b"x")),
    "/nul": nul_bytes,
    "/bad-charset": bad_charset,
    "/lying-charset": lying_charset,
    "/deep": deep,
    "/wide": wide,
    "/many-links": many_links,
    "/many-attributes": many_attributes,
    "/binary": binary,
    "/calendar/*": calendar,
    "/trap": trap,
    "/trap/*": trap,
}

"""A real server on loopback that misbehaves on purpose: one path per misbehaviour, over raw sockets.

`HostileServer()` serves `PAGES`; a test that needs other pages or another robots.txt passes its own. What endless
pages do ends when the client hangs up or the server is stopped, never by a count.
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

Behaviour = Callable[["Guest"], None]
HTML = "Content-Type: text/html; charset=utf-8"


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    method: str
    path: str
    raw: bytes
    at: float

    @property
    def headers(self) -> dict[str, str]:
        """Header values by lower-case name."""
        pairs = (line.partition(":") for line in self.raw.decode("latin-1").split("\r\n")[1:] if line)
        return {name.strip().lower(): value.strip() for name, _, value in pairs}


class Guest:
    """One client with one request, and the ways to treat it."""

    def __init__(self, connection: socket.socket, request: Request, stopping: threading.Event) -> None:
        self.connection, self.request, self.stopping = connection, request, stopping
        self.stays = False  # the connection is kept for another request

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.connection.sendall(data)

    def head(self, *lines: str, status: str = "200 OK") -> None:
        """Send a status line and headers."""
        self.send("".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", *lines, "")).encode("latin-1"))

    def answer(self, body: bytes = b"", *lines: str, status: str = "200 OK") -> None:
        """Answer as a good server would, and keep the connection."""
        self.head(*lines, f"Content-Length: {len(body)}", status=status)
        self.send(body)
        self.stays = True

    def page(self, body: bytes, *lines: str) -> None:
        """Answer with a page."""
        self.answer(body, HTML, *lines)

    def forever(self, data: bytes, pause: float = 0.0) -> None:
        """Send the same bytes again and again until the client hangs up."""
        while not self.stopping.wait(pause) if pause else not self.stopping.is_set():
            self.send(data)

    def reset(self) -> None:
        """Cut the line without a goodbye."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@dataclass
class HostileServer:
    """Serves behaviours by path, one thread per connection; `with HostileServer() as server:`."""

    pages: Mapping[str, Behaviour] = field(default_factory=lambda: PAGES)
    robots: Behaviour | None = None  # None: there is no robots.txt
    tls: ssl.SSLContext | None = None
    speak: Callable[[socket.socket, "HostileServer"], bool] | None = None  # another protocol than HTTP/1.1
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
        """Hang up on everybody."""
        with self._lock:
            for connection in self._open:
                _hang_up(connection)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._socket.getsockname()[1])

    @property
    def host(self) -> Host:
        """Scheme and authority."""
        return Host(f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}")

    @property
    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [request.path for request in self.requests]

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:  # we are closing
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections += 1
            thread = threading.Thread(target=self._welcome, args=(connection,))
            with self._lock:
                self._open.add(connection)
            self._threads.append(thread)
            thread.start()

    def _welcome(self, connection: socket.socket) -> None:
        line = connection
        try:
            if self.tls is not None:
                line = self.tls.wrap_socket(connection, server_side=True)
            while self.speak(line, self) if self.speak else self._serve(line):
                pass
        except (OSError, ssl.SSLError):  # the client hung up, which is often what the test is about
            pass
        finally:
            with self._lock:
                self._open.discard(connection)
            line.close()
            connection.close()

    def _serve(self, connection: socket.socket) -> bool:
        """Answer one request; say whether another may follow."""
        raw = _read_head(connection)
        if not raw:
            return False
        method, path, *_ = raw.decode("latin-1").split(" ", 2)
        request = Request(method, path, raw, time.monotonic())
        self.requests.append(request)
        guest = Guest(connection, request, self._stopping)
        self._behaviour(path)(guest)
        return guest.stays

    def _behaviour(self, path: str) -> Behaviour:
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
    with suppress(OSError):  # it already was
        connection.shutdown(socket.SHUT_RDWR)


def rules(text: str) -> Behaviour:
    """A robots.txt with these lines."""
    return lambda guest: guest.answer(text.encode(), "Content-Type: text/plain")


def text_of(size: int) -> bytes:
    return b"<p>" + b"sand " * (size // 5) + b"</p>"


# What a good server does.


def missing(guest: Guest) -> None:
    guest.answer(b"<h1>no such page</h1>", HTML, status="404 Not Found")


def home(guest: Guest) -> None:
    links = b"".join(b'<li><a href="%s">%s</a>' % (path.encode(), path.encode()) for path in PAGES if "*" not in path)
    guest.page(b"<!doctype html><title>Harbour</title><ul>" + links + b"</ul>")


def tagged(guest: Guest) -> None:
    """A page with validators: 304 if the client knows it."""
    if guest.request.headers.get("if-none-match") == '"tide"':
        guest.answer(b"", 'ETag: "tide"', status="304 Not Modified")
    else:
        guest.page(b"<title>Tide</title>low", 'ETag: "tide"', "Last-Modified: Tue, 01 Oct 2024 10:00:00 GMT")


# Bodies without end or measure.


def endless_body(guest: Guest) -> None:
    guest.head(HTML)
    guest.forever(text_of(65536))


def endless_chunks(guest: Guest) -> None:
    guest.head(HTML, "Transfer-Encoding: chunked")
    guest.forever(b"8000\r\n" + b"a" * 0x8000 + b"\r\n")


def huge_length(guest: Guest) -> None:
    guest.head(HTML, "Content-Length: 1000000000000")
    guest.forever(text_of(65536))


def drip(guest: Guest) -> None:
    guest.head(HTML, "Content-Length: 1000000")
    guest.forever(b"a", pause=0.05)


def drip_head(guest: Guest) -> None:
    guest.send(b"HTTP/1.1 200 OK\r\n")
    guest.forever(b"X: y\r\n", pause=0.05)


def silent(guest: Guest) -> None:
    guest.stopping.wait()


# Heads out of control.


def header_flood(guest: Guest) -> None:
    guest.send(b"HTTP/1.1 200 OK\r\n")
    guest.forever(b"".join(b"X-Flood-%d: %s\r\n" % (n, b"a" * 100) for n in range(100)))


def long_header(guest: Guest) -> None:
    guest.send(b"HTTP/1.1 200 OK\r\nX-Long: ")
    guest.forever(b"a" * 65536)


def interim_flood(guest: Guest) -> None:
    guest.forever(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n")


def interim(guest: Guest) -> None:
    guest.send(b'HTTP/1.1 103 Early Hints\r\nETag: "early"\r\n\r\n')
    guest.page(b"<title>After the hints</title>")


# Broken framing.


def bad_chunk(guest: Guest) -> None:
    guest.head(HTML, "Transfer-Encoding: chunked")
    guest.send(b"5\r\nhello\r\nnot-a-size\r\nworld\r\n0\r\n\r\n")


def chunked_part(guest: Guest) -> None:
    guest.head(HTML, "Transfer-Encoding: chunked", "Content-Range: bytes 0-99/100", status="206 Partial Content")
    guest.send(b"4\r\nhalf\r\n0\r\n\r\n")


def endless_chunk_size(guest: Guest) -> None:
    guest.head(HTML, "Transfer-Encoding: chunked")
    guest.send(b"ffffffffffffffffffffffff\r\n")
    guest.forever(b"a" * 65536)


def cut_chunks(guest: Guest) -> None:
    guest.head(HTML, "Transfer-Encoding: chunked")
    guest.send(b"ff\r\nonly a little")


def short_body(guest: Guest) -> None:
    guest.head(HTML, "Content-Length: 1000")
    guest.send(b"<title>Cut</title>")


def long_body(guest: Guest) -> None:
    guest.head(HTML, "Content-Length: 18")
    guest.send(b"<title>Cut</title> and then some more that was not announced")


def two_lengths(guest: Guest) -> None:
    guest.head(HTML, "Content-Length: 5", "Content-Length: 50")
    guest.send(b"hello")


def negative_length(guest: Guest) -> None:
    guest.head(HTML, "Content-Length: -5")
    guest.send(b"hello")


def no_status(guest: Guest) -> None:
    guest.send(b"<html>I never heard of status lines</html>")


def bad_status(guest: Guest) -> None:
    guest.send(b"HTTP/1.1 banana\r\nContent-Length: 0\r\n\r\n")


def close(guest: Guest) -> None:
    """Hang up without a word."""


def reset(guest: Guest) -> None:
    guest.head(HTML, "Content-Length: 1000")
    guest.reset()


def trailers(guest: Guest) -> None:
    guest.head(HTML, "Transfer-Encoding: chunked", "Trailer: X-Last")
    guest.send(b"16\r\n<title>Trailed</title>\r\n0\r\nX-Last: word\r\nLocation: /elsewhere\r\n\r\n")
    guest.stays = True


# Redirects.


def redirect_to(target: str, status: str = "302 Found") -> Behaviour:
    return lambda guest: guest.answer(b"", f"Location: {target}", status=status)


def redirect_forever(guest: Guest) -> None:
    step = int(guest.request.path.rpartition("/")[2] or 0)
    guest.answer(b"", f"Location: /hop/{step + 1}", status="302 Found")


def redirect_without_target(guest: Guest) -> None:
    guest.answer(b"", status="301 Moved Permanently")


def with_note(line: str, *headers: str) -> Behaviour:
    """An answer that says in its body where to go on."""
    note = b"<title>Somewhere else</title><p>It is <a href=/elsewhere>here</a> or <a href=/there>there</a>."
    return lambda guest: guest.answer(note, "Content-Type: text/html", *headers, status=line)


# Refusals.


def status(line: str, *headers: str) -> Behaviour:
    return lambda guest: guest.answer(line.encode(), *headers, status=line)


# Content codings.


def coded(coding: str, body: bytes) -> Behaviour:
    return lambda guest: guest.page(body, f"Content-Encoding: {coding}")


def gzip_of(data: bytes) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return packer.compress(data) + packer.flush()


@cache
def bomb(size: int = 64 * 1024 * 1024) -> bytes:
    """A gzip stream that unpacks to a thousand times its size."""
    packer = zlib.compressobj(9, wbits=31)
    block = bytes(1024 * 1024)
    return b"".join([packer.compress(block) for _ in range(size // len(block))]) + packer.flush()


def endless_bomb(guest: Guest) -> None:
    guest.head(HTML, "Content-Encoding: gzip")
    packer = zlib.compressobj(9, wbits=31)
    while not guest.stopping.is_set():
        guest.send(packer.compress(bytes(1024 * 1024)) or b"")


# Pages no author would write.


def nul_bytes(guest: Guest) -> None:
    guest.page(b"<title>N\0ul</title>" + b'\0<a href="/a\0b">x</a>' * 1000)


def bad_charset(guest: Guest) -> None:
    guest.answer("<title>Caf\u00e9</title>".encode("latin-1"), "Content-Type: text/html; charset=klingon-8")


def lying_charset(guest: Guest) -> None:
    guest.answer("<title>Caf\u00e9 \u20ac</title>".encode("utf-16"), "Content-Type: text/html; charset=us-ascii")


def deep(guest: Guest) -> None:
    guest.page(b"<title>Deep</title>" + b"<div>" * 1_000_000 + b'<a href="/bottom">x</a>')


def wide(guest: Guest) -> None:
    guest.page(b"<title>Wide</title>" + b"<p>x" * 1_000_000)


def many_links(guest: Guest) -> None:
    guest.page(b"<title>Links</title>" + ten_million_bytes_of_links())


@cache
def ten_million_bytes_of_links() -> bytes:
    return b"".join([b'<a href="/l/%d">%d</a>' % (n, n) for n in range(400_000)])[:10_000_000]


def many_attributes(guest: Guest) -> None:
    guest.page(b"<title>Attributes</title><p " + b" ".join(b"a%d=1" % n for n in range(200_000)) + b">")


def binary(guest: Guest) -> None:
    guest.page(bytes(range(256)) * 400)


def calendar(guest: Guest) -> None:
    """Every day links to the next, for ever."""
    day = int(guest.request.path.rpartition("/")[2])
    links = b"".join(
        b'<a href="/calendar/%d">day</a><a href="/calendar/%d?sid=%x">day</a>' % (d, d, d * 2654435761)
        for d in range(day + 1, day + 11)
    )
    guest.page(b"<title>Day</title>" + links)


def trap(guest: Guest) -> None:
    """A hundred thousand links that exist only here."""
    links = b"".join(b'<a href="/trap/x/x/x/x/%d?session=%x">t</a>' % (n, n * 2654435761) for n in range(100_000))
    guest.page(b"<title>Trap</title>" + links)


def cut_head(sent: bytes) -> Behaviour:
    """Send the beginning of a response head, then close the connection."""
    return lambda guest: guest.send(sent)


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


PAGES: dict[str, Behaviour] = {
    **{path: cut_head(sent) for path, sent in CUT_HEADS.items()},
    "/": home,
    "/ok": lambda guest: guest.page(b'<title>Fine</title><a href="/">home</a>'),
    "/tagged": tagged,
    "/text": lambda guest: guest.answer(b"plain words", "Content-Type: text/plain"),
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
    "/unasked-206-whole": lambda guest: guest.answer(
        b"<title>All of it</title>",
        "Content-Type: text/html",
        "Content-Range: bytes 0-23/24",
        status="206 Partial Content",
    ),
    "/unasked-206-lying": status("206 Partial Content", "Content-Range: bytes 0-99/100"),
    "/unasked-206-cut": chunked_part,
    "/unasked-206-bare": status("206 Partial Content"),
    "/gzip": coded("gzip", gzip_of(b"<title>Packed</title>")),
    "/bomb": lambda guest: guest.page(bomb(), "Content-Encoding: gzip"),
    "/endless-bomb": endless_bomb,
    "/double-bomb": lambda guest: guest.page(gzip_of(bomb()), "Content-Encoding: gzip, gzip"),
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

"""A seeded web on loopback: sites of a given shape, served by a real server that counts what it sends."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from threading import Lock, Thread

WORDS = tuple(
    a + b
    for a in ("ka", "lo", "mi", "ne", "su", "ta", "ri", "vo", "pe", "du")
    for b in ("ra", "len", "tor", "mis", "nad", "sel", "vik")
)
FIRST = 1_700_000_000  # when every page was written, unless it was edited


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a site is: pages that links lead to, pages in all, share that changes between two visits."""

    name: str
    linked: int
    total: int
    changed: float


@dataclass
class Site:
    """Pages by path, and when each was last written."""

    pages: dict[str, bytes]
    modified: dict[str, int] = field(default_factory=dict)

    def digest(self) -> str:
        """Give the digest of all pages: what a measurement speaks of."""
        whole = hashlib.sha256()
        for path in sorted(self.pages):
            whole.update(path.encode() + b"\0" + self.pages[path] + b"\0")
        return whole.hexdigest()[:16]


def make_site(shape: Shape, draw: Random) -> Site:
    """Grow a site: each page hangs on an earlier one, well-linked pages get more links; some hang on nothing."""
    children: dict[int, list[int]] = {number: [] for number in range(shape.total)}
    ends: list[int] = [0]
    for number in range(1, shape.linked):
        parent = draw.choice(ends) if draw.random() < 0.6 else draw.randrange(number)
        children[parent].append(number)
        ends += [parent, number]
    pages = {}
    for number in range(shape.total):
        others = [draw.randrange(min(number + 40, shape.linked)) for _ in range(draw.randrange(2, 9))]
        pages[path_of(number)] = page(number, [*children[number], *others], draw)
    return Site(pages, dict.fromkeys(pages, FIRST))


def path_of(number: int) -> str:
    """Name a page."""
    return "/" if number == 0 else f"/section{number % 11}/page{number}.html"


def page(number: int, links: Iterable[int], draw: Random) -> bytes:
    """Write a page."""
    paragraphs = "".join(f"<p>{sentence(draw, draw.randrange(20, 90))}</p>\n" for _ in range(draw.randrange(3, 9)))
    anchors = "".join(f'<li><a href="{path_of(link)}">{sentence(draw, 2)}</a></li>\n' for link in links)
    return (
        f"<!doctype html><html><head><title>Page {number}</title></head><body><h1>{sentence(draw, 3)}</h1>\n"
        f"{paragraphs}<ul>\n{anchors}</ul></body></html>"
    ).encode()


def sentence(draw: Random, words: int) -> str:
    """Make some words."""
    return " ".join(draw.choice(WORDS) for _ in range(words))


def edit(site: Site, share: float, draw: Random, at: int) -> set[str]:
    """Change a share of the pages, a paragraph each; give their paths."""
    changed = set(draw.sample(sorted(site.pages), round(share * len(site.pages))))
    for path in sorted(changed):
        body = site.pages[path]
        site.pages[path] = body.replace(b"<ul>", f"<p>edited: {sentence(draw, 30)}</p>\n<ul>".encode(), 1)
        site.modified[path] = at
    return changed


class Server(ThreadingHTTPServer):
    """Serves a site as it is now; remembers what was asked for, in order."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, site: Site, latency: float = 0.0, extra: Mapping[str, tuple[int, bytes]] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.site, self.latency, self.extra = site, latency, dict(extra or {})
        self.lock = Lock()
        self.forget()

    def forget(self) -> None:
        """Begin to count anew."""
        self.asked: list[str] = []
        self.sent: list[str] = []  # paths whose body went out
        self.bytes = 0
        self.first = self.last = 0.0  # when the first page was asked for, and the last answered

    @property
    def root(self) -> str:
        """Where the site is."""
        return f"http://127.0.0.1:{self.server_port}"

    def look_up(self, path: str) -> tuple[int, bytes, str]:
        """Find the status, body and type for a path."""
        if path in self.extra:
            status, body = self.extra[path]
            return status, body, "text/html; charset=utf-8"
        if path == "/robots.txt":
            return 200, f"User-agent: *\nDisallow:\nSitemap: {self.root}/sitemap.xml\n".encode(), "text/plain"
        if path == "/sitemap.xml":
            return 200, sitemap(self.site, self.root), "application/xml"
        body = self.site.pages.get(path, b"")
        return (200 if body else 404), body, "text/html; charset=utf-8"


def sitemap(site: Site, root: str) -> bytes:
    """Write the sitemap of a site."""
    rows = (
        f"<url><loc>{root}{path}</loc><lastmod>{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}</lastmod></url>"
        for path, at in site.modified.items()
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(rows)}</urlset>'.encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body go out at once
    server: Server

    def do_GET(self) -> None:
        if self.server.latency:
            time.sleep(self.server.latency)
        status, body, kind = self.server.look_up(self.path)
        tag = f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'
        known = self.headers.get("If-None-Match") == tag and status == 200
        with self.server.lock:
            self.server.asked.append(self.path)
            self.server.last = time.perf_counter()
            self.server.first = self.server.first or self.server.last - self.server.latency
            if not known:
                self.server.sent.append(self.path)
                self.server.bytes += len(body)
        self.send_response(304 if known else status)
        self.send_header("ETag", tag)
        if status in (301, 302):
            self.send_header("Location", body.decode())
        if not known:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not known:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Serve until the block ends."""
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""The publisher on its own: beside any web server, reading its document root and its access log."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from sanderling.clock import Clock, real
from sanderling.errors import UsageError
from sanderling.publisher.change_log import apply_rules, forget
from sanderling.publisher.crawlers import Verify
from sanderling.publisher.docroot import Scan, scan
from sanderling.publisher.indexnow import ENDPOINT, ping
from sanderling.publisher.page_views import Reading, follow
from sanderling.publisher.published_site import Site
from sanderling.publisher.responses import Ask, answer, ours, plain
from sanderling.publisher.robots import LARGEST, Rules, read_rules
from sanderling.publisher.state_db import Connection, connect, facts
from sanderling.publisher.volatile_files import write_beside
from sanderling.publisher.wsgi import headers_of, reply

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

log = logging.getLogger("sanderling.publisher")

MOST_THREADS = 32
FORGET_SECONDS = 86_400.0
REST = 20.0  # times as long as a look at the files took, until the next: at most a twentieth of a core


@dataclass(frozen=True, slots=True)
class Post:
    """What the stand-alone publisher watches, and how often."""

    root: Path
    access_log: Path | None = None
    scan_seconds: float = 60.0
    log_seconds: float = 1.0
    side_files: bool = False  # write TVI files into the document root
    indexnow_endpoint: str = ENDPOINT
    verify: Verify | None = None  # how crawlers that claim a name are verified; None: they are not


@dataclass(frozen=True, slots=True)
class Round:
    """What one round brought."""

    scan: Scan | None
    reading: Reading
    told: int


class Watch:
    """Looks at the document root and the log, again and again."""

    def __init__(self, site: Site, post: Post, clock: Clock = real) -> None:
        self.site, self.post, self.clock = site, post, clock
        self.rules = Rules()
        self.stopped = threading.Event()
        self._due: dict[str, float] = {}

    def round(self, db: Connection, *, everything: bool = False) -> Round:
        """Do what is due."""
        now = int(self.clock() * 1000)
        found = self._scan(db, now) if everything or self._is_due("scan", self.post.scan_seconds) else None
        reading = Reading()
        if self.post.access_log and (everything or self._is_due("log", self.post.log_seconds)):
            reading = follow(db, self.site, self.rules, self.post.access_log, now, self.post.verify)
        if self._is_due("forget", FORGET_SECONDS):
            forget(db, self.site, now)
        told = ping(db, self.site, self.post.indexnow_endpoint) if self.site.indexnow_key and found else 0
        return Round(found, reading, told)

    def _is_due(self, task: str, seconds: float) -> bool:
        now = self.clock()
        if now < self._due.get(task, 0.0) <= now + max(seconds, 3600.0):  # a clock that jumped back does not stop us
            return False
        self._due[task] = now + seconds
        return True

    def _scan(self, db: Connection, now: int) -> Scan:
        self.rules = read_rules(robots_of(self.post.root))
        apply_rules(db, self.site, self.rules, now)
        before, begun = facts(db).stamp, time.monotonic()
        found = scan(db, self.site, self.rules, self.post.root, now)
        if self.post.side_files:
            self._write_side_files(db, before)
        self._due["scan"] = max(self._due.get("scan", 0.0), self.clock() + REST * (time.monotonic() - begun))
        return found

    def _write_side_files(self, db: Connection, before: int) -> None:
        for (path,) in db.execute("SELECT path FROM pages WHERE noticed > ? AND deleted = 0", (before,)):
            file = self.post.root / _file_name(path, self.site)
            try:
                write_beside(file)
            except OSError as wrong:
                log.warning("no side file for %s: %s", file, wrong)

    def run(self) -> None:
        """Go on until stopped; a store that is busy or a folder that is away is tried again."""
        with closing(connect(self.site.state)) as db:
            while not self.stopped.wait(min(self.post.log_seconds, self.post.scan_seconds)):
                try:
                    self.round(db)
                except (OSError, UsageError, sqlite3.OperationalError) as wrong:
                    log.warning("this round failed and is tried again: %s", wrong)


def _file_name(path: str, site: Site) -> str:
    from urllib.parse import unquote

    name = unquote(path.partition("?")[0], errors="surrogateescape").lstrip("/")
    return name + site.index if not name or name.endswith("/") else name


def robots_of(root: Path) -> str:
    """Read the robots.txt of a document root; empty if it has none."""
    try:
        with (root / "robots.txt").open("rb") as file:
            return file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""


def application(site: Site, clock: Clock = real) -> Callable[["WSGIEnvironment", "StartResponse"], Iterable[bytes]]:
    """Make the small web application that answers for the lists alone."""

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        path, method = environ.get("PATH_INFO", ""), environ["REQUEST_METHOD"]
        if not ours(site, path):
            lists = f"{site.sitemap_path} and {site.changes_path}"
            return reply(plain(404, f"only {lists} are answered here"), start_response, method == "HEAD")
        ask = Ask(path, environ.get("QUERY_STRING", ""), method, headers_of(environ))
        with closing(connect(site.state)) as db:
            return reply(answer(site, db, ask, int(clock() * 1000)), start_response, method == "HEAD")

    return app


class _Server(ThreadingMixIn, WSGIServer):
    """A thread per request, but never more than a few."""

    daemon_threads = True
    request_queue_size = 128
    _room = threading.BoundedSemaphore(MOST_THREADS)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._room.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()


class _Handler(WSGIRequestHandler):
    timeout = 10  # seconds a visitor may keep us waiting

    def log_message(self, format: str, *args: Any) -> None:
        log.debug(format, *args)

    def address_string(self) -> str:
        return str(self.client_address[0])  # no look-up of names


def quiet_server(host: str, port: int) -> WSGIServer:
    """Make a small server that logs nothing and bounds its threads; port 0 takes any that is free."""
    return _Server((host, port), _Handler)


def make_server(site: Site, host: str, port: int, clock: Clock = real) -> WSGIServer:
    """Open the door for the lists."""
    server = quiet_server(host, port)
    server.set_app(application(site, clock))
    return server

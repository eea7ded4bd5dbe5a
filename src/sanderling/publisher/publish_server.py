"""Run the publisher next to any web server."""

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

from sanderling.clock import Clock, system_clock
from sanderling.errors import UsageError
from sanderling.publisher.change_log import apply_robots_rules, purge_deletions
from sanderling.publisher.crawlers import VerifyFunction
from sanderling.publisher.docroot import DocrootScan, scan_docroot
from sanderling.publisher.indexnow import ENDPOINT, announce_changes
from sanderling.publisher.page_views import LogReadResult, follow_access_log
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.responses import ListingRequest, build_response, build_text_response, is_publisher_path
from sanderling.publisher.robots_rules import MAX_ROBOTS_BYTES, PathRules, parse_robots_rules
from sanderling.publisher.state_db import Connection, load_publisher_state, open_state_db
from sanderling.publisher.volatile_files import write_tvi_file
from sanderling.publisher.wsgi import get_request_headers, send_response

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

log = logging.getLogger("sanderling.publisher")

MAX_THREADS = 32
PURGE_INTERVAL_SECONDS = 86_400.0
SCAN_PAUSE_FACTOR = 20.0  # pause after a scan, as a multiple of its duration: uses at most a twentieth of a core


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """The files to watch, and the intervals."""

    docroot: Path
    access_log: Path | None = None
    scan_seconds: float = 60.0
    log_seconds: float = 1.0
    write_tvi_files: bool = False
    indexnow_endpoint: str = ENDPOINT
    verify_crawler: VerifyFunction | None = None  # None: crawlers are not verified


@dataclass(frozen=True, slots=True)
class WatchResult:
    scan: DocrootScan | None
    access_log: LogReadResult
    announced: int


class SiteWatcher:
    """Scan the document root and read the access log periodically."""

    def __init__(self, site: PublishedSite, options: WatchOptions, clock: Clock = system_clock) -> None:
        self.site, self.options, self.clock = site, options, clock
        self.rules = PathRules()
        self.stop_event = threading.Event()
        self._next_due: dict[str, float] = {}

    def run_once(self, db: Connection, *, run_all: bool = False) -> WatchResult:
        """Run the tasks that are due."""
        now = int(self.clock() * 1000)
        scan = self._scan_docroot(db, now) if run_all or self._is_due("scan", self.options.scan_seconds) else None
        log_result = LogReadResult()
        if self.options.access_log and (run_all or self._is_due("log", self.options.log_seconds)):
            log_result = follow_access_log(
                db, self.site, self.rules, self.options.access_log, now, self.options.verify_crawler
            )
        if self._is_due("forget", PURGE_INTERVAL_SECONDS):
            purge_deletions(db, self.site, now)
        announced = (
            announce_changes(db, self.site, self.options.indexnow_endpoint) if self.site.indexnow_key and scan else 0
        )
        return WatchResult(scan, log_result, announced)

    def _is_due(self, task: str, seconds: float) -> bool:
        now = self.clock()
        # The upper bound keeps tasks running after the clock was set back.
        if now < self._next_due.get(task, 0.0) <= now + max(seconds, 3600.0):
            return False
        self._next_due[task] = now + seconds
        return True

    def _scan_docroot(self, db: Connection, now: int) -> DocrootScan:
        self.rules = parse_robots_rules(read_robots_text(self.options.docroot))
        apply_robots_rules(db, self.site, self.rules, now)
        previous_commit_time, started_at = load_publisher_state(db).last_commit_time, time.monotonic()
        scan = scan_docroot(db, self.site, self.rules, self.options.docroot, now)
        if self.options.write_tvi_files:
            self._write_tvi_files(db, previous_commit_time)
        self._next_due["scan"] = max(
            self._next_due.get("scan", 0.0), self.clock() + SCAN_PAUSE_FACTOR * (time.monotonic() - started_at)
        )
        return scan

    def _write_tvi_files(self, db: Connection, since: int) -> None:
        for (path,) in db.execute("SELECT path FROM pages WHERE noticed > ? AND deleted = 0", (since,)):
            file = self.options.docroot / _get_file_name(path, self.site)
            try:
                write_tvi_file(file)
            except OSError as error:
                log.warning("cannot write the .tvi file of %s: %s", file, error)

    def run(self) -> None:
        """Run until stopped. Errors are retried."""
        with closing(open_state_db(self.site.state_file)) as db:
            while not self.stop_event.wait(min(self.options.log_seconds, self.options.scan_seconds)):
                try:
                    self.run_once(db)
                except (OSError, UsageError, sqlite3.OperationalError) as error:
                    log.warning("update failed, will be retried: %s", error)


def _get_file_name(path: str, site: PublishedSite) -> str:
    from urllib.parse import unquote

    name = unquote(path.partition("?")[0], errors="surrogateescape").lstrip("/")
    return name + site.index_file if not name or name.endswith("/") else name


def read_robots_text(docroot: Path) -> str:
    """Read robots.txt from a document root, or return an empty string."""
    try:
        with (docroot / "robots.txt").open("rb") as file:
            return file.read(MAX_ROBOTS_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def build_application(
    site: PublishedSite, clock: Clock = system_clock
) -> Callable[["WSGIEnvironment", "StartResponse"], Iterable[bytes]]:
    """Build a WSGI application that serves only the lists."""

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        path, method = environ.get("PATH_INFO", ""), environ["REQUEST_METHOD"]
        if not is_publisher_path(site, path):
            lists = f"{site.sitemap_path} and {site.changes_path}"
            return send_response(
                build_text_response(404, f"only {lists} are served here"), start_response, method == "HEAD"
            )
        request = ListingRequest(path, environ.get("QUERY_STRING", ""), method, get_request_headers(environ))
        with closing(open_state_db(site.state_file)) as db:
            return send_response(
                build_response(site, db, request, int(clock() * 1000)), start_response, method == "HEAD"
            )

    return app


class _ThreadedServer(ThreadingMixIn, WSGIServer):
    """Serve each request in a thread, limited to `MAX_THREADS`."""

    daemon_threads = True
    request_queue_size = 128
    _thread_slots = threading.BoundedSemaphore(MAX_THREADS)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._thread_slots.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._thread_slots.release()


class _QuietRequestHandler(WSGIRequestHandler):
    timeout = 10  # seconds

    def log_message(self, format: str, *args: Any) -> None:
        log.debug(format, *args)

    def address_string(self) -> str:
        return str(self.client_address[0])  # no DNS lookup


def make_quiet_server(host: str, port: int) -> WSGIServer:
    """Create a server without request log. Port 0: any free port."""
    return _ThreadedServer((host, port), _QuietRequestHandler)


def make_publish_server(site: PublishedSite, host: str, port: int, clock: Clock = system_clock) -> WSGIServer:
    server = make_quiet_server(host, port)
    server.set_app(build_application(site, clock))
    return server

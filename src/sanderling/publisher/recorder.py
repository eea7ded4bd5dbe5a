"""Record requests in memory, and write them to the state file in the background.

A failed write is retried. Memory is bounded, and dropped requests are counted.
"""

import logging
import os
import sqlite3
import threading
from collections import Counter, OrderedDict
from functools import lru_cache
from typing import NamedTuple

from sanderling.clock import Clock, system_clock
from sanderling.publisher.change_log import ActivityBatch, apply_robots_rules, purge_deletions, write_batch
from sanderling.publisher.crawlers import VerifyFunction, get_claimed_name, is_bot
from sanderling.publisher.http_dates import parse_time
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.robots_rules import PathRules, parse_robots_rules
from sanderling.publisher.state_db import Connection, open_state_db

log = logging.getLogger("sanderling.publisher")

FLUSH_SECONDS = 5.0
MAX_PENDING_REQUESTS = 50_000
MAX_CACHED_VALIDATORS = 10_000  # detects changes without a database lookup
PAGE_TYPES = ("text/html", "application/xhtml", "application/pdf")
FLUSHES_PER_PURGE = 720


class ServedRequest(NamedTuple):
    path: str
    status: int
    user_agent: str
    is_anonymous: bool = True  # without password and cookie
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    has_noindex: bool = False
    client_address: str = ""


class RequestRecorder:
    """Record requests. Use a single instance per process and site."""

    def __init__(
        self, site: PublishedSite, clock: Clock = system_clock, verify_crawler: VerifyFunction | None = None
    ) -> None:
        self.site, self.clock = site, clock
        self.rules = PathRules()
        self.dropped_requests = 0  # because memory was full
        self._verify_crawler = lru_cache(maxsize=4096)(verify_crawler) if verify_crawler else None
        self._batch, self._bot_requests = ActivityBatch(), Counter[tuple[str, str]]()
        self._validators: OrderedDict[str, str] = OrderedDict()
        self._lock, self._stop_event = threading.Lock(), threading.Event()
        self._db: Connection | None = None
        self._pid, self._flush_count = 0, 0
        self._write_lock = threading.Lock()

    def get_time_ms(self) -> int:
        return int(self.clock() * 1000)

    def record(self, request: ServedRequest) -> None:
        """Record a request (hot path)."""
        with self._lock:
            batch = self._batch
            pages = len(batch.view_counts) + len(batch.served_pages) + len(batch.gone_paths) + len(batch.private_paths)
            if pages + len(self._bot_requests) >= MAX_PENDING_REQUESTS:
                self.dropped_requests += 1
            else:
                self._add_request(request)

    def _add_request(self, request: ServedRequest) -> None:
        status = request.status
        if status in (200, 304):
            if status == 200 and not request.content_type.startswith(PAGE_TYPES):
                return
            if not is_bot(request.user_agent):
                self._batch.view_counts[request.path] += 1
            elif request.user_agent:
                self._bot_requests[
                    (request.user_agent[:200], request.client_address if self._verify_crawler else "")
                ] += 1
            if status == 200 and request.is_anonymous:
                self._add_served_page(request)
        elif status in (404, 410) or (status in (301, 308) and request.is_anonymous):
            self._add_removed_path(self._batch.gone_paths, request.path)
        elif request.is_anonymous and status in (401, 403, 302, 303, 307):
            self._add_removed_path(self._batch.private_paths, request.path)

    def _add_served_page(self, request: ServedRequest) -> None:
        """Add a public page if it is new or its validator changed."""
        if request.has_noindex:
            return self._add_removed_path(self._batch.private_paths, request.path)
        validator = request.etag or request.last_modified
        if self._validators.get(request.path) == validator:
            return None
        self._validators[request.path] = validator
        if len(self._validators) > MAX_CACHED_VALIDATORS:
            self._validators.popitem(last=False)
        self._batch.served_pages[request.path] = (parse_time(request.last_modified), validator)
        self._batch.gone_paths.discard(request.path)
        self._batch.private_paths.discard(request.path)
        return None

    def _add_removed_path(self, removed_paths: set[str], path: str) -> None:
        removed_paths.add(path)
        self._validators.pop(path, None)
        self._batch.served_pages.pop(path, None)

    def mark_changed(self, path: str, modified_ms: int | None = None) -> None:
        """Report a changed page, for applications that know their changes."""
        with self._lock:
            self._batch.changed_pages[path] = modified_ms

    def mark_deleted(self, path: str) -> None:
        with self._lock:
            self._add_removed_path(self._batch.gone_paths, path)

    def load_robots_rules(self, robots_text: str) -> None:
        """Apply robots.txt, and hide disallowed pages at once."""
        rules = parse_robots_rules(robots_text)
        with self._write_lock:
            self.rules = rules
            apply_robots_rules(self.get_connection(), self.site, rules, self.get_time_ms())

    def get_connection(self) -> Connection:
        """Return the connection for writing. Opened on first use, and after a fork."""
        if self._db is None or self._pid != os.getpid():
            self._db, self._pid = open_state_db(self.site.state_file), os.getpid()
        return self._db

    def flush(self) -> None:
        """Write recorded requests now."""
        with self._lock:
            batch, self._batch = self._batch, ActivityBatch()
            bot_requests, self._bot_requests = self._bot_requests, Counter()
        for (agent, address), visits in bot_requests.items():
            verified = self._verify_crawler(agent, address) if self._verify_crawler else False
            batch.crawler_visits[(get_claimed_name(agent), verified)] += visits
        if len(batch):
            try:
                with self._write_lock:
                    write_batch(self.get_connection(), self.site, self.rules, batch, self.get_time_ms())
            except sqlite3.Error as error:
                log.warning(
                    "cannot write %s (%s); the requests are kept and the write is retried", self.site.state_file, error
                )
                self._restore_batch(batch)

    def _restore_batch(self, batch: ActivityBatch) -> None:
        with self._lock:
            newer, self._batch = self._batch, batch
            batch.view_counts.update(newer.view_counts)
            batch.crawler_visits.update(newer.crawler_visits)
            batch.changed_pages |= newer.changed_pages
            for path in newer.served_pages:
                batch.gone_paths.discard(path)
                batch.private_paths.discard(path)
            batch.served_pages |= newer.served_pages
            batch.gone_paths |= newer.gone_paths
            batch.private_paths |= newer.private_paths

    def start(self) -> None:
        threading.Thread(target=self._flush_periodically, name="sanderling-publisher", daemon=True).start()

    def _flush_periodically(self) -> None:
        while not self._stop_event.wait(FLUSH_SECONDS):
            self.flush()
            self._flush_count += 1
            if self._flush_count % FLUSHES_PER_PURGE == 0:
                with self._write_lock:
                    purge_deletions(self.get_connection(), self.site, self.get_time_ms())

    def close(self) -> None:
        """Stop the background thread and write the remaining requests."""
        self._stop_event.set()
        self.flush()
        if self._db is not None:
            self._db.close()
            self._db = None

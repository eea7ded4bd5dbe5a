"""The desk at the door: notes every request in memory, and writes the notes in the background.

A request costs a few look-ups in memory; the disk is touched by one thread, every few seconds. What cannot be written
now (the file is busy, the disk is full) stays and is tried again; memory is bounded, and what is dropped is counted.
"""

import logging
import os
import sqlite3
import threading
from collections import Counter, OrderedDict
from functools import lru_cache
from typing import NamedTuple

from sanderling.clock import Clock, real
from sanderling.publisher.change_log import Batch, apply_rules, forget, record
from sanderling.publisher.crawlers import Verify, claimed_name, is_machine
from sanderling.publisher.http_dates import read_time
from sanderling.publisher.published_site import Site
from sanderling.publisher.robots import Rules, read_rules
from sanderling.publisher.state_db import Connection, connect

log = logging.getLogger("sanderling.publisher")

FLUSH_SECONDS = 5.0
MOST_NOTES = 50_000  # in memory at once
REMEMBERED = 10_000  # pages whose validator is remembered, to see a change without asking the disk
PAGE_TYPES = ("text/html", "application/xhtml", "application/pdf")
FORGET_EVERY = 720  # flushes


class Visit(NamedTuple):
    """One request and how it was answered."""

    path: str  # canonical
    status: int
    agent: str
    anonymous: bool = True  # it carried no password and no cookie
    kind: str = ""  # content type
    etag: str = ""
    last_modified: str = ""
    noindex: bool = False
    address: str = ""


class Desk:
    """Notes visits; one per process and site."""

    def __init__(self, site: Site, clock: Clock = real, verify: Verify | None = None) -> None:
        self.site, self.clock = site, clock
        self.rules = Rules()
        self.lost = 0  # notes dropped because memory was full
        self._verify = lru_cache(maxsize=4096)(verify) if verify else None
        self._batch, self._callers = Batch(), Counter[tuple[str, str]]()
        self._known: OrderedDict[str, str] = OrderedDict()
        self._lock, self._wake = threading.Lock(), threading.Event()
        self._db: Connection | None = None
        self._pid, self._flushes = 0, 0
        self._writing = threading.Lock()

    def now(self) -> int:
        """The time in milliseconds."""
        return int(self.clock() * 1000)

    def see(self, visit: Visit) -> None:
        """Note one visit; the hot path."""
        with self._lock:
            batch = self._batch
            pages = len(batch.hits) + len(batch.seen) + len(batch.gone) + len(batch.private)
            if pages + len(self._callers) >= MOST_NOTES:
                self.lost += 1
            else:
                self._note(visit)

    def _note(self, visit: Visit) -> None:
        status = visit.status
        if status in (200, 304):
            if status == 200 and not visit.kind.startswith(PAGE_TYPES):
                return
            if not is_machine(visit.agent):
                self._batch.hits[visit.path] += 1
            elif visit.agent:
                self._callers[(visit.agent[:200], visit.address if self._verify else "")] += 1
            if status == 200 and visit.anonymous:
                self._take_up(visit)
        elif status in (404, 410) or (status in (301, 308) and visit.anonymous):
            self._drop(self._batch.gone, visit.path)
        elif visit.anonymous and status in (401, 403, 302, 303, 307):
            self._drop(self._batch.private, visit.path)

    def _take_up(self, visit: Visit) -> None:
        """Take up a page that anybody may see, if it is new or its validator changed."""
        if visit.noindex:
            return self._drop(self._batch.private, visit.path)
        mark = visit.etag or visit.last_modified
        if self._known.get(visit.path) == mark:
            return None
        self._known[visit.path] = mark
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        self._batch.seen[visit.path] = (read_time(visit.last_modified), mark)
        self._batch.gone.discard(visit.path)
        self._batch.private.discard(visit.path)
        return None

    def _drop(self, where: set[str], path: str) -> None:
        where.add(path)
        self._known.pop(path, None)
        self._batch.seen.pop(path, None)

    def touch(self, path: str, modified: int | None = None) -> None:
        """Say that a page changed: for applications that know it themselves."""
        with self._lock:
            self._batch.touched[path] = modified

    def remove(self, path: str) -> None:
        """Say that a page was deleted."""
        with self._lock:
            self._drop(self._batch.gone, path)

    def learn_rules(self, robots: str) -> None:
        """Take in robots.txt, and hide what it forbids before anything more is listed."""
        rules = read_rules(robots)
        with self._writing:
            self.rules = rules
            apply_rules(self.db(), self.site, rules, self.now())

    def db(self) -> Connection:
        """The connection that writes; opened when first needed."""
        if self._db is None or self._pid != os.getpid():
            self._db, self._pid = connect(self.site.state), os.getpid()
        return self._db

    def flush(self) -> None:
        """Write the notes now."""
        with self._lock:
            batch, self._batch = self._batch, Batch()
            callers, self._callers = self._callers, Counter()
        for (agent, address), visits in callers.items():
            verified = self._verify(agent, address) if self._verify else False
            batch.crawlers[(claimed_name(agent), verified)] += visits
        if len(batch):
            try:
                with self._writing:
                    record(self.db(), self.site, self.rules, batch, self.now())
            except sqlite3.Error as wrong:
                log.warning("%s could not be written (%s); the notes are kept and tried again", self.site.state, wrong)
                self._put_back(batch)

    def _put_back(self, batch: Batch) -> None:
        with self._lock:
            newer, self._batch = self._batch, batch
            batch.hits.update(newer.hits)
            batch.crawlers.update(newer.crawlers)
            batch.touched |= newer.touched
            for path in newer.seen:
                batch.gone.discard(path)
                batch.private.discard(path)
            batch.seen |= newer.seen
            batch.gone |= newer.gone
            batch.private |= newer.private

    def start(self) -> None:
        """Begin to write in the background."""
        threading.Thread(target=self._run, name="sanderling-publisher", daemon=True).start()

    def _run(self) -> None:
        while not self._wake.wait(FLUSH_SECONDS):
            self.flush()
            self._flushes += 1
            if self._flushes % FORGET_EVERY == 0:
                with self._writing:
                    forget(self.db(), self.site, self.now())

    def close(self) -> None:
        """Stop the background thread and write what is left."""
        self._wake.set()
        self.flush()
        if self._db is not None:
            self._db.close()
            self._db = None

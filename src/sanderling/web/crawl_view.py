"""The window onto a collection on disk: reads its database and archive while a crawl may be writing."""

import json
import sqlite3
import threading
import time
from pathlib import Path

from msgspec.structs import replace

from sanderling.changes.word_report import Report
from sanderling.clock import Clock, real
from sanderling.db.connection import Connection, close_with
from sanderling.storage.collection import get_meta, read_collection
from sanderling.storage.signal_log import Raised, Signal, last_raised
from sanderling.web.crawl_process import Errand
from sanderling.web.queries import dashboard, timeline
from sanderling.web.queries.dashboard import Counts
from sanderling.web.view_models import (
    Body,
    ChangeRow,
    DueRow,
    ErrorRow,
    HostRow,
    MigrantRow,
    PageRow,
    Point,
    Status,
    VersionRow,
)

HEAVY_SECONDS = 5.0  # counts over whole tables are taken at most so often
HOST_SECONDS = 60.0


class CrawlWindow:
    """Looks into one collection; every thread has a connection of its own."""

    def __init__(self, folder: Path, clock: Clock = real) -> None:
        self.folder = folder
        self.clock = clock
        self.errand = Errand(folder)
        self._local = threading.local()
        self._counts: tuple[float, Counts] | None = None
        self._lock = threading.Lock()
        self._by_host: dict[int, tuple[float, int]] = {}

    @property
    def db(self) -> Connection:
        """This thread's connection."""
        if not hasattr(self._local, "collection"):
            self._local.collection = read_collection(self.folder)
            close_with(self._local.collection, self._local.collection.db)  # threads of a server come and go
            if isinstance(self._local.collection.db, sqlite3.Connection):
                self._local.collection.db.execute("PRAGMA cache_size=-8192")
        found: Connection = self._local.collection.db
        return found

    # The crawl as a whole

    def status(self) -> Status:
        """Everything the dashboard shows in numbers."""
        now, db, sums = self.clock(), self.db, self._heavy()
        (visits,) = db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()
        (waiting,) = db.execute("SELECT coalesce(sum(waiting), 0) FROM hosts").fetchone()
        (flying,) = db.execute("SELECT count(*) FROM leases").fetchone()
        pages, data = dashboard.speed(db, now, visits)
        running = self.errand.running()
        resting = [row.state == "deactivated" for row in self.errand.migrants()]
        paused = bool(resting) and all(resting) if running else waiting > 0
        return Status(
            at=now, running=running, paused=paused, session=int(get_meta(db, "session", "1")),
            complete=get_meta(db, "complete") == "1", finish_reason=get_meta(db, "finish_reason"),
            pages=sums.pages, urls=sums.urls, waiting=waiting, in_flight=flying if running else 0, visits=visits,
            pages_per_second=pages, bytes_per_second=data, bytes_stored=sums.stored, bytes_archived=sums.archived,
            bytes_downloaded=sums.downloaded, bytes_saved=sums.saved, changed_today=sums.changed_today,
            fresh=sums.fresh, indexed=0, index_behind=0, seeds=tuple(json.loads(get_meta(db, "seeds", "[]"))),
        )  # fmt: skip

    def _heavy(self) -> Counts:
        with self._lock:
            now = time.monotonic()
            if self._counts is None or now - self._counts[0] > HEAVY_SECONDS:
                self._counts = (now, dashboard.count_all(self.db, self.clock()))
            return self._counts[1]

    def hosts(self, most: int) -> list[HostRow]:
        """Hosts that were ever knocked at: those with work first, then those in trouble."""
        return [replace(row, pages=self._pages_of(id_)) for id_, row in dashboard.host_rows(self.db, most)]

    def _pages_of(self, host: int) -> int:
        """Pages of a host, counted at most once a minute."""
        taken, count = self._by_host.get(host, (-1e9, 0))
        if time.monotonic() - taken > HOST_SECONDS:
            count = dashboard.pages_of(self.db, host)
            self._by_host[host] = (time.monotonic(), count)
        return count

    def migrants(self) -> list[MigrantRow]:
        """Who is at work, as the crawl itself says; asked at most every few seconds, whoever looks."""
        return self.errand.migrants()

    def errors(self, most: int) -> list[ErrorRow]:
        """The last visits that went wrong."""
        return dashboard.last_errors(self.db, most)

    def reasons(self) -> dict[str, dict[str, int]]:
        """Why URLs were skipped or given up."""
        return dashboard.why_not(self.db)

    def signals(self) -> dict[Signal, Raised]:
        """What components last told each other, as the log of signals has it."""
        return last_raised(self.folder / "logs")

    def rates(self, minutes: int) -> list[Point]:
        """Visits per second, minute by minute."""
        return dashboard.rates(self.db, self.clock(), minutes)

    def freshness(self) -> list[Point]:
        """Share of pages looked at within so many days, for the last thirty days."""
        return dashboard.freshness(self.db, self.clock())

    def due(self, most: int) -> list[DueRow]:
        """What is visited next, and why in that order."""
        return dashboard.due(self.db, self.clock(), most)

    # Pages and their past

    def changes(self, kind: str, site: str, since: float, offset: int, most: int) -> list[ChangeRow]:
        """What changed, newest first."""
        return timeline.changes(self.db, kind, site, since, offset, most)

    def page(self, url: str) -> PageRow | None:
        """A page as it is now; None if it was never stored."""
        return timeline.page(self.db, url)

    def history(self, url: str, most: int) -> list[VersionRow]:
        """All visits to a page, newest first, with what changed."""
        return timeline.history(self.db, url, most)

    def body(self, url: str, visit: int = 0, at: float = 0.0) -> Body | None:
        """A stored answer: of one visit, or the last one not after a time, or the last of all."""
        return timeline.body(self.db, self.folder / "archive", url, visit, at)

    def last_two(self, url: str) -> tuple[int, int]:
        """The visits that brought the last version of a page and the one before it; 0 for one that there is not."""
        return timeline.last_two(self.db, url)

    def compare(self, url: str, old: int, new: int) -> Report | None:
        """Two versions word by word; None if one of them is not stored."""
        return timeline.difference(self.body(url, old), self.body(url, new))

    # Start and stop

    def start(self, seeds: tuple[str, ...]) -> str:
        """Begin or go on crawling."""
        row = self.db.execute("SELECT command FROM runs ORDER BY id DESC LIMIT 1").fetchone()
        return self.errand.start(seeds, str(row[0]) if row else "")

    def pause(self) -> str:
        """Let all migrants rest; the crawl stays."""
        return self.errand.pause()

    def send_for_more(self) -> bool:
        """Send specialised migrants for what users did not find; a crawl that runs takes it by itself."""
        return self.errand.send_for_more()

    def stop(self) -> str:
        """Let the crawl finish what is in flight; it goes on from there next time."""
        return self.errand.stop()

"""The window onto a collection on disk: reads its database and archive while a crawl may be writing."""

import json
import sqlite3
import threading
import time
from pathlib import Path

from msgspec.structs import replace

from sanderling.changes.word_report import DiffReport
from sanderling.clock import Clock, system_clock
from sanderling.db.connection import Connection, close_on_finalize
from sanderling.storage.collection import get_meta, open_collection_read_only
from sanderling.storage.signal_log import Signal, SignalEvent, load_last_events
from sanderling.web.crawl_process import CrawlProcess
from sanderling.web.queries import dashboard, timeline
from sanderling.web.queries.dashboard import CrawlTotals
from sanderling.web.view_models import (
    ChangeRow,
    ChartPoint,
    CrawlStatus,
    DueUrlRow,
    FailedVisitRow,
    HostStatusRow,
    StoredBody,
    StoredPageRow,
    VisitHistoryRow,
    WorkerRow,
)

TOTALS_CACHE_SECONDS = 5.0  # counts over whole tables are taken at most so often
HOST_CACHE_SECONDS = 60.0


class CollectionCrawlView:
    """Looks into one collection; every thread has a connection of its own."""

    def __init__(self, folder: Path, clock: Clock = system_clock) -> None:
        self.folder = folder
        self.clock = clock
        self.crawl_process = CrawlProcess(folder)
        self._local = threading.local()
        self._totals: tuple[float, CrawlTotals] | None = None
        self._lock = threading.Lock()
        self._host_pages: dict[int, tuple[float, int]] = {}

    @property
    def db(self) -> Connection:
        """This thread's connection."""
        if not hasattr(self._local, "collection"):
            self._local.collection = open_collection_read_only(self.folder)
            close_on_finalize(self._local.collection, self._local.collection.db)  # threads of a server come and go
            if isinstance(self._local.collection.db, sqlite3.Connection):
                self._local.collection.db.execute("PRAGMA cache_size=-8192")
        found: Connection = self._local.collection.db
        return found

    # The crawl as a whole

    def get_status(self) -> CrawlStatus:
        """Everything the dashboard shows in numbers."""
        now, db, sums = self.clock(), self.db, self._get_totals()
        (visits,) = db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()
        (waiting,) = db.execute("SELECT coalesce(sum(waiting), 0) FROM hosts").fetchone()
        (flying,) = db.execute("SELECT count(*) FROM leases").fetchone()
        pages, data = dashboard.compute_speed(db, now, visits)
        running = self.crawl_process.is_running()
        resting = [row.state == "deactivated" for row in self.crawl_process.list_workers()]
        paused = bool(resting) and all(resting) if running else waiting > 0
        return CrawlStatus(
            at=now,
            running=running,
            paused=paused,
            session=int(get_meta(db, "session", "1")),
            complete=get_meta(db, "complete") == "1",
            finish_reason=get_meta(db, "finish_reason"),
            pages=sums.pages,
            urls=sums.urls,
            waiting=waiting,
            in_flight=flying if running else 0,
            visits=visits,
            pages_per_second=pages,
            bytes_per_second=data,
            bytes_stored=sums.stored_bytes,
            bytes_archived=sums.archived_bytes,
            bytes_downloaded=sums.downloaded_bytes,
            bytes_saved=sums.saved_bytes,
            changed_today=sums.changed_today,
            fresh_ratio=sums.fresh_ratio,
            indexed_pages=0,
            index_lag=0,
            seeds=tuple(json.loads(get_meta(db, "seeds", "[]"))),
        )

    def _get_totals(self) -> CrawlTotals:
        with self._lock:
            now = time.monotonic()
            if self._totals is None or now - self._totals[0] > TOTALS_CACHE_SECONDS:
                self._totals = (now, dashboard.count_totals(self.db, self.clock()))
            return self._totals[1]

    def list_hosts(self, limit: int) -> list[HostStatusRow]:
        """Hosts that were ever knocked at: those with work first, then those in trouble."""
        return [replace(row, pages=self._count_host_pages(id_)) for id_, row in dashboard.list_hosts(self.db, limit)]

    def _count_host_pages(self, host: int) -> int:
        """Pages of a host, counted at most once a minute."""
        taken, count = self._host_pages.get(host, (-1e9, 0))
        if time.monotonic() - taken > HOST_CACHE_SECONDS:
            count = dashboard.count_host_pages(self.db, host)
            self._host_pages[host] = (time.monotonic(), count)
        return count

    def list_workers(self) -> list[WorkerRow]:
        """Who is at work, as the crawl itself says; asked at most every few seconds, whoever looks."""
        return self.crawl_process.list_workers()

    def list_errors(self, limit: int) -> list[FailedVisitRow]:
        """The last visits that went wrong."""
        return dashboard.list_errors(self.db, limit)

    def count_reasons(self) -> dict[str, dict[str, int]]:
        """Why URLs were skipped or given up."""
        return dashboard.count_reasons(self.db)

    def get_last_signals(self) -> dict[Signal, SignalEvent]:
        """What components last told each other, as the log of signals has it."""
        return load_last_events(self.folder / "logs")

    def compute_visit_rates(self, minutes: int) -> list[ChartPoint]:
        """Visits per second, minute by minute."""
        return dashboard.compute_visit_rates(self.db, self.clock(), minutes)

    def compute_freshness(self) -> list[ChartPoint]:
        """Share of pages looked at within so many days, for the last thirty days."""
        return dashboard.compute_freshness(self.db, self.clock())

    def list_due_urls(self, limit: int) -> list[DueUrlRow]:
        """What is visited next, and why in that order."""
        return dashboard.list_due_urls(self.db, self.clock(), limit)

    # Pages and their past

    def list_changes(self, kind: str, site: str, since: float, offset: int, limit: int) -> list[ChangeRow]:
        """What changed, newest first."""
        return timeline.list_changes(self.db, kind, site, since, offset, limit)

    def get_page(self, url: str) -> StoredPageRow | None:
        """A page as it is now; None if it was never stored."""
        return timeline.get_page(self.db, url)

    def list_visits(self, url: str, limit: int) -> list[VisitHistoryRow]:
        """All visits to a page, newest first, with what changed."""
        return timeline.list_visits(self.db, url, limit)

    def load_body(self, url: str, visit: int = 0, at: float = 0.0) -> StoredBody | None:
        """A stored answer: of one visit, or the last one not after a time, or the last of all."""
        return timeline.load_body(self.db, self.folder / "archive", url, visit, at)

    def find_last_versions(self, url: str) -> tuple[int, int]:
        """The visits that brought the last version of a page and the one before it; 0 for one that there is not."""
        return timeline.find_last_versions(self.db, url)

    def compare_versions(self, url: str, old: int, new: int) -> DiffReport | None:
        """Two versions word by word; None if one of them is not stored."""
        return timeline.compare_bodies(self.load_body(url, old), self.load_body(url, new))

    # Start and stop

    def start_crawl(self, seeds: tuple[str, ...]) -> str:
        """Begin or go on crawling."""
        row = self.db.execute("SELECT command FROM runs ORDER BY id DESC LIMIT 1").fetchone()
        return self.crawl_process.start(seeds, str(row[0]) if row else "")

    def pause_crawl(self) -> str:
        """Let all migrants rest; the crawl stays."""
        return self.crawl_process.pause()

    def crawl_unmet_queries(self) -> bool:
        """Send specialised migrants for what users did not find; a crawl that runs takes it by itself."""
        return self.crawl_process.crawl_unmet_queries()

    def stop_crawl(self) -> str:
        """Let the crawl finish what is in flight; it goes on from there next time."""
        return self.crawl_process.stop()

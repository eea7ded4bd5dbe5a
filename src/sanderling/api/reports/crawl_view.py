"""Read a collection, possibly while a crawl writes to it."""

import sqlite3
import threading
import time
from pathlib import Path

from msgspec.structs import replace

from sanderling.api.reports import dashboard, timeline
from sanderling.api.reports.crawl_process import CrawlProcess
from sanderling.api.reports.dashboard import CrawlTotals
from sanderling.api.reports.view_models import (
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
from sanderling.changes.change_store import find_visual_change
from sanderling.changes.classify import add_visual_change
from sanderling.changes.word_report import DiffReport
from sanderling.clock import Clock, system_clock
from sanderling.db.connection import Connection, close_on_finalize
from sanderling.page_rendering import Box
from sanderling.storage.collection import StoredCollection, open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.reports import get_last_visit_id
from sanderling.storage.screenshots import load_screenshot
from sanderling.storage.signal_log import Signal, SignalEvent, load_last_events
from sanderling.warc.warc_reader import StoredRecord

TOTALS_CACHE_SECONDS = 5.0  # counts over whole tables are expensive
HOST_CACHE_SECONDS = 60.0


class CollectionCrawlView:
    """Reads a collection, with a connection per thread."""

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
        return self.collection.db

    @property
    def collection(self) -> StoredCollection:
        if not hasattr(self._local, "collection"):
            self._local.collection = open_collection_read_only(self.folder)
            close_on_finalize(
                self._local.collection, self._local.collection.db
            )  # server threads end without closing it
            if isinstance(self._local.collection.db, sqlite3.Connection):
                self._local.collection.db.execute("PRAGMA cache_size=-8192")
        collection: StoredCollection = self._local.collection
        return collection

    # Crawl status

    def get_status(self) -> CrawlStatus:
        now, db, totals, meta = self.clock(), self.db, self._get_totals(), CollectionMeta(self.db)
        visits, waiting, in_flight = get_last_visit_id(db), *dashboard.count_open_urls(db)
        pages_per_second, bytes_per_second = dashboard.compute_speed(db, now, visits)
        running = self.crawl_process.is_running()
        paused_workers = [row.state == "deactivated" for row in self.crawl_process.list_workers()]
        paused = bool(paused_workers) and all(paused_workers) if running else waiting > 0
        return CrawlStatus(
            at=now,
            running=running,
            paused=paused,
            session=meta.session,
            complete=meta.is_complete,
            finish_reason=meta.finish_reason,
            pages=totals.pages,
            urls=totals.urls,
            waiting=waiting,
            in_flight=in_flight if running else 0,
            visits=visits,
            pages_per_second=pages_per_second,
            bytes_per_second=bytes_per_second,
            bytes_stored=totals.stored_bytes,
            bytes_archived=totals.archived_bytes,
            bytes_downloaded=totals.downloaded_bytes,
            bytes_saved=totals.saved_bytes,
            changed_today=totals.changed_today,
            fresh_ratio=totals.fresh_ratio,
            indexed_pages=0,
            index_lag=0,
            seeds=tuple(meta.seeds),
        )

    def _get_totals(self) -> CrawlTotals:
        with self._lock:
            now = time.monotonic()
            if self._totals is None or now - self._totals[0] > TOTALS_CACHE_SECONDS:
                self._totals = (now, dashboard.count_totals(self.db, self.clock()))
            return self._totals[1]

    def list_hosts(self, limit: int) -> list[HostStatusRow]:
        return [replace(row, pages=self._count_host_pages(id_)) for id_, row in dashboard.list_hosts(self.db, limit)]

    def _count_host_pages(self, host: int) -> int:
        cached_at, count = self._host_pages.get(host, (-1e9, 0))
        if time.monotonic() - cached_at > HOST_CACHE_SECONDS:
            count = dashboard.count_host_pages(self.db, host)
            self._host_pages[host] = (time.monotonic(), count)
        return count

    def list_workers(self) -> list[WorkerRow]:
        return self.crawl_process.list_workers()

    def list_errors(self, limit: int) -> list[FailedVisitRow]:
        return dashboard.list_errors(self.db, limit)

    def count_reasons(self) -> dict[str, dict[str, int]]:
        return dashboard.count_reasons(self.db)

    def list_seeds(self) -> list[str]:
        return CollectionMeta(self.db).seeds

    def get_last_signals(self) -> dict[Signal, SignalEvent]:
        return load_last_events(self.folder / "logs")

    def compute_visit_rates(self, minutes: int) -> list[ChartPoint]:
        return dashboard.compute_visit_rates(self.db, self.clock(), minutes)

    def compute_freshness(self) -> list[ChartPoint]:
        return dashboard.compute_freshness(self.db, self.clock())

    def list_due_urls(self, limit: int) -> list[DueUrlRow]:
        return dashboard.list_due_urls(self.db, self.clock(), limit)

    # Pages and their history

    def list_changes(self, kind: str, site: str, since: float, offset: int, limit: int) -> list[ChangeRow]:
        return timeline.list_changes(self.collection, kind, site, since, offset, limit)

    def get_page(self, url: str) -> StoredPageRow | None:
        return timeline.get_page(self.db, url)

    def list_visits(self, url: str, limit: int) -> list[VisitHistoryRow]:
        return timeline.list_visits(self.db, url, limit)

    def load_body(self, url: str, visit: int = 0, at: float = 0.0) -> StoredBody | None:
        return timeline.load_body(self.db, self.folder / "archive", url, visit, at)

    def load_screenshot(self, url: str, visit: int = 0) -> StoredRecord | None:
        """Load the screenshot of a visit, else of the last version. None: there is none."""
        return load_screenshot(self.db, self.folder / "archive", timeline.resolve_url_id(self.db, url), visit)

    def find_last_versions(self, url: str) -> tuple[int, int]:
        return timeline.find_last_versions(self.db, url)

    def compare_versions(self, url: str, old: int, new: int) -> DiffReport | None:
        before, after = self.load_body(url, old), self.load_body(url, new)
        report = timeline.compare_bodies(before, after)
        if report is None or after is None:
            return report
        visual = find_visual_change(self.db, timeline.resolve_url_id(self.db, url), after.at)
        return replace(report, change=add_visual_change(report.change, visual))

    def list_pictures(self, url: str, visits: tuple[int, int], report: DiffReport) -> list[tuple[int, int, Box | None]]:
        """Return visit, height, and the box of the changed block of both screenshots; nothing if one is missing."""
        pictures = [self.load_screenshot(url, visit) for visit in visits]
        heights = [int.from_bytes(picture.body[20:24]) for picture in pictures if picture is not None]  # of PNG
        visual = report.change.visual
        boxes = (visual.old_box, visual.box) if visual is not None else (None, None)
        return list(zip(visits, heights, boxes, strict=True)) if len(heights) == len(visits) else []

    # Crawl control

    def start_crawl(self, seeds: tuple[str, ...]) -> str:
        row = self.db.execute("SELECT command FROM runs ORDER BY id DESC LIMIT 1").fetchone()
        return self.crawl_process.start(seeds, str(row[0]) if row else "")

    def pause_crawl(self) -> str:
        return self.crawl_process.pause()

    def crawl_unmet_queries(self) -> bool:
        return self.crawl_process.crawl_unmet_queries()

    def stop_crawl(self) -> str:
        return self.crawl_process.stop()

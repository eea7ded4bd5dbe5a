"""What can be seen of a crawl: small records, and the protocol of whoever shows them."""

from typing import Protocol

from msgspec import Struct

from sanderling.changes.word_report import DiffReport
from sanderling.storage.signal_log import Signal, SignalEvent


class CrawlStatus(Struct, frozen=True):
    """The crawl at one moment."""

    at: float
    running: bool
    paused: bool
    session: int
    complete: bool
    finish_reason: str
    pages: int
    urls: dict[str, int]  # by state
    waiting: int
    in_flight: int
    visits: int  # ever
    pages_per_second: float  # over the last ten seconds
    bytes_per_second: float
    bytes_stored: int  # of bodies
    bytes_archived: int  # of WARC files
    bytes_downloaded: int
    bytes_saved: int  # bodies that were not sent again, or not stored twice
    changed_today: int
    fresh_ratio: float  # share of pages looked at within the last day
    indexed_pages: int
    index_lag: int
    seeds: tuple[str, ...] = ()


class HostStatusRow(Struct, frozen=True):
    """One host as the frontier sees it."""

    name: str
    waiting: int
    leased: int
    ready_at: float
    delay_reason: str
    failures: int
    give_up_reason: str
    robots_status: int
    pages: int = 0


class WorkerRow(Struct, frozen=True):
    """One migrant at work."""

    name: str
    load: int
    pages: int = 0
    cpu_share: float = 0.0
    memory_bytes: int = 0
    latency_seconds: float = 0.0
    score: float = 0.0  # AHP priority when it was last compared, 0 if the scheduler gave none
    state: str = ""
    location: str = ""


class StoredPageRow(Struct, frozen=True):
    """A stored page as it is now."""

    url: str
    title: str
    status: int
    mime: str
    language: str
    first_seen: float
    last_visit: float
    last_change: float
    visits: int
    changes: int
    size: int


class VisitHistoryRow(Struct, frozen=True):
    """One visit to a page."""

    visit: int
    at: float
    outcome: str
    reason: str
    status: int
    changed: bool
    size: int
    wire_bytes: int
    seconds: float
    stored: bool
    kinds: tuple[str, ...] = ()
    significance: float = 0.0


class ChangeRow(Struct, frozen=True):
    """One change of one page."""

    url: str
    title: str
    at: float
    previous_at: float
    kinds: tuple[str, ...]
    significance: float


class DueUrlRow(Struct, frozen=True):
    """A URL that is next, and why."""

    url: str
    reason: str
    due_at: float
    rank: float
    depth: int
    visited: bool


class FailedVisitRow(Struct, frozen=True):
    """A visit that failed."""

    url: str
    at: float
    outcome: str
    reason: str
    status: int


class StoredBody(Struct, frozen=True):
    """A stored answer."""

    url: str
    visit: int
    at: float
    status: int
    mime: str
    charset: str
    content: bytes
    title: str = ""


class ChartPoint(Struct, frozen=True):
    """One measure at one time."""

    at: float
    value: float


class CrawlView(Protocol):
    """What the app asks of a crawl; each call is a fresh look and may run in any thread."""

    def get_status(self) -> CrawlStatus: ...
    def list_hosts(self, limit: int) -> list[HostStatusRow]: ...
    def list_workers(self) -> list[WorkerRow]: ...
    def list_errors(self, limit: int) -> list[FailedVisitRow]: ...
    def count_reasons(self) -> dict[str, dict[str, int]]: ...
    def get_last_signals(self) -> dict[Signal, SignalEvent]: ...
    def compute_visit_rates(self, minutes: int) -> list[ChartPoint]: ...
    def compute_freshness(self) -> list[ChartPoint]: ...
    def list_changes(self, kind: str, site: str, since: float, offset: int, limit: int) -> list[ChangeRow]: ...
    def list_due_urls(self, limit: int) -> list[DueUrlRow]: ...
    def get_page(self, url: str) -> StoredPageRow | None: ...
    def list_visits(self, url: str, limit: int) -> list[VisitHistoryRow]: ...
    def load_body(self, url: str, visit: int = 0, at: float = 0.0) -> StoredBody | None: ...
    def find_last_versions(self, url: str) -> tuple[int, int]: ...
    def compare_versions(self, url: str, old: int, new: int) -> DiffReport | None: ...
    def start_crawl(self, seeds: tuple[str, ...]) -> str: ...
    def crawl_unmet_queries(self) -> bool: ...
    def pause_crawl(self) -> str: ...
    def stop_crawl(self) -> str: ...

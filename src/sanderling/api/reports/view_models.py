"""Records shown by the pages and the API."""

from msgspec import Struct

from sanderling.changes.changed_text import ChangedText


class CrawlStatus(Struct, frozen=True):
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
    visits: int  # total
    pages_per_second: float  # over the last ten seconds
    bytes_per_second: float
    bytes_stored: int  # of bodies
    bytes_archived: int  # of WARC files
    bytes_downloaded: int
    bytes_saved: int  # bodies not transferred because of a 304
    changed_today: int
    fresh_ratio: float  # share of pages visited within the last day
    indexed_pages: int
    index_lag: int
    seeds: tuple[str, ...] = ()


class HostStatusRow(Struct, frozen=True):
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
    name: str
    load: int
    pages: int = 0
    cpu_share: float = 0.0
    memory_bytes: int = 0
    latency_seconds: float = 0.0
    score: float = 0.0  # AHP priority at the last scheduling; 0: none
    state: str = ""
    location: str = ""


class StoredPageRow(Struct, frozen=True):
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
    url: str
    title: str
    at: float
    previous_at: float
    kinds: tuple[str, ...]
    significance: float
    text: tuple[ChangedText, ...] = ()
    urls: tuple[str, ...] = ()  # pages that share the change


class DueUrlRow(Struct, frozen=True):
    url: str
    reason: str
    due_at: float
    rank: float
    depth: int
    visited: bool


class FailedVisitRow(Struct, frozen=True):
    url: str
    at: float
    outcome: str
    reason: str
    status: int


class StoredBody(Struct, frozen=True):
    url: str
    visit: int
    at: float
    status: int
    mime: str
    charset: str
    content: bytes
    title: str = ""


class ChartPoint(Struct, frozen=True):
    at: float
    value: float

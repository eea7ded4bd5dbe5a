"""What can be seen of a crawl: small records, and the protocol of whoever shows them."""

from typing import Protocol

from msgspec import Struct

from sanderling.changes.word_report import Report
from sanderling.storage.signal_log import Raised, Signal


class Status(Struct, frozen=True):
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
    fresh: float  # share of pages looked at within the last day
    indexed: int
    index_behind: int
    seeds: tuple[str, ...] = ()


class HostRow(Struct, frozen=True):
    """One host as the frontier sees it."""

    name: str
    waiting: int
    leased: int
    open_at: float
    hold: str
    strikes: int
    verdict: str
    robots_status: int
    pages: int = 0


class MigrantRow(Struct, frozen=True):
    """One migrant at work."""

    name: str
    load: int
    pages: int = 0
    cpu_share: float = 0.0
    memory_bytes: int = 0
    latency_seconds: float = 0.0
    score: float = 0.0  # AHP priority when it was last compared, 0 if the scheduler gave none
    state: str = ""
    place: str = ""


class PageRow(Struct, frozen=True):
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


class VersionRow(Struct, frozen=True):
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


class DueRow(Struct, frozen=True):
    """A URL that is next, and why."""

    url: str
    why: str
    due_at: float
    rank: float
    depth: int
    visited: bool


class ErrorRow(Struct, frozen=True):
    """A visit that failed."""

    url: str
    at: float
    outcome: str
    reason: str
    status: int


class Body(Struct, frozen=True):
    """A stored answer."""

    url: str
    visit: int
    at: float
    status: int
    mime: str
    charset: str
    body: bytes
    title: str = ""


class Point(Struct, frozen=True):
    """One measure at one time."""

    at: float
    value: float


class Window(Protocol):
    """What the app asks of a crawl; each call is a fresh look and may run in any thread."""

    def status(self) -> Status: ...
    def hosts(self, most: int) -> list[HostRow]: ...
    def migrants(self) -> list[MigrantRow]: ...
    def errors(self, most: int) -> list[ErrorRow]: ...
    def reasons(self) -> dict[str, dict[str, int]]: ...
    def signals(self) -> dict[Signal, Raised]: ...
    def rates(self, minutes: int) -> list[Point]: ...
    def freshness(self) -> list[Point]: ...
    def changes(self, kind: str, site: str, since: float, offset: int, most: int) -> list[ChangeRow]: ...
    def due(self, most: int) -> list[DueRow]: ...
    def page(self, url: str) -> PageRow | None: ...
    def history(self, url: str, most: int) -> list[VersionRow]: ...
    def body(self, url: str, visit: int = 0, at: float = 0.0) -> Body | None: ...
    def last_two(self, url: str) -> tuple[int, int]: ...
    def compare(self, url: str, old: int, new: int) -> Report | None: ...
    def start(self, seeds: tuple[str, ...]) -> str: ...
    def send_for_more(self) -> bool: ...
    def pause(self) -> str: ...
    def stop(self) -> str: ...

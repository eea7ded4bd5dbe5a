"""When and why a crawl ends, and how far it is until then."""

from enum import StrEnum

from msgspec import Struct


class FinishReason(StrEnum):
    """Why a crawl ended."""

    DONE = "done"
    PAGE_LIMIT = "limit"
    TIME_LIMIT = "time_limit"
    SIZE_LIMIT = "size_limit"
    INTERRUPTED = "interrupted"
    FORCED = "forced"
    DISK_FULL = "disk_full"
    BACKED_OFF = "held"


class CrawlLimits(Struct, frozen=True):
    """When to stop; 0 means no limit."""

    page_limit: int = 0
    time_limit: float = 0.0
    size_limit: int = 0


class CrawlProgress(Struct, frozen=True):
    """How far a crawl is."""

    pages: int
    fetched: int
    waiting: int
    in_flight: int
    failed: int
    skipped: int
    bytes: int
    seconds: float
    pages_per_second: float
    worker_count: int

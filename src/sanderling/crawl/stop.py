"""When and why a crawl ends, and how far it is until then."""

from enum import StrEnum

from msgspec import Struct


class Finish(StrEnum):
    """Why a crawl ended."""

    DONE = "done"
    LIMIT = "limit"
    TIME = "time_limit"
    SIZE = "size_limit"
    INTERRUPTED = "interrupted"
    FORCED = "forced"
    DISK = "disk_full"
    HELD = "held"


class Bounds(Struct, frozen=True):
    """When to stop; 0 means no limit."""

    limit: int = 0
    time_limit: float = 0.0
    size_limit: int = 0


class Progress(Struct, frozen=True):
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
    migrants: int

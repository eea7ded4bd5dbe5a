"""Limits, finish reasons and progress of a crawl."""

import shutil
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

MIN_FREE_DISK_BYTES = 50_000_000


class FinishReason(StrEnum):
    DONE = "done"
    PAGE_LIMIT = "limit"
    TIME_LIMIT = "time_limit"
    SIZE_LIMIT = "size_limit"
    INTERRUPTED = "interrupted"
    FORCED = "forced"
    DISK_FULL = "disk_full"
    BACKED_OFF = "backed_off"


class CrawlLimits(Struct, frozen=True):
    """Limits of a crawl; 0: no limit."""

    page_limit: int = 0
    time_limit: float = 0.0
    size_limit: int = 0


class CrawlProgress(Struct, frozen=True):
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
    rendered: int = 0  # pages rendered in a browser


def describe_low_disk(folder: Path) -> str:
    """Return an error message if the disk is nearly full, else an empty string."""
    if shutil.disk_usage(folder).free >= MIN_FREE_DISK_BYTES:
        return ""
    return (
        f"less than {MIN_FREE_DISK_BYTES // 10**6} MB free on the disk of {folder}; stored pages are intact."
        " Free some space and run the same command again to resume."
    )

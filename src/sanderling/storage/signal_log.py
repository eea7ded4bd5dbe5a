"""Log the signals between components, named as in the papers.

Signals occur thousands of times a second, so they are aggregated: a line per signal every few seconds, with the count
and the last detail. User input is never logged.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

SIGNAL_LOG_FILE = "signals.log"
WRITE_INTERVAL_SECONDS = 5.0
MAX_LOG_BYTES = 4_000_000  # then renamed to signals.log.1
TAIL_BYTES = 200_000  # read to find the last signals
MAX_DETAIL_LENGTH = 200


class Signal(StrEnum):
    """Signals of IPC, SAR, and MIG, including synonyms."""

    DISTRIBUTE_URLS = "distribute_URLs"
    RANK_URLS = "Rank_URLs"
    EXTRACT_PAGE = "extract_URLs_and_web_page"
    EXTRACT_URLS = "extract_URLs"
    INITIALIZE = "initialize"
    TO_CRAWL = "something_to_crawl"
    TO_UPDATE = "something_to_update"
    TO_MAP = "something_to_map"
    TO_CLASSIFY = "something_to_classify"
    URLS_READY = "URLs_ready"
    WORKER_SELECTED = "Migrant_selected"
    CRAWL = "crawl"
    DONE = "done"
    CHECK = "check"
    CRAWL_MORE = "crawl_more"
    LOW_RATING = "Low_Rating"
    MINING = "Mining"


# Source, target, and meaning.
SIGNAL_ROUTES: Mapping[Signal, tuple[str, str, str]] = {
    Signal.RANK_URLS: ("dispatcher", "ranking", "new URLs are ranked"),
    Signal.DISTRIBUTE_URLS: ("ranking", "distributor", "the best URLs of a host are leased"),
    Signal.EXTRACT_URLS: ("crawl worker", "dispatcher", "links are extracted from pages"),
    Signal.EXTRACT_PAGE: ("crawl worker", "change detection", "a page is compared with its last version"),
    Signal.TO_MAP: ("seeder, pages", "mapping manager", "a host name is resolved"),
    Signal.INITIALIZE: ("DNS resolver", "fields initializer", "a host gets its addresses"),
    Signal.TO_CRAWL: ("mapping manager", "crawl manager", "hosts are ready to be crawled"),
    Signal.TO_UPDATE: ("crawl manager", "refresh", "the next visit of a page is scheduled"),
    Signal.TO_CLASSIFY: ("mapping manager", "URL organizer", "URLs are filtered"),
    Signal.URLS_READY: ("URL organizer", "scheduler", "URLs are queued"),
    Signal.WORKER_SELECTED: ("scheduler", "manager", "a worker is chosen for a host"),
    Signal.CRAWL: ("manager", "migrant", "a fetch batch is sent"),
    Signal.DONE: ("migrant", "manager", "visits are returned"),
    Signal.CHECK: ("migrant", "duplicate eliminator", "a body is compared with stored bodies"),
    Signal.LOW_RATING: ("behavior analyzer", "structure extractor", "a query was not satisfied"),
    Signal.CRAWL_MORE: ("behavior analyzer", "manager", "specialized workers are requested"),
    Signal.MINING: ("behavior analyzer", "data mining", "page weights are learned"),
}


class SignalEvent(Struct, frozen=True):
    """The last occurrence of a signal, and its count."""

    raised_at: float
    signal: Signal
    count: int = 0
    detail: str = ""


class SignalLog:
    """Count signals and log them periodically. Without a folder, only count."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.pending_signals: dict[Signal, tuple[int, str]] = {}
        self.next_write_at = 0.0

    def record(self, signal: Signal, count: int = 1, detail: str = "") -> None:
        """Count a signal that occurred `count` times."""
        if count:
            self.pending_signals[signal] = self.pending_signals.get(signal, (0, ""))[0] + count, detail

    def write_if_due(self) -> None:
        """Write if `WRITE_INTERVAL_SECONDS` have passed since the last write."""
        if self.pending_signals and time.monotonic() >= self.next_write_at:
            self.write()

    def write(self) -> None:
        """Append a line for each signal since the last write."""
        signals, self.pending_signals = self.pending_signals, {}
        self.next_write_at = time.monotonic() + WRITE_INTERVAL_SECONDS
        if signals and self.folder is not None:
            append_events(
                self.folder,
                [SignalEvent(time.time(), signal, *count_and_detail) for signal, count_and_detail in signals.items()],
            )


def append_events(folder: Path, events: list[SignalEvent]) -> None:
    """Append lines in a single write, because several processes share the log."""
    path = folder / SIGNAL_LOG_FILE
    folder.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
        path.replace(folder / (SIGNAL_LOG_FILE + ".1"))
    with path.open("a", encoding="utf-8", errors="replace") as file:
        file.write("".join(map(_format_event, events)))


def load_last_events(folder: Path) -> dict[Signal, SignalEvent]:
    """Return the last event of each signal in the tail of the log."""
    try:
        with (folder / SIGNAL_LOG_FILE).open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    return {event.signal: event for line in lines if (event := _parse_event(line)) is not None}


def _format_event(event: SignalEvent) -> str:
    timestamp = datetime.fromtimestamp(event.raised_at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    detail = " ".join(event.detail[:MAX_DETAIL_LENGTH].split())
    return f"{timestamp} {event.signal} {event.count} {detail}".rstrip() + "\n"


def _parse_event(line: str) -> SignalEvent | None:
    """Parse a log line. Invalid or truncated lines return None."""
    timestamp, _, rest = line.partition(" ")
    name, _, rest = rest.partition(" ")
    count, _, detail = rest.partition(" ")
    try:
        return SignalEvent(datetime.fromisoformat(timestamp).timestamp(), Signal(name), int(count), detail)
    except ValueError:
        return None

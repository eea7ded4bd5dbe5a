"""Signals between components, by the names the papers give them: raised where it happens, written to their own log.

They come thousands of times a second, so the log sums up: one line per signal and few seconds, with how often it was
raised and what it was about the last time. What users typed is never in it.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

SIGNAL_LOG_FILE = "signals.log"
WRITE_INTERVAL_SECONDS = 5.0
MAX_LOG_BYTES = 4_000_000  # bytes; then the file becomes signals.log.1
TAIL_BYTES = 200_000  # bytes that are read for a look at the last signals
MAX_DETAIL_LENGTH = 200


class Signal(StrEnum):
    """IPC, SAR and MIG; where one thing has two names, both are here."""

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


# From whom, to whom, and what it means here.
SIGNAL_ROUTES: Mapping[Signal, tuple[str, str, str]] = {
    Signal.RANK_URLS: ("dispatcher", "ranking", "new URLs get their rank"),
    Signal.DISTRIBUTE_URLS: ("ranking", "distributor", "the best URLs of a host are leased"),
    Signal.EXTRACT_URLS: ("crawl worker", "dispatcher", "links of pages are taken"),
    Signal.EXTRACT_PAGE: ("crawl worker", "change detection", "a page is compared with its last version"),
    Signal.TO_MAP: ("seeder, pages", "mapping manager", "the name of a host is looked up"),
    Signal.INITIALIZE: ("DNS resolver", "fields initializer", "a host gets its addresses"),
    Signal.TO_CRAWL: ("mapping manager", "crawl manager", "hosts may be asked"),
    Signal.TO_UPDATE: ("crawl manager", "refresh", "the next visit of a page is planned"),
    Signal.TO_CLASSIFY: ("mapping manager", "URL organiser", "URLs are judged"),
    Signal.URLS_READY: ("URL organiser", "scheduler", "URLs are queued"),
    Signal.WORKER_SELECTED: ("scheduler", "manager", "a migrant is chosen for a host"),
    Signal.CRAWL: ("manager", "migrant", "an itinerary is sent"),
    Signal.DONE: ("migrant", "manager", "visits come home"),
    Signal.CHECK: ("migrant", "duplicate eliminator", "a body is looked up among those stored"),
    Signal.LOW_RATING: ("behaviour analyser", "structure extractor", "a search did not satisfy"),
    Signal.CRAWL_MORE: ("behaviour analyser", "manager", "specialised migrants are asked for"),
    Signal.MINING: ("behaviour analyser", "data mining", "page weights are learned"),
}


class SignalEvent(Struct, frozen=True):
    """A signal, when it was last raised, how often in the seconds before, and about what."""

    raised_at: float
    signal: Signal
    count: int = 0
    detail: str = ""


class SignalLog:
    """Counts signals and writes them down now and then; without a folder it only counts."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.pending_signals: dict[Signal, tuple[int, str]] = {}
        self.next_write_at = 0.0

    def record(self, signal: Signal, count: int = 1, detail: str = "") -> None:
        """Raise a signal, so many times at once."""
        if count:
            self.pending_signals[signal] = self.pending_signals.get(signal, (0, ""))[0] + count, detail

    def write_if_due(self) -> None:
        """Write, if the last time is some seconds ago."""
        if self.pending_signals and time.monotonic() >= self.next_write_at:
            self.write()

    def write(self) -> None:
        """Append a line for each signal that was raised since the last time."""
        raised, self.pending_signals = self.pending_signals, {}
        self.next_write_at = time.monotonic() + WRITE_INTERVAL_SECONDS
        if raised and self.folder is not None:
            append_events(self.folder, [SignalEvent(time.time(), signal, *what) for signal, what in raised.items()])


def append_events(folder: Path, events: list[SignalEvent]) -> None:
    """Append lines in one write: several processes may do so."""
    path = folder / SIGNAL_LOG_FILE
    folder.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
        path.replace(folder / (SIGNAL_LOG_FILE + ".1"))
    with path.open("a", encoding="utf-8", errors="replace") as file:
        file.write("".join(map(_format_event, events)))


def load_last_events(folder: Path) -> dict[Signal, SignalEvent]:
    """Each signal as it was last raised, as far back as one look goes."""
    try:
        with (folder / SIGNAL_LOG_FILE).open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    return {told.signal: told for line in lines if (told := _parse_event(line)) is not None}


def _format_event(event: SignalEvent) -> str:
    stamp = datetime.fromtimestamp(event.raised_at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    detail = " ".join(event.detail[:MAX_DETAIL_LENGTH].split())
    return f"{stamp} {event.signal} {event.count} {detail}".rstrip() + "\n"


def _parse_event(line: str) -> SignalEvent | None:
    """One line again; None if it is none of ours, or cut off."""
    stamp, _, rest = line.partition(" ")
    name, _, rest = rest.partition(" ")
    count, _, detail = rest.partition(" ")
    try:
        return SignalEvent(datetime.fromisoformat(stamp).timestamp(), Signal(name), int(count), detail)
    except ValueError:
        return None

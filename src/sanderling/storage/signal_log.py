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

FILE = "signals.log"
EVERY_SECONDS = 5.0
LARGEST = 4_000_000  # bytes; then the file becomes signals.log.1
TAIL = 200_000  # bytes that are read for a look at the last signals
LONGEST = 200


class Signal(StrEnum):
    """IPC, SAR and MIG; where one thing has two names, both are here."""

    DISTRIBUTE = "distribute_URLs"
    RANK = "Rank_URLs"
    COMPARE = "extract_URLs_and_web_page"
    EXTRACT = "extract_URLs"
    INITIALIZE = "initialize"
    TO_CRAWL = "something_to_crawl"
    TO_UPDATE = "something_to_update"
    TO_MAP = "something_to_map"
    TO_CLASSIFY = "something_to_classify"
    READY = "URLs_ready"
    SELECTED = "Migrant_selected"
    CRAWL = "crawl"
    DONE = "done"
    CHECK = "check"
    CRAWL_MORE = "crawl_more"
    LOW_RATING = "Low_Rating"
    MINING = "Mining"


# From whom, to whom, and what it means here.
ROUTES: Mapping[Signal, tuple[str, str, str]] = {
    Signal.RANK: ("dispatcher", "ranking", "new URLs get their rank"),
    Signal.DISTRIBUTE: ("ranking", "distributor", "the best URLs of a host are leased"),
    Signal.EXTRACT: ("crawl worker", "dispatcher", "links of pages are taken"),
    Signal.COMPARE: ("crawl worker", "change detection", "a page is compared with its last version"),
    Signal.TO_MAP: ("seeder, pages", "mapping manager", "the name of a host is looked up"),
    Signal.INITIALIZE: ("DNS resolver", "fields initializer", "a host gets its addresses"),
    Signal.TO_CRAWL: ("mapping manager", "crawl manager", "hosts may be asked"),
    Signal.TO_UPDATE: ("crawl manager", "refresh", "the next visit of a page is planned"),
    Signal.TO_CLASSIFY: ("mapping manager", "URL organiser", "URLs are judged"),
    Signal.READY: ("URL organiser", "scheduler", "URLs are queued"),
    Signal.SELECTED: ("scheduler", "manager", "a migrant is chosen for a host"),
    Signal.CRAWL: ("manager", "migrant", "an itinerary is sent"),
    Signal.DONE: ("migrant", "manager", "visits come home"),
    Signal.CHECK: ("migrant", "duplicate eliminator", "a body is looked up among those stored"),
    Signal.LOW_RATING: ("behaviour analyser", "structure extractor", "a search did not satisfy"),
    Signal.CRAWL_MORE: ("behaviour analyser", "manager", "specialised migrants are asked for"),
    Signal.MINING: ("behaviour analyser", "data mining", "page weights are learned"),
}


class Raised(Struct, frozen=True):
    """A signal, when it was last raised, how often in the seconds before, and about what."""

    at: float
    signal: Signal
    count: int = 0
    detail: str = ""


class Signals:
    """Counts signals and writes them down now and then; without a folder it only counts."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.raised: dict[Signal, tuple[int, str]] = {}
        self.next_at = 0.0

    def note(self, signal: Signal, count: int = 1, detail: str = "") -> None:
        """Raise a signal, so many times at once."""
        if count:
            self.raised[signal] = self.raised.get(signal, (0, ""))[0] + count, detail

    def write_if_due(self) -> None:
        """Write, if the last time is some seconds ago."""
        if self.raised and time.monotonic() >= self.next_at:
            self.write()

    def write(self) -> None:
        """Append a line for each signal that was raised since the last time."""
        raised, self.raised = self.raised, {}
        self.next_at = time.monotonic() + EVERY_SECONDS
        if raised and self.folder is not None:
            append(self.folder, [Raised(time.time(), signal, *what) for signal, what in raised.items()])


def append(folder: Path, raised: list[Raised]) -> None:
    """Append lines in one write: several processes may do so."""
    path = folder / FILE
    folder.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LARGEST:
        path.replace(folder / (FILE + ".1"))
    with path.open("a", encoding="utf-8", errors="replace") as file:
        file.write("".join(map(_line, raised)))


def last_raised(folder: Path) -> dict[Signal, Raised]:
    """Each signal as it was last raised, as far back as one look goes."""
    try:
        with (folder / FILE).open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - TAIL))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    return {told.signal: told for line in lines if (told := _read(line)) is not None}


def _line(raised: Raised) -> str:
    stamp = datetime.fromtimestamp(raised.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    detail = " ".join(raised.detail[:LONGEST].split())
    return f"{stamp} {raised.signal} {raised.count} {detail}".rstrip() + "\n"


def _read(line: str) -> Raised | None:
    """One line again; None if it is none of ours, or cut off."""
    stamp, _, rest = line.partition(" ")
    name, _, rest = rest.partition(" ")
    count, _, detail = rest.partition(" ")
    try:
        return Raised(datetime.fromisoformat(stamp).timestamp(), Signal(name), int(count), detail)
    except ValueError:
        return None

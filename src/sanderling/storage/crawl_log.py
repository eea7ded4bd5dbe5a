"""The crawl log: one line per visit, in the order of Heritrix's crawl.log, so that known tools can read it."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from sanderling.models import Outcome, Visit
from sanderling.storage.signal_log import Signal, Signals

WELL = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT)


class Row(Protocol):
    """What the log wants to know of a URL beside the visit."""

    @property
    def depth(self) -> int: ...


class CrawlLog:
    """Appends lines; they are on the disk after `flush`, at the latest when the batch is committed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = (folder / "crawl.log").open("a", encoding="utf-8", errors="replace")
        self.signals = Signals(folder)
        self.tell: Callable[[str], object] | None = None  # somebody who reads along
        self.tell_all = False  # of every visit, not of trouble alone

    def write(self, visits: Sequence[Visit], rows: Mapping[int, Row]) -> None:
        """time status size url depth mime address milliseconds digest annotations"""
        seen = [visit for visit in visits if visit.outcome is not Outcome.RETURNED]
        self.file.writelines(_line(visit, rows[visit.id].depth) for visit in seen)
        for visit in seen if self.tell else ():
            if self.tell and (self.tell_all or visit.outcome not in WELL):
                self.tell(_line(visit, rows[visit.id].depth).rstrip())

    def note(self, text: str) -> None:
        """One line about something that is no visit."""
        self.file.write(f"{_stamp(time.time())} - - {text}\n")
        if self.tell:
            self.tell(text)

    def signal(self, signal: Signal, count: int = 1, detail: str = "") -> None:
        """One component calls another, so many times at once."""
        self.signals.note(signal, count, detail)

    def flush(self) -> None:
        self.file.flush()
        self.signals.write_if_due()

    def close(self) -> None:
        self.signals.write()
        self.file.close()


def _stamp(at: float) -> str:
    whole = int(at)
    return f"{_whole_second(whole)}.{int((at - whole) * 1000):03d}Z"


@lru_cache(maxsize=64)  # a batch has few of them
def _whole_second(at: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))


def _line(visit: Visit, depth: int) -> str:
    notes = [part for part in (visit.outcome if visit.outcome is not Outcome.FETCHED else "", visit.reason) if part]
    digest = f"sha256:{visit.digest.hex()}" if visit.digest else "-"
    return (
        f"{_stamp(visit.at)} {visit.status} {visit.size} {visit.url} {depth} {visit.mime or '-'} {visit.address or '-'}"
        f" {int(visit.seconds * 1000)} {digest} {','.join(notes) or '-'}\n"
    )

"""Write crawl.log: a line per visit with the columns of Heritrix, so that existing tools can read it."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from sanderling.models import Outcome, Visit
from sanderling.storage.signal_log import Signal, SignalLog

SUCCESS_OUTCOMES = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT)


class HasDepth(Protocol):
    """A URL row with a crawl depth."""

    @property
    def depth(self) -> int: ...


class CrawlLog:
    """Append log lines, written to disk by `flush`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = (folder / "crawl.log").open("a", encoding="utf-8", errors="replace")
        self.signals = SignalLog(folder)
        self._on_line: Callable[[str], object] | None = None
        self._follows_all_visits = False

    def follow(self, on_line: Callable[[str], object], *, all_visits: bool = False) -> None:
        """Pass every message and failed visit on; `all_visits`: successful ones, too."""
        self._on_line, self._follows_all_visits = on_line, all_visits

    def write_visits(self, visits: Sequence[Visit], url_rows: Mapping[int, HasDepth]) -> None:
        """Write visits: time status size url depth mime address milliseconds digest annotations."""
        logged = [visit for visit in visits if visit.outcome is not Outcome.RETURNED]
        self.file.writelines(_format_visit(visit, url_rows[visit.id].depth) for visit in logged)
        for visit in logged if self._on_line else ():
            if self._on_line and (self._follows_all_visits or visit.outcome not in SUCCESS_OUTCOMES):
                self._on_line(_format_visit(visit, url_rows[visit.id].depth).rstrip())

    def write_message(self, text: str) -> None:
        """Write a line that is not a visit."""
        self.file.write(f"{_format_time(time.time())} - - {text}\n")
        if self._on_line:
            self._on_line(text)

    def record_signal(self, signal: Signal, count: int = 1, detail: str = "") -> None:
        self.signals.record(signal, count, detail)

    def flush(self) -> None:
        self.file.flush()
        self.signals.write_if_due()

    def close(self) -> None:
        self.signals.write()
        self.file.close()


def _format_time(seconds: float) -> str:
    whole = int(seconds)
    return f"{_format_whole_second(whole)}.{int((seconds - whole) * 1000):03d}Z"


@lru_cache(maxsize=64)  # the visits of a batch fall into few seconds
def _format_whole_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _format_visit(visit: Visit, depth: int) -> str:
    annotations = [
        part for part in (visit.outcome if visit.outcome is not Outcome.FETCHED else "", visit.reason) if part
    ]
    digest = f"sha256:{visit.digest.hex()}" if visit.digest else "-"
    return (
        f"{_format_time(visit.visited_at)} {visit.status} {visit.size} {visit.url} {depth}"
        f" {visit.mime or '-'} {visit.address or '-'}"
        f" {int(visit.duration_seconds * 1000)} {digest} {','.join(annotations) or '-'}\n"
    )

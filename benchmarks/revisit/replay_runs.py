"""Replays of all traces by column, kept in a file because they take hours.

A column is a policy or `oracle`, followed by options: `learned + sitemap`, `learned + errors 30/0/60` (per cent of
missing changes, false announcements and stamped pages), `learned + delay`, `learned + pull 0.3`.
"""

import argparse
import math
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from benchmarks.revisit.announced_changes import HONEST, SitemapErrors, list_announcements, list_pages
from benchmarks.revisit.histories import Trace, read, traces_in
from benchmarks.revisit.trace_replay import Cell, Crawler, Oracle, replay

from sanderling.revisit.policies import POLICIES

MANY_PAGES = 5_000  # of a trace; --part applies to these only
Place = tuple[str, float]
"""A row: trace, mean days between visits of a page."""


class Runs:
    """Computed cells of traces at budgets."""

    def __init__(self, folder: Path, part: int, file: Path | None, min_pages: int = MANY_PAGES) -> None:
        self.folder, self.part, self.file, self.min_pages = folder, part, file, min_pages
        self.cells: dict[str, Cell] = {}
        if file and file.exists():
            self.cells = msgspec.json.decode(file.read_bytes(), type=dict[str, Cell])

    def compute(self, place: Place, columns: Sequence[str]) -> None:
        """Compute the missing cells of a trace at one budget."""
        name, interval = place
        missing = [column for column in columns if self.get_key(place, column) not in self.cells]
        if not missing:
            return
        trace = self.read_trace(name)
        for column in missing:
            key = self.get_key(place, column)
            cell = self.cells[key] = replay_column(column, trace, interval)
            print(
                f"{key}: {cell.freshness:.4f}, delay {cell.delay:.3f} d, {cell.visits:,} visits, {cell.seconds:.0f} s",
                file=sys.stderr,
            )
            if self.file:
                self.file.write_bytes(msgspec.json.encode(self.cells))

    def read_trace(self, name: str) -> Trace:
        """Read a part of a trace."""
        trace = read(self.folder, name)
        return trace if self.part == 1 or len(trace.pages) < self.min_pages else read(self.folder, name, self.part)

    def get_key(self, place: Place, column: str) -> str:
        """Return the key of a cell in the file."""
        return f"{place[0]} {place[1]:g} {column} /{self.part}{'' if self.min_pages else ' of all'}"

    def has(self, place: Place, columns: Sequence[str]) -> bool:
        """Return whether a row is computed."""
        return all(self.get_key(place, column) in self.cells for column in columns)

    def get(self, place: Place, column: str) -> Cell:
        """Return a cell, or NaN if it was not computed."""
        return self.cells.get(self.get_key(place, column), Cell(math.nan, math.nan, 0, 0.0, math.nan, math.nan))

    def compute_gap_closed(self, place: Place, column: str) -> float:
        """Return the share of the gap between uniform visits and the oracle that a column closes."""
        low, high = (self.get(place, name).freshness for name in ("fixed", "oracle"))
        return (self.get(place, column).freshness - low) / (high - low)


def replay_column(column: str, trace: Trace, interval: float) -> Cell:
    """Replay a trace by a column."""
    name, *options = column.split(" + ")
    values = dict(option.partition(" ")[::2] for option in options)
    objective = "delay" if "delay" in values else "freshness"
    if name == "oracle":
        return replay(trace, interval, Oracle(trace, objective))
    has_sitemap = "sitemap" in values or "errors" in values
    crawler = Crawler(
        POLICIES[name],
        trace,
        interval,
        list_pages(trace) if has_sitemap else frozenset(),
        objective,
        float(values["pull"]) if "pull" in values else None,
    )
    errors = SitemapErrors(*(int(part) / 100 for part in values["errors"].split("/"))) if "errors" in values else HONEST
    return replay(trace, interval, crawler, list_announcements(trace, errors) if has_sitemap else ())


def add_arguments(parser: argparse.ArgumentParser, intervals: str) -> None:
    """Add the options of all benchmarks of this kind."""
    parser.add_argument("--traces", default="", help="names, separated by commas (default: all in the folder)")
    parser.add_argument("--intervals", default=intervals, help="mean days between visits of a page")
    parser.add_argument("--part", type=int, default=1, help="of large traces only each N-th hundred of the pages")
    parser.add_argument("--part-of-all", action="store_true", help="apply --part to small traces too")
    parser.add_argument("--keep", type=Path, help="file of computed cells, to resume from")
    parser.add_argument("--kept", action="store_true", help="compute nothing: show the rows of that file")
    parser.add_argument("--write", action="store_true", help="write docs/measurements/benchmarks.md and its chart")


def compute_rows(
    options: argparse.Namespace, columns: Iterable[str], needed: Iterable[str] = ()
) -> tuple[Runs, list[Place]]:
    """Compute all rows that the options name. Returns those that have the needed columns."""
    columns = list(columns)
    folder = Path(os.environ.get("SANDERLING_TRACES") or sys.exit("SANDERLING_TRACES names no folder of traces"))
    runs = Runs(folder, options.part, options.keep, 0 if options.part_of_all else MANY_PAGES)
    places = list(_list_places(options, folder))
    for place in () if options.kept else places:
        runs.compute(place, columns)
    return runs, sorted(place for place in places if runs.has(place, list(needed) or columns))


def _list_places(options: argparse.Namespace, folder: Path) -> Iterator[Place]:
    for interval in map(float, options.intervals.split(",")):
        for trace in options.traces.split(",") if options.traces else traces_in(folder):
            yield trace, interval


def describe_part(runs: Runs) -> str:
    """Say which part of the traces was replayed."""
    if runs.part == 1:
        return ""
    of_large = f"Of traces with more than {MANY_PAGES:,} pages, every {runs.part}th hundred."
    return of_large if runs.min_pages else f"Of each trace every {runs.part}th hundred of the pages."

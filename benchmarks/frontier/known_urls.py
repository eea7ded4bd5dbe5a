"""Measure speed and memory of the coordinator with millions of known URLs.

The real coordinator, queue, URL store, catalog, link graph, and archive run on a disk; only the workers are simulated:
they return pages of the synthetic web (benchmarks/lib/synthetic_graph.py) with a hundred links each. The time of the
simulation is subtracted. Prints pages per second, CPU time and memory from 10 thousand, 1 and 5 million known
URLs on. All are measured over the same number of pages: enough that each pays for writing back links down at least
once.

Machines differ from minute to minute: the first two marks are measured in several rounds, and the middle one counts.

python -m benchmarks.frontier.known_urls [--marks 10000,1000000,5000000] [--rounds 5] [--data DIR] [--write]
"""

import argparse
import shutil
import sys
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

from benchmarks.lib.doc_tables import put
from benchmarks.lib.synthetic_graph import DEGREE, FRESH, Web, page_at
from benchmarks.lib.synthetic_visits import fetched
from msgspec import Struct

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.crawl.stop import FinishReason
from sanderling.fetch.dns import DnsResolver
from sanderling.models import FetchBatch, FetchTask, Host, Link, RobotsTxt, Url, Visit, WorkerReport
from sanderling.storage.link_graph import FLUSH_LINK_COUNT
from sanderling.workers.worker_engine import WorkerLost

HOSTS = 50
WINDOW = FLUSH_LINK_COUNT // DEGREE + 500  # pages of one measurement: back links are written once in it at least


class Mark(Struct, frozen=True):
    """Measurements at a size."""

    known: int
    pages_per_second: float
    cpu_seconds: float  # per page
    memory_bytes: int
    database_bytes: int


class Spent(Struct, frozen=True):
    """CPU time without that for generating pages."""

    wall: float
    cpu: float
    pages: int


class Meter:
    """Watches the crawl from the inside: opens windows at the marks, and stops it after the last."""

    def __init__(self, marks: Sequence[int], folder: Path) -> None:
        self._waiting = deque(marks)
        self._folder = folder
        self._opened: Spent | None = None
        self.coordinator: Coordinator | None = None
        self.free = Spent(0.0, 0.0, 0)  # spent on making pages up
        self.done: list[Mark] = []

    def look(self) -> None:
        """Called between two batches."""
        assert self.coordinator is not None
        known = self.coordinator.context.frontier.url_store.next_id - 1
        if not self._waiting or known < self._waiting[0]:
            return
        if self._opened is None:
            self._opened = self._spent()
        elif self.free.pages - self._opened.pages >= WINDOW:
            self._close(self._opened, known, self.coordinator)

    def _close(self, opened: Spent, known: int, coordinator: Coordinator) -> None:
        now, self._opened = self._spent(), None
        pages = now.pages - opened.pages
        size = sum(path.stat().st_size for path in self._folder.glob("sanderling.db*"))
        speed, cpu = pages / (now.wall - opened.wall), (now.cpu - opened.cpu) / pages
        self.done.append(Mark(self._waiting.popleft(), speed, cpu, resident_bytes(), size))
        print(f"  {describe(self.done[-1])} (known now: {known:,})", file=sys.stderr)
        if not self._waiting:
            coordinator.stop(FinishReason.PAGE_LIMIT)

    def _spent(self) -> Spent:
        free = self.free
        return Spent(time.perf_counter() - free.wall, time.process_time() - free.cpu, free.pages)

    def give(self, wall: float, cpu: float, pages: int) -> None:
        """So much was spent on making pages up."""
        self.free = Spent(self.free.wall + wall, self.free.cpu + cpu, self.free.pages + pages)


class Dreamers:
    """An engine whose workers make up pages."""

    def __init__(self, web: Web, meter: Meter) -> None:
        self._web = web
        self._meter = meter
        self._tasks: deque[tuple[str, FetchBatch]] = deque()
        self._names: list[str] = []

    def create_worker(self, name: str = "", place: str = "") -> str:  # noqa: ARG002 they live nowhere
        """Another worker."""
        self._names.append(name or f"dreamer-{len(self._names)}")
        return self._names[-1]

    def dispose_worker(self, worker: str) -> None:
        self._names.remove(worker)

    def list_places(self) -> list[str]:
        """Nowhere else."""
        return [""]

    def get_location(self, worker: str) -> str:  # noqa: ARG002 they live nowhere
        """Nowhere."""
        return ""

    def list_workers(self) -> list[str]:
        """All of them."""
        return self._names

    def send_batch(self, worker: str, batch: FetchBatch) -> None:
        """Note an task."""
        self._tasks.append((worker, batch))

    def cancel_tasks(self, worker: str, host: Host | None = None) -> None: ...

    def receive_reports(self, timeout: float) -> Sequence[WorkerReport | WorkerLost]:
        """Bring everything home at once."""
        self._meter.look()
        wall, cpu = time.perf_counter(), time.process_time()
        reports = [self._build_report(*task) for task in self._tasks]
        self._tasks.clear()
        if not reports:
            time.sleep(min(timeout, 0.001))
        pages = sum(len(report.visits) for report in reports)
        self._meter.give(time.perf_counter() - wall, time.process_time() - cpu, pages)
        return reports

    def close(self) -> None:
        """Nothing to close."""

    def _build_report(self, worker: str, batch: FetchBatch) -> WorkerReport:
        now = time.time()
        number = int(batch.host.partition("//h")[2].partition(".")[0])
        visits = tuple(self._visit(number, stop, len(batch.host), now) for stop in batch.tasks)
        robots = (RobotsTxt(batch.host, 404, b"", now, now + 86_400),) if batch.robots is None else ()
        return WorkerReport(worker, visits, robots)

    def _visit(self, host: int, stop: FetchTask, host_length: int, now: float) -> Visit:
        links = tuple(Link(Url(url)) for url in self._web.links(host, page_at(stop.url[host_length:])))
        return fetched(stop, now, links, {})


def resident_bytes() -> int:
    """Memory of this process that is in RAM now."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def describe(mark: Mark) -> str:
    return (
        f"{mark.known:,} known: {mark.pages_per_second:,.0f} pages/s, {mark.cpu_seconds * 1e3:.2f} ms of CPU per page, "
        f"{mark.memory_bytes / 1e6:.0f} MB in memory, database {mark.database_bytes / 1e6:,.0f} MB"
    )


def run(marks: Sequence[int], folder: Path) -> list[Mark]:
    """Crawl the synthetic web until the last mark is measured."""
    shutil.rmtree(folder, ignore_errors=True)
    web = Web(HOSTS, "http://h{}.test")
    meter = Meter(marks, folder)
    request = CrawlRequest(
        tuple(web.roots()),
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=2),
    )
    crawl(
        folder,
        request,
        on_start=lambda coordinator: setattr(meter, "coordinator", coordinator),
        engine=Dreamers(web, meter),
        resolver=DnsResolver(lambda _name: ("192.0.2.1",)),
    )
    shutil.rmtree(folder, ignore_errors=True)
    return meter.done


def report(rounds: Sequence[Sequence[Mark]]) -> str:
    """Format the table of the first round, and the targets."""
    marks = rounds[0]
    first, *_ = marks
    lines = [
        "| known URLs | pages/s of the coordinator | relative | CPU per page | memory | database |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {mark.known:,} | {mark.pages_per_second:,.0f} | {mark.pages_per_second / first.pages_per_second:.0%} "
        f"| {mark.cpu_seconds * 1e3:.2f} ms | {mark.memory_bytes / 1e6:.0f} MB | {mark.database_bytes / 1e6:,.0f} MB |"
        for mark in marks
    ]
    return "\n".join([*lines, "", *aims({mark.known: mark for mark in marks}, sorted(map(slowed, rounds)))])


def slowed(marks: Sequence[Mark]) -> float:
    """The speed at the second mark as a share of that at the first."""
    return marks[min(1, len(marks) - 1)].pages_per_second / marks[0].pages_per_second


def aims(by_size: dict[int, Mark], shares: Sequence[float]) -> list[str]:
    """Format the targets with the measured values."""
    small, million, five = (by_size.get(size) for size in (10_000, 1_000_000, 5_000_000))
    out = []
    if small and million:
        share, rounds = shares[(len(shares) - 1) // 2], ", ".join(f"{one:.0%}" for one in shares)
        out.append(
            f"- at 1 million known URLs at least 80 % of the speed at 10 thousand: {share:.0%} {_met(share >= 0.8)}, "
            f"median of {len(shares)} rounds ({rounds})"
        )
    if million:
        size = million.memory_bytes / 1e6
        out.append(f"- coordinator under 300 MB at 1 million known URLs: {size:.0f} MB {_met(size < 300)}")
    if million and five:
        growth = five.memory_bytes / million.memory_bytes - 1
        out.append(f"- memory grows by less than 20 % from 1 to 5 million: {growth:.0%} {_met(growth < 0.2)}")
    return out


def _met(held: bool) -> str:
    return "(met)" if held else "(NOT met)"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--marks", default="10000,1000000,5000000", help="numbers of known URLs, ascending")
    parser.add_argument("--rounds", type=int, default=5, help="how often the first two marks are measured")
    parser.add_argument("--data", type=Path, default=Path("bench-data"))
    parser.add_argument("--write", action="store_true", help="write docs/measurements/benchmarks.md")
    options = parser.parse_args()
    marks, folder = [int(mark) for mark in options.marks.split(",")], options.data.absolute() / "frontier"
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:  # each in memory of its own
        text = report(list(pool.map(run, [marks, *[marks[:2]] * (options.rounds - 1)], repeat(folder))))
    print(text)
    if options.write:
        intro = (
            f"The real coordinator and its tables; simulated workers report pages with {DEGREE} links, "
            f"at least {FRESH} of them new. Their time is subtracted. "
            f"Each row covers the next {WINDOW:,} pages, including back links.\n\n"
        )
        put("frontier", intro + text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

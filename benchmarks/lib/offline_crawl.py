"""Simulate a crawl without a network: real coordinator, queue, and orderings over a link graph in memory.

Workers are made up: they bring the pages they were sent for, a few at a time, so that as much is in hand, and
committed at once, as in a real crawl without pauses.
"""

import shutil
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.lib.link_graphs import LinkGraph, Page
from benchmarks.lib.synthetic_visits import fetched
from msgspec import Struct

from sanderling.config.settings import HttpSettings, OrderingSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl import result_batch
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.fetch.dns import DnsResolver
from sanderling.models import FetchBatch, FetchTask, Host, Link, Outcome, RobotsTxt, Visit, WorkerReport
from sanderling.workers.worker_engine import WorkerLost

TURN = 40  # pages a migrant brings in one batch: about what it fetches in 80 milliseconds

Look = Callable[[Page], tuple[Mapping[str, bytes], tuple[Link, ...]]]
"""What a migrant sees on a page: its marks and its links."""


class Replay(Struct, frozen=True):
    """Fetched pages in order, and CPU seconds without generating pages."""

    order: tuple[str, ...]
    seconds: float


class Players:
    """An engine whose workers return pages of a graph."""

    def __init__(self, graph: LinkGraph, look: Look) -> None:
        self._graph = graph
        self._look = look
        self._stops: dict[str, deque[tuple[FetchBatch, FetchTask]]] = {}
        self.order: list[str] = []
        self.free_seconds = 0.0

    def create_worker(self, name: str = "", place: str = "") -> str:  # noqa: ARG002 they live nowhere
        """Another worker."""
        name = name or f"player-{len(self._stops)}"
        self._stops[name] = deque()
        return name

    def dispose_worker(self, worker: str) -> None:
        self._stops.pop(worker, None)

    def list_places(self) -> list[str]:
        """Nowhere."""
        return [""]

    def get_location(self, worker: str) -> str:  # noqa: ARG002 they live nowhere
        """Nowhere."""
        return ""

    def list_workers(self) -> list[str]:
        """All of them."""
        return list(self._stops)

    def send_batch(self, worker: str, batch: FetchBatch) -> None:
        """Store a task."""
        self._stops[worker].extend((batch, stop) for stop in batch.tasks)

    def cancel_tasks(self, worker: str, host: Host | None = None) -> None: ...

    def receive_reports(self, timeout: float) -> Sequence[WorkerReport | WorkerLost]:
        """Bring a few pages of each."""
        start = time.process_time()
        reports = [self._build_report(name, stops) for name, stops in self._stops.items() if stops]
        self.free_seconds += time.process_time() - start
        if not reports:
            time.sleep(min(timeout, 0.001))
        return reports

    def close(self) -> None:
        """Nothing to close."""

    def _build_report(self, worker: str, stops: deque[tuple[FetchBatch, FetchTask]]) -> WorkerReport:
        now = time.time()
        visits, robots = [], {}
        for _ in range(min(TURN, len(stops))):
            batch, stop = stops.popleft()
            if batch.robots is None:
                robots[batch.host] = RobotsTxt(batch.host, 404, b"", now, now + 86_400)
            visits.append(self._visit(stop, now))
        return WorkerReport(worker, tuple(visits), tuple(robots.values()))

    def _visit(self, stop: FetchTask, now: float) -> Visit:
        page = self._graph.pages.get(stop.url)
        if page is None:
            return Visit(stop.id, stop.token, stop.url, Outcome.GONE, now, status=404)
        self.order.append(stop.url)
        marks, links = self._look(page)
        return fetched(stop, now, links, marks)


def plain(page: Page) -> tuple[Mapping[str, bytes], tuple[Link, ...]]:
    """For crawls without a topic."""
    return {}, page.links


def replay(graph: LinkGraph, order: OrderingSettings, folder: Path, look: Look = plain) -> Replay:
    """Crawl a graph to its end."""
    shutil.rmtree(folder, ignore_errors=True)
    players = Players(graph, look)
    request = CrawlRequest(
        (graph.seed,),
        scope=ScopeSettings(scope="any", sitemaps=False, include=_hosts(graph)),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=2),
        ordering=order,
    )
    usual = result_batch.BATCH_SECONDS, result_batch.MAX_BATCH_VISITS
    result_batch.BATCH_SECONDS, result_batch.MAX_BATCH_VISITS = (
        0.0,
        0,
    )  # each turn is a batch: no clock and no disk decides what is seen
    start = time.process_time()
    try:
        crawl(folder, request, engine=players, resolver=DnsResolver(lambda _name: ("192.0.2.1",)))
    finally:
        result_batch.BATCH_SECONDS, result_batch.MAX_BATCH_VISITS = usual
    seconds = time.process_time() - start - players.free_seconds
    shutil.rmtree(folder, ignore_errors=True)
    return Replay(tuple(players.order), seconds)


def _hosts(graph: LinkGraph) -> tuple[str, ...]:
    hosts = sorted({url.split("/")[2] for url in graph.pages})
    return tuple(f"^https://{host.replace('.', '[.]')}/" for host in hosts)

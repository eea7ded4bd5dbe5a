"""Coordinator: signals at any moment, and completion with nothing left in the queue."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.site import Site, tree

from sanderling.cli.progress import stop_on_signals
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.context import CrawlContext
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.open_context import CrawlPlan, open_context
from sanderling.crawl.request import parse_seed
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.crawl.stop import FinishReason
from sanderling.crawl.worker_setup import RunSetup
from sanderling.db.connection import transaction
from sanderling.fetch.dns import DnsResolver
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, FetchBatch, Host, Reason, Url, UrlSource, UrlState
from sanderling.workers import local
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.worker_engine import WorkerLost
from sanderling.workers.worker_protocol import send_buffered

MIN_BATCH_BYTES = 300  # all other messages to workers are smaller


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("is_sent", [False, True])
def test_signal_during_send_to_worker_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_sent: bool
) -> None:
    interrupted: list[bool] = []
    with Site(tree(60, fan=60)) as site:

        def send_with_signal(sock: socket.socket, outgoing: bytearray) -> int:
            if interrupted or len(outgoing) < MIN_BATCH_BYTES or not site.hits["/"]:
                return send_buffered(sock, outgoing)
            interrupted.append(True)
            if is_sent:  # but not yet removed from the buffer
                sent = sock.send(bytes(outgoing))
                signal.raise_signal(signal.SIGTERM)
                del outgoing[:sent]
            else:
                with memoryview(outgoing):
                    signal.raise_signal(signal.SIGTERM)
            return send_buffered(sock, outgoing)

        monkeypatch.setattr(local, "send_buffered", send_with_signal)
        request = CrawlRequest(
            seeds=(site.root + "/",),
            scope=ScopeSettings(sitemaps=False),
            politeness=PolitenessSettings(delay=0.0),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=1),
        )
        first = crawl(tmp_path, request, on_start=stop_on_signals)
        assert (interrupted, first.finish_reason) == ([True], "interrupted")
        assert max(site.hits.values()) == 1
        again = crawl(tmp_path, request)
        assert (again.finish_reason, again.pages) == ("done", 60)
        assert max(site.hits[path] for path in site.pages) == 1


class LosingEngine:
    """An engine whose only worker is lost right after its host was given up because of another worker's failures."""

    def __init__(self, context: CrawlContext) -> None:
        self.context = context
        self.created = 0
        self.sent: list[FetchBatch] = []

    def create_worker(self, name: str = "", place: str = "") -> str:
        self.created += 1
        return name or f"w{self.created}"

    def send_batch(self, worker: str, batch: FetchBatch) -> None:
        self.sent.append(batch)

    def receive_reports(self, timeout: float) -> list[WorkerLost]:
        if len(self.sent) != 1:
            return []
        self.sent *= 2
        with transaction(self.context.db):
            self.context.frontier.hosts.give_up(1, Reason.CONNECT, UrlState.FAILED)
        return [WorkerLost("w1")]

    def list_workers(self) -> list[str]:
        return []

    def list_places(self) -> list[str]:
        return [""]

    def get_location(self, worker: str) -> str:
        return ""

    def cancel_tasks(self, worker: str, host: Host | None = None) -> None: ...
    def dispose_worker(self, worker: str) -> None: ...
    def close(self) -> None: ...


def test_crawl_is_complete_only_when_no_url_of_a_given_up_host_is_queued(tmp_path: Path) -> None:
    request = CrawlRequest(
        seeds=("http://127.0.0.1:1/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0.0)
    )
    seed = parse_seed(request.seeds[0])
    with open_context(CrawlPlan(tmp_path, request, [seed])) as (context, _):
        urls = [seed.url, *(Url(f"{seed.url}{number}") for number in range(4))]
        with transaction(context.db):
            context.frontier.enqueue(
                [FrontierEntry(CandidateUrl(url, source=UrlSource.SEED), UrlState.QUEUED) for url in urls], 1.0
            )
        coordinator = Coordinator(
            context,
            LosingEngine(context),
            DnsResolver(),
            WorkerAssignment(AhpStrategy()),
            RunSetup(tmp_path, allow_private=True),
        )
        (tmp_path / "logs").mkdir(exist_ok=True)
        assert coordinator.run() is FinishReason.DONE
        states = context.db.execute("SELECT state, count(*) FROM urls GROUP BY state").fetchall()
        assert (states, context.frontier.queue.count_queued()) == ([("failed", 5)], 0)
        assert context.db.execute("SELECT count(*) FROM queue").fetchone() == (0,)
        assert context.stats.failed == 5

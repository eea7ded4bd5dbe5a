"""Dispatching before the last batch is stored, and the crawl delay of batches."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from sanderling.clock import system_clock
from sanderling.config.settings import PolitenessSettings, ScopeSettings
from sanderling.crawl.context import CrawlContext
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.dispatch import Dispatcher
from sanderling.crawl.open_context import CrawlPlan, open_context
from sanderling.crawl.request import CrawlRequest, parse_seed
from sanderling.crawl.worker_setup import build_assignment, build_run_setup
from sanderling.db.connection import transaction
from sanderling.fetch.dns import DnsResolver
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import (
    CandidateUrl,
    FetchBatch,
    Host,
    Outcome,
    Reason,
    RobotsTxt,
    Url,
    UrlRole,
    UrlSource,
    UrlState,
    Visit,
    WorkerReport,
)
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.local import LocalEngine, _WorkerHandle
from sanderling.workers.migrant.address import MigrantAddress


class FailingSender:
    """Fails if anything is sent."""

    def send_batch(self, worker: str, batch: object) -> None:
        raise AssertionError(f"{worker} got {batch}")


def build_dispatcher(
    *, delay: float = 0.0, quota: object = None, focused: bool = False, eager: bool = False
) -> Dispatcher:
    frontier = SimpleNamespace(politeness=SimpleNamespace(delay_seconds=delay), quota=quota)
    context = SimpleNamespace(frontier=frontier, ordering=SimpleNamespace(is_eager=eager, is_focused=focused))
    return Dispatcher(
        cast(CrawlContext, context),
        FailingSender(),
        WorkerAssignment(AhpStrategy()),
        lambda: 1,
        lambda: 0,
        clock=system_clock,
    )


def build_report(outcome: Outcome, reason: Reason = Reason.NONE) -> WorkerReport:
    return WorkerReport("m1", (Visit(1, 1, Url("http://a/"), outcome, 0.0, reason),))


HEALTHY = build_report(Outcome.FETCHED)


def test_healthy_reports_allow_early_dispatch() -> None:
    assert build_dispatcher().can_dispatch_early([HEALTHY, build_report(Outcome.GONE)])


@pytest.mark.parametrize("failure", [build_report(Outcome.RETRY, Reason.RATE_LIMITED), build_report(Outcome.RETURNED)])
def test_failed_visits_prevent_early_dispatch(failure: WorkerReport) -> None:
    assert not build_dispatcher().can_dispatch_early([HEALTHY, failure])


def test_new_robots_txt_prevents_early_dispatch() -> None:
    assert not build_dispatcher().can_dispatch_early(
        [WorkerReport("m1", (), (RobotsTxt(Host("http://a"), 200, b"", 0.0, 1e9),))]
    )


def test_crawl_delay_quota_and_focus_prevent_early_dispatch() -> None:
    assert not build_dispatcher(delay=1.0).can_dispatch_early([HEALTHY])
    assert not build_dispatcher(quota=object()).can_dispatch_early([HEALTHY])
    assert not build_dispatcher(focused=True).can_dispatch_early([HEALTHY])
    assert not build_dispatcher(eager=True).can_dispatch_early([HEALTHY])


MIGRANT_URL = "https://migrant.example"
SITE = "http://127.0.0.1:1"


class RecordingEngine(LocalEngine):
    """An engine that starts no processes and records sent batches."""

    def __init__(self) -> None:
        super().__init__(FetchSettings(), {MIGRANT_URL: MigrantAddress(MIGRANT_URL, "", "")})
        self.migrant_sites = {Host(SITE): MIGRANT_URL}
        self.sent: list[FetchBatch] = []

    def create_worker(self, name: str = "", place: str = "") -> str:
        self.workers[name] = cast(_WorkerHandle, SimpleNamespace(name=name, place=place))
        return name

    def dispose_worker(self, worker: str) -> None:
        del self.workers[worker]

    def send_batch(self, worker: str, batch: FetchBatch) -> None:
        self.sent.append(batch)

    def cancel_tasks(self, worker: str, host: Host | None = None) -> None: ...


def dispatch_to(coordinator: Coordinator, engine: RecordingEngine, worker: str, place: str) -> list[FetchBatch]:
    """Dispatch with a single worker, then release its leases."""
    engine.workers.clear()
    engine.sent.clear()
    engine.create_worker(worker, place)
    coordinator.assignment.add_worker(worker)
    coordinator.dispatcher.dispatch_batches()
    with transaction(coordinator.context.db):
        coordinator.context.frontier.queue.release_leases(worker)
    coordinator.assignment.remove_worker(worker)
    return list(engine.sent)


def test_crawl_delay_applies_while_no_migrant_runs_at_site(tmp_path: Path) -> None:
    request = CrawlRequest(
        seeds=(SITE + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0.3)
    )
    with open_context(CrawlPlan(tmp_path, request, [parse_seed(SITE + "/")])) as (context, _):
        urls = [
            CandidateUrl(Url(f"{SITE}/{number}"), source=UrlSource.SEED, role=UrlRole.PAGE) for number in range(200)
        ]
        with transaction(context.db):
            context.frontier.enqueue([FrontierEntry(url, UrlState.QUEUED) for url in urls], 1.0)
            context.frontier.hosts.set_addresses(1, ("127.0.0.1",), 1e12)
        engine = RecordingEngine()
        coordinator = Coordinator(
            context,
            engine,
            DnsResolver(),
            build_assignment(request, engine, system_clock),
            build_run_setup(request, engine, tmp_path, system_clock),
        )
        (at_site,) = dispatch_to(coordinator, engine, "m1", MIGRANT_URL)
        (over_network,) = dispatch_to(coordinator, engine, "m1", "")
        (at_site_again,) = dispatch_to(coordinator, engine, "m1", MIGRANT_URL)
        assert (at_site.delay_seconds, over_network.delay_seconds, at_site_again.delay_seconds) == (0.0, 0.3, 0.0)
        assert len(over_network.tasks) <= context.frontier.politeness.get_max_in_flight() < len(at_site.tasks)

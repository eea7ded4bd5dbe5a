"""What may be handed out before the last batch is stored, and with which crawl delay."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from sanderling.clock import system_clock
from sanderling.config.settings import PolitenessSettings, ScopeSettings
from sanderling.crawl.context import CrawlContext
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.dispatch import Dispatcher
from sanderling.crawl.open_context import build_context
from sanderling.crawl.request import CrawlRequest, parse_seed
from sanderling.crawl.stop import CrawlLimits
from sanderling.crawl.worker_setup import build_coordinator
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
from sanderling.storage.collection import open_collection
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.local import LocalEngine, _WorkerHandle
from sanderling.workers.migrant.address import MigrantAddress


class Nobody:
    """Posts nothing."""

    def send_batch(self, worker: str, batch: object) -> None:
        raise AssertionError(f"{worker} got {batch}")


def errands(*, delay: float = 0.0, quota: object = None, focused: bool = False, eager: bool = False) -> Dispatcher:
    queue = SimpleNamespace(politeness=SimpleNamespace(delay_seconds=delay), quota=quota)
    house = SimpleNamespace(queue=queue, ordering=SimpleNamespace(is_eager=eager, is_focused=focused))
    return Dispatcher(
        cast(CrawlContext, house), Nobody(), WorkerAssignment(AhpStrategy()), lambda: 1, lambda: 0, system_clock
    )


def brought(outcome: Outcome, reason: Reason = Reason.NONE) -> WorkerReport:
    return WorkerReport("m1", (Visit(1, 1, Url("http://a/"), outcome, 0.0, reason),))


FINE = brought(Outcome.FETCHED)


def test_who_brings_pages_may_have_more_at_once() -> None:
    assert errands().can_dispatch_early([FINE, brought(Outcome.GONE)])


@pytest.mark.parametrize("trouble", [brought(Outcome.RETRY, Reason.RATE_LIMITED), brought(Outcome.RETURNED)])
def test_trouble_is_stored_before_its_host_is_asked_again(trouble: WorkerReport) -> None:
    assert not errands().can_dispatch_early([FINE, trouble])


def test_rules_of_a_site_are_learned_first() -> None:
    assert not errands().can_dispatch_early(
        [WorkerReport("m1", (), (RobotsTxt(Host("http://a"), 200, b"", 0.0, 1e9),))]
    )


def test_pauses_limits_and_topics_need_the_last_word() -> None:
    assert not errands(delay=1.0).can_dispatch_early([FINE])
    assert not errands(quota=object()).can_dispatch_early([FINE])
    assert not errands(focused=True).can_dispatch_early([FINE])
    assert not errands(eager=True).can_dispatch_early([FINE])


PLACE = "https://beside.example"
SITE = "http://127.0.0.1:1"


class StillProcesses(LocalEngine):
    """An engine that starts no processes and records what it would send."""

    def __init__(self) -> None:
        super().__init__(FetchSettings(), {PLACE: MigrantAddress(PLACE, "", "")})
        self.migrant_sites = {Host(SITE): PLACE}
        self.sent: list[FetchBatch] = []

    def create_worker(self, name: str = "", place: str = "") -> str:
        self.workers[name] = cast(_WorkerHandle, SimpleNamespace(name=name, place=place))
        return name

    def dispose_worker(self, worker: str) -> None:
        del self.workers[worker]

    def send_batch(self, worker: str, batch: FetchBatch) -> None:
        self.sent.append(batch)

    def cancel_tasks(self, worker: str, host: Host | None = None) -> None: ...


def hand_out(coordinator: Coordinator, engine: StillProcesses, migrant: str, place: str) -> list[FetchBatch]:
    """Hand out what waits while this is the only worker, then return its leases."""
    engine.workers.clear()
    engine.sent.clear()
    engine.create_worker(migrant, place)
    coordinator.assignment.add_worker(migrant)
    coordinator.dispatcher.dispatch_batches()
    with transaction(coordinator.context.db):
        coordinator.context.queue.release_leases(migrant)
    coordinator.assignment.remove_worker(migrant)
    return list(engine.sent)


def test_crawl_delay_applies_again_once_no_worker_runs_beside_the_server(tmp_path: Path) -> None:
    request = CrawlRequest(
        seeds=(SITE + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0.3)
    )
    with open_collection(tmp_path) as collection:
        house = build_context(collection, request, [parse_seed(SITE + "/")], -1, system_clock)
        urls = [
            CandidateUrl(Url(f"{SITE}/{number}"), source=UrlSource.SEED, role=UrlRole.PAGE) for number in range(200)
        ]
        with transaction(house.db):
            house.url_store.insert_and_enqueue([FrontierEntry(url, UrlState.QUEUED) for url in urls], 1.0)
            house.hosts.set_addresses(1, ("127.0.0.1",), 1e12)
        engine = StillProcesses()
        coordinator = build_coordinator(house, engine, request, tmp_path, CrawlLimits(), DnsResolver(), system_clock)
        (beside,) = hand_out(coordinator, engine, "m1", PLACE)
        (home,) = hand_out(coordinator, engine, "m1", "")
        (back,) = hand_out(coordinator, engine, "m1", PLACE)
        assert (beside.delay_seconds, home.delay_seconds, back.delay_seconds) == (0.0, 0.3, 0.0)
        assert len(home.tasks) <= house.queue.politeness.get_max_in_flight() < len(beside.tasks)
        house.archive.close()
        house.crawl_log.close()

"""What may be handed out before the last batch is stored, and with which crawl delay."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from sanderling.clock import real
from sanderling.config.settings import Politeness, Scope
from sanderling.crawl.context import House
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.dispatch import Errands
from sanderling.crawl.open_context import open_house
from sanderling.crawl.request import Request, read_seed
from sanderling.crawl.stop import Bounds
from sanderling.crawl.worker_pool import put_in_charge
from sanderling.db.connection import transaction
from sanderling.fetch.dns import Resolver
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.frontier.url_store import Entry
from sanderling.models import (
    Candidate,
    Host,
    Itinerary,
    Outcome,
    Parcel,
    Reason,
    Robots,
    Role,
    Source,
    State,
    Url,
    Visit,
)
from sanderling.storage.collection import open_collection
from sanderling.workers.assignment.ahp_strategy import Ahp
from sanderling.workers.assignment.roster import Roster
from sanderling.workers.local import Processes, _Crew
from sanderling.workers.migrant.address import Address


class Nobody:
    """Posts nothing."""

    def send(self, migrant: str, itinerary: object) -> None:
        raise AssertionError(f"{migrant} got {itinerary}")


def errands(*, delay: float = 0.0, quota: object = None, focused: bool = False, eager: bool = False) -> Errands:
    queue = SimpleNamespace(pace=SimpleNamespace(delay_seconds=delay), quota=quota)
    house = SimpleNamespace(queue=queue, order=SimpleNamespace(is_eager=eager, is_focused=focused))
    return Errands(cast(House, house), Nobody(), Roster(Ahp()), lambda: 1, lambda: 0, real)


def brought(outcome: Outcome, reason: Reason = Reason.NONE) -> Parcel:
    return Parcel("m1", (Visit(1, 1, Url("http://a/"), outcome, 0.0, reason),))


FINE = brought(Outcome.FETCHED)


def test_who_brings_pages_may_have_more_at_once() -> None:
    assert errands().may_go_ahead([FINE, brought(Outcome.GONE)])


@pytest.mark.parametrize("trouble", [brought(Outcome.RETRY, Reason.RATE_LIMITED), brought(Outcome.RETURNED)])
def test_trouble_is_stored_before_its_host_is_asked_again(trouble: Parcel) -> None:
    assert not errands().may_go_ahead([FINE, trouble])


def test_rules_of_a_site_are_learned_first() -> None:
    assert not errands().may_go_ahead([Parcel("m1", (), (Robots(Host("http://a"), 200, b"", 0.0, 1e9),))])


def test_pauses_limits_and_topics_need_the_last_word() -> None:
    assert not errands(delay=1.0).may_go_ahead([FINE])
    assert not errands(quota=object()).may_go_ahead([FINE])
    assert not errands(focused=True).may_go_ahead([FINE])
    assert not errands(eager=True).may_go_ahead([FINE])


PLACE = "https://beside.example"
SITE = "http://127.0.0.1:1"


class StillProcesses(Processes):
    """An engine that starts no processes and records what it would send."""

    def __init__(self) -> None:
        super().__init__(FetchSettings(), {PLACE: Address(PLACE, "", "")})
        self.served = {Host(SITE): PLACE}
        self.sent: list[Itinerary] = []

    def create(self, name: str = "", place: str = "") -> str:
        self.crew[name] = cast(_Crew, SimpleNamespace(name=name, place=place))
        return name

    def dispose(self, migrant: str) -> None:
        del self.crew[migrant]

    def send(self, migrant: str, itinerary: Itinerary) -> None:
        self.sent.append(itinerary)

    def abandon(self, migrant: str, host: Host | None = None) -> None: ...


def hand_out(coordinator: Coordinator, engine: StillProcesses, migrant: str, place: str) -> list[Itinerary]:
    """Hand out what waits while this is the only worker, then return its leases."""
    engine.crew.clear()
    engine.sent.clear()
    engine.create(migrant, place)
    coordinator.roster.join(migrant)
    coordinator.errands.hand_out()
    with transaction(coordinator.house.db):
        coordinator.house.queue.release(migrant)
    coordinator.roster.leave(migrant)
    return list(engine.sent)


def test_crawl_delay_applies_again_once_no_worker_runs_beside_the_server(tmp_path: Path) -> None:
    request = Request(seeds=(SITE + "/",), scope=Scope(sitemaps=False), politeness=Politeness(delay=0.3))
    with open_collection(tmp_path) as collection:
        house = open_house(collection, request, [read_seed(SITE + "/")], -1, real)
        urls = [Candidate(Url(f"{SITE}/{number}"), source=Source.SEED, role=Role.PAGE) for number in range(200)]
        with transaction(house.db):
            house.book.add([Entry(url, State.QUEUED) for url in urls], 1.0)
            house.hosts.locate(1, ("127.0.0.1",), 1e12)
        engine = StillProcesses()
        coordinator = put_in_charge(house, engine, request, tmp_path, Bounds(), Resolver(), real)
        (beside,) = hand_out(coordinator, engine, "m1", PLACE)
        (home,) = hand_out(coordinator, engine, "m1", "")
        (back,) = hand_out(coordinator, engine, "m1", PLACE)
        assert (beside.delay_seconds, home.delay_seconds, back.delay_seconds) == (0.0, 0.3, 0.0)
        assert len(home.stops) <= house.queue.pace.most() < len(beside.stops)
        house.archive.close()
        house.log.close()

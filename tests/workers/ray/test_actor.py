"""One turn of a migrant on a cluster, without the cluster."""

import socket
import time

import msgspec
import pytest
from tests.support.site import Site, html

from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import SUSPECT_LOSSES, FetchBatch, FetchTask, Host, Outcome, Url, WorkerReport
from sanderling.workers.ray.actor import WorkerActor
from sanderling.workers.ray.driver import ForwardCommand, RayDriver
from sanderling.workers.worker import Worker, compute_fingerprints
from sanderling.workers.worker_protocol import FetchCommand, FrameBuffer, decode_report, encode_frame


def turns(migrant: WorkerActor, *orders: FetchCommand) -> WorkerReport:
    """Turns until something is said."""
    sent = [msgspec.msgpack.encode(order) for order in orders]
    while True:
        body, load = migrant.run_turn(sent)
        parcel, sent = decode_report(body), []
        if parcel.visits or parcel.suspect_token or not load:
            return parcel


def test_what_became_of_a_suspect_goes_home_before_anything_else_begins() -> None:
    with Site({f"/{n}": html(text=f"page {n}") for n in range(4)}) as site:
        stops = [FetchTask(n, n + 1, Url(f"{site.root}/{n}"), losses=SUSPECT_LOSSES * (n == 0)) for n in range(4)]
        migrant = WorkerActor("m", msgspec.msgpack.encode(FetchSettings(allow_private=True)))
        try:
            told = turns(
                migrant, FetchCommand(FetchBatch(Host(site.root), tuple(stops), delay_seconds=0.0, max_connections=4))
            )
            assert (told.suspect_token, told.visits, site.hits["/0"]) == (1, (), 0), "it is told before it is asked for"
            came = turns(migrant)
            assert [visit.id for visit in came.visits] == [0]
            assert sum(site.hits[f"/{n}"] for n in (1, 2, 3)) == 0, "else it would be to blame for what they do"
            found: list[int] = []
            while len(found) < 3:
                found += [visit.id for visit in turns(migrant).visits]
            assert sorted(found) == [1, 2, 3]
        finally:
            migrant.fetch_loop.close()


SETTINGS = FetchSettings(allow_private=True, lease_seconds=30.0)


def batch(site: Site) -> FetchCommand:
    stops = tuple(FetchTask(n, n + 1, Url(f"{site.root}/{n}")) for n in range(4))
    return FetchCommand(FetchBatch(Host(site.root), stops, delay_seconds=0.0, max_connections=4))


@pytest.mark.parametrize(("oldest", "gap"), [(31.0, 0.0), (0.0, 31.0)])
def test_actor_returns_urls_whose_leases_expired_without_a_request(oldest: float, gap: float) -> None:
    with Site({f"/{n}": html(text=f"page {n}") for n in range(4)}) as site:
        migrant = WorkerActor("m", msgspec.msgpack.encode(SETTINGS))
        try:
            migrant.last_turn -= gap
            body, load = migrant.run_turn([msgspec.msgpack.encode(batch(site))], oldest)
            outcomes = [visit.outcome for visit in decode_report(body).visits]
            assert (outcomes, load, site.hits.total()) == ([Outcome.RETURNED] * 4, 0, 0)
            assert len(turns(migrant, batch(site)).visits) > 0
            assert site.hits.total() > 0, "a worker that is heard again fetches what it is sent from then on"
        finally:
            migrant.fetch_loop.close()


def test_process_that_was_stopped_for_longer_than_a_lease_returns_its_urls_without_a_request() -> None:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    trip = FetchLoop(SETTINGS, compute_fingerprints, name="m", packs_links=True)
    with Site({f"/{n}": html(text=f"page {n}") for n in range(4)}) as site, ours, theirs:
        try:
            worker = Worker("m", trip, theirs, SETTINGS.lease_seconds)
            worker.last_poll -= 31.0
            ours.sendall(encode_frame(batch(site)))
            assert worker._handle_commands()
            inbox = FrameBuffer()
            inbox.receive(ours)
            outcomes = [visit.outcome for body in inbox.pop_frames() for visit in decode_report(body).visits]
            assert (outcomes, trip.load, site.hits.total()) == ([Outcome.RETURNED] * 4, 0, 0)
        finally:
            trip.close()


class TurnRecorder:
    """Stands for a Ray actor: records with which age its turn was started."""

    def __init__(self) -> None:
        self.run_turn = self
        self.ages: list[float] = []

    def remote(self, orders: list[bytes], oldest: float) -> str:
        self.ages.append(oldest)
        return "turn"


def test_driver_tells_for_how_long_the_oldest_order_has_waited() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        driver, actor = RayDriver(None, b"", theirs), TurnRecorder()
        driver.actors["m"] = actor
        now = time.monotonic()
        driver.pending_commands["m"] = [ForwardCommand("m", b"", now - 200), ForwardCommand("m", b"", now)]
        driver._start_turn("m")
        driver.pending_commands["m"] = []
        driver._start_turn("m")
        assert actor.ages[0] >= 200 > actor.ages[1]

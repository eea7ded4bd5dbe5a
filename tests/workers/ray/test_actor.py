"""Turns of a worker actor, without a cluster."""

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


def run_turns(actor: WorkerActor, *commands: FetchCommand) -> WorkerReport:
    """Run run_turns until there is something to report."""
    encoded = [msgspec.msgpack.encode(command) for command in commands]
    while True:
        body, load = actor.run_turn(encoded)
        report, encoded = decode_report(body), []
        if report.visits or report.suspect_token or not load:
            return report


def test_visit_of_a_suspect_is_reported_before_the_next_fetch() -> None:
    with Site({f"/{n}": html(text=f"page {n}") for n in range(4)}) as site:
        tasks = [FetchTask(n, n + 1, Url(f"{site.root}/{n}"), losses=SUSPECT_LOSSES * (n == 0)) for n in range(4)]
        actor = WorkerActor("m", msgspec.msgpack.encode(FetchSettings(allow_private=True)))
        try:
            report = run_turns(
                actor, FetchCommand(FetchBatch(Host(site.root), tuple(tasks), delay_seconds=0.0, max_connections=4))
            )
            assert (report.suspect_token, report.visits, site.hits["/0"]) == (1, (), 0), "reported before the fetch"
            report = run_turns(actor)
            assert [visit.id for visit in report.visits] == [0]
            assert sum(site.hits[f"/{n}"] for n in (1, 2, 3)) == 0, "a crash must be attributable"
            visited: list[int] = []
            while len(visited) < 3:
                visited += [visit.id for visit in run_turns(actor).visits]
            assert sorted(visited) == [1, 2, 3]
        finally:
            actor.fetch_loop.close()


SETTINGS = FetchSettings(allow_private=True, lease_seconds=30.0)


def build_command(site: Site) -> FetchCommand:
    tasks = tuple(FetchTask(n, n + 1, Url(f"{site.root}/{n}")) for n in range(4))
    return FetchCommand(FetchBatch(Host(site.root), tasks, delay_seconds=0.0, max_connections=4))


@pytest.mark.parametrize(("oldest_age", "gap"), [(31.0, 0.0), (0.0, 31.0)])
def test_actor_returns_urls_whose_leases_expired_without_a_request(oldest_age: float, gap: float) -> None:
    with Site({f"/{n}": html(text=f"page {n}") for n in range(4)}) as site:
        actor = WorkerActor("m", msgspec.msgpack.encode(SETTINGS))
        try:
            actor.last_turn -= gap
            body, load = actor.run_turn([msgspec.msgpack.encode(build_command(site))], oldest_age)
            outcomes = [visit.outcome for visit in decode_report(body).visits]
            assert (outcomes, load, site.hits.total()) == ([Outcome.RETURNED] * 4, 0, 0)
            assert len(run_turns(actor, build_command(site)).visits) > 0
            assert site.hits.total() > 0, "new commands are executed"
        finally:
            actor.fetch_loop.close()


def test_worker_suspended_for_longer_than_a_lease_returns_its_urls() -> None:
    parent, child = socket.socketpair()
    child.setblocking(False)
    fetch_loop = FetchLoop(SETTINGS, compute_fingerprints, name="m", packs_links=True)
    with Site({f"/{n}": html(text=f"page {n}") for n in range(4)}) as site, parent, child:
        try:
            worker = Worker("m", fetch_loop, child, SETTINGS.lease_seconds)
            worker.last_poll -= 31.0
            parent.sendall(encode_frame(build_command(site)))
            assert worker._handle_commands()
            inbox = FrameBuffer()
            inbox.receive(parent)
            outcomes = [visit.outcome for body in inbox.pop_frames() for visit in decode_report(body).visits]
            assert (outcomes, fetch_loop.load, site.hits.total()) == ([Outcome.RETURNED] * 4, 0, 0)
        finally:
            fetch_loop.close()


class TurnRecorder:
    """A fake Ray actor that records the ages passed to its run_turns."""

    def __init__(self) -> None:
        self.run_turn = self
        self.ages: list[float] = []

    def remote(self, commands: list[bytes], oldest_age: float) -> str:
        self.ages.append(oldest_age)
        return "turn"


def test_driver_passes_the_age_of_the_oldest_command() -> None:
    parent, child = socket.socketpair()
    with parent, child:
        driver, actor = RayDriver(None, b"", child), TurnRecorder()
        driver.actors["m"] = actor
        now = time.monotonic()
        driver.pending_commands["m"] = [ForwardCommand("m", b"", now - 200), ForwardCommand("m", b"", now)]
        driver._start_turn("m")
        driver.pending_commands["m"] = []
        driver._start_turn("m")
        assert actor.ages[0] >= 200 > actor.ages[1]

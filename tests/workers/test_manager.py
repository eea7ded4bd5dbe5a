"""The life of migrants in a running crawl, with real processes against a real server."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from tests.support.site import Page, Site, html, tree

from sanderling.clock import Clock, system_clock
from sanderling.config.settings import (
    AUTO_WORKERS,
    AssignmentSettings,
    HttpSettings,
    PolitenessSettings,
    ScopeSettings,
    WorkerSettings,
)
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.refresh import refresh
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl
from sanderling.errors import UsageError
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import Host
from sanderling.storage.collection import open_collection_read_only
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.control import ControlMessage, send_command
from sanderling.workers.lifecycle import LifecycleState
from sanderling.workers.local import LocalEngine
from sanderling.workers.manager import DRAIN_TIMEOUT_SECONDS, WorkerPool
from sanderling.workers.parking import park_workers


class Gated(Site):
    """A site that holds back its pages until the gate is open, and the last page until the last gate is."""

    def __init__(self, pages: dict[str, Page]) -> None:
        super().__init__(pages)
        self.gate, self.last = threading.Event(), threading.Event()
        self.held = 0  # questions that came for pages, answered or not

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        with self.lock:
            self.held += handler.path not in ("/", "/robots.txt")
        if handler.path == "/last":
            self.last.wait(300)
        elif handler.path.startswith("/p"):
            self.gate.wait(300)
        super().answer(handler)


def star(count: int) -> dict[str, Page]:
    leaves = [f"/p{n}" for n in range(count)]
    return {"/": html("/last", *leaves), "/last": html(text="last"), **{leaf: html(text=leaf) for leaf in leaves}}


class Hurried:
    """A clock that can be put forward; it never stands still, for migrants have the real time."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return system_clock() + self.ahead

    def advance(self, seconds: float) -> float:
        self.ahead += seconds
        return self()


class Running:
    """A crawl in a thread of its own."""

    def __init__(self, site: Site, folder: Path, workers: WorkerSettings, clock: Clock = system_clock) -> None:
        self.folder, self.clock = folder, clock
        self.coordinator: Coordinator | None = None
        self.summary: CrawlSummary | None = None
        self.request = CrawlRequest(
            seeds=(site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0.0),
            fetching=HttpSettings(allow_private=True), workers=workers,
        )  # fmt: skip
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        patient = FetchSettings(allow_private=True, idle_timeout=600.0, timeout=600.0, robots_timeout=600.0)
        self.summary = crawl(self.folder, self.request, on_start=lambda crew: setattr(self, "coordinator", crew),
                             engine=LocalEngine(patient), clock=self.clock)  # fmt: skip

    def heard_at(self, migrant: str) -> float:
        assert self.coordinator is not None
        return self.coordinator.assignment.workers[migrant].last_contact_at

    def ask(self, do: str, *migrants: str, **more: str) -> list[ControlMessage]:
        answer = send_command(self.folder, {"do": do, "workers": list(migrants), **more})
        assert "error" not in answer, answer
        rows: list[ControlMessage] = answer["workers"]
        return rows

    def wait(self, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 300
        while not ready():
            assert time.monotonic() < deadline, self.ask("list")
            assert self.thread.is_alive()
            time.sleep(0.02)


@contextmanager
def running(site: Gated, folder: Path, workers: WorkerSettings, clock: Clock = system_clock) -> Iterator[Running]:
    crew = Running(site, folder, workers, clock)
    crew.thread.start()
    try:
        crew.wait(lambda: (folder / "control" / "alive").exists())
        yield crew
    finally:
        site.gate.set()
        site.last.set()
        crew.thread.join(300)


def visits(folder: Path) -> tuple[int, int]:
    with open_collection_read_only(folder) as collection:
        all_, once = collection.db.execute("SELECT count(*), count(DISTINCT url) FROM visits").fetchone()
        return int(all_), int(once)


class Rooms:
    """An engine with two places and nobody in them."""

    def __init__(self) -> None:
        self.at: dict[str, str] = {}

    def create_worker(self, name: str = "", place: str = "") -> str:
        name = name or f"m{len(self.at)}"
        self.at[name] = place
        return name

    def dispose_worker(self, worker: str) -> None:
        del self.at[worker]

    def cancel_tasks(self, worker: str) -> None:
        assert worker in self.at

    def list_places(self) -> list[str]:
        return ["", "http://there"]

    def get_location(self, worker: str) -> str:
        return self.at.get(worker, "")


def test_a_migrant_is_dispatched_and_retracted_under_its_own_name(tmp_path: Path) -> None:
    engine, released = Rooms(), list[str]()

    def release(migrant: str) -> int:
        released.append(migrant)
        return 0

    crew = WorkerPool(engine, WorkerAssignment(AhpStrategy()), tmp_path, release)
    one = crew.create()
    crew.dispatch(one, "http://there")
    assert crew.assignment.list_available() == []
    assert crew.complete_transitions() == [one]
    assert (engine.at, released) == ({one: "http://there"}, [one])
    assert (crew.registry.get(one).state, crew.registry.get(one).place) == (LifecycleState.RUNNING, "http://there")
    crew.retract(one)
    crew.complete_transitions()
    assert engine.at == {one: ""}
    with pytest.raises(UsageError, match="there is no place 'http://nowhere'; there are: home, http://there"):
        crew.dispatch(one, "http://nowhere")


def test_a_parked_migrant_outlives_the_crawl_that_parked_it(tmp_path: Path) -> None:
    crew = WorkerPool(Rooms(), WorkerAssignment(AhpStrategy()), tmp_path, lambda _: 0)
    one, two = crew.create(), crew.create("http://there")
    assert crew.deactivate_others(one) == [two]
    crew.complete_transitions()
    crew.close()
    later = WorkerPool(Rooms(), WorkerAssignment(AhpStrategy()), tmp_path, lambda _: 0)
    later.load_parked()
    assert [entry.state for entry in later.registry.list_alive()] == [LifecycleState.DEACTIVATED]
    later.activate(two)
    assert (later.engine.get_location(two), later.assignment.list_available()) == ("http://there", [two])


def test_migrants_are_cloned_parked_woken_and_disposed_of_while_the_crawl_goes_on(tmp_path: Path) -> None:
    with Gated(star(300)) as site, running(site, tmp_path, WorkerSettings(workers=2)) as crew:
        crew.wait(lambda: all(row["load"] > 0 for row in crew.ask("list")) and site.held >= 8)
        first, second = (row["id"] for row in crew.ask("list"))
        (clone,) = crew.ask("clone", first)
        assert (clone["parent"], clone["state"]) == (first, "running")
        refused = send_command(tmp_path, {"do": "resume", "workers": [first]})
        assert refused == {"error": f"cannot activate {first}: it is running"}
        site.gate.set()
        (parked,) = crew.ask("pause", second)
        assert (parked["state"], parked["where"]) == ("deactivated", "")
        assert json.loads((tmp_path / "migrants" / f"{second}.json").read_text())["id"] == second
        (woken,) = crew.ask("resume", second)
        assert (woken["id"], woken["state"]) == (second, "running")
        assert not (tmp_path / "migrants" / f"{second}.json").exists()
        (gone,) = crew.ask("dispose", clone["id"])
        assert gone["state"] == "disposed"
        assert send_command(tmp_path, {"do": "pause", "workers": [gone["id"]]})["error"].startswith("cannot deactivate")
    assert crew.summary is not None
    assert (crew.summary.finish_reason, crew.summary.pages) == ("done", 302)
    asked = [times for path, times in site.hits.items() if path != "/last"]  # whose holder may move, and never gets it
    assert max(asked) == 1, "a move costs no second fetch"
    moves = [line.split()[2] for line in (tmp_path / "logs" / "migrants.log").read_text().splitlines()]
    assert [move for move in moves if move not in ("create", "start")] == [
        "clone", "deactivate", "activate", "dispose", "dispose", "dispose",
    ]  # fmt: skip


def test_a_migrant_paused_for_longer_than_its_lease_loses_it_and_its_late_results_are_refused(tmp_path: Path) -> None:
    clock = Hurried()
    workers = WorkerSettings(workers=2, lease=60.0)
    with Gated(star(200)) as site, running(site, tmp_path, workers, clock) as crew:
        crew.wait(lambda: all(row["load"] > 0 for row in crew.ask("list")) and site.held >= 16)
        victim, other = sorted(crew.ask("list"), key=lambda row: -int(row["load"]))
        pid = int(victim["where"].split()[1])
        os.kill(pid, signal.SIGSTOP)
        try:
            for _ in range(4):  # each time the other speaks, the stopped one does not
                hurried = clock.advance(25)
                crew.wait(lambda since=hurried: crew.heard_at(other["id"]) >= since)  # type: ignore[misc]
            crew.wait(lambda: [row["id"] for row in crew.ask("list") if row["silent"]] == [victim["id"]])
        finally:
            site.gate.set()
            os.kill(pid, signal.SIGCONT)
        house = crew.coordinator.context if crew.coordinator else None
        assert house is not None
        crew.wait(lambda: house.stats["fenced"] > 0)
    assert crew.summary is not None
    assert (crew.summary.finish_reason, crew.summary.pages, crew.summary.failed) == ("done", 202, 0)
    assert visits(tmp_path) == (202, 202), "nothing lost, nothing stored twice"
    assert sum(site.hits.values()) - len(site.hits) <= victim["load"], "asked again at most for what it held"
    assert f"worker {victim['id']} is silent" in (tmp_path / "logs" / "crawl.log").read_text()


def test_a_crawl_whose_only_migrant_is_silent_gets_another(tmp_path: Path) -> None:
    clock = Hurried()
    with Gated(star(30)) as site, running(site, tmp_path, WorkerSettings(workers=1, lease=60.0), clock) as crew:
        crew.wait(lambda: site.held > 1)
        pid = int(crew.ask("list")[0]["where"].split()[1])
        os.kill(pid, signal.SIGSTOP)
        try:
            crew.wait(lambda: clock.advance(25) > 0 and len(crew.ask("list")) > 1)
            site.gate.set()
            site.last.set()
            crew.thread.join(300)
        finally:
            with suppress(ProcessLookupError):  # at the end of the crawl it was killed
                os.kill(pid, signal.SIGCONT)
    assert crew.summary is not None
    assert (crew.summary.finish_reason, crew.summary.pages) == ("done", 32)
    assert visits(tmp_path) == (32, 32)


def test_migrants_that_cannot_begin_end_the_crawl_and_no_page_is_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site(tree(5)) as site:
        crew = Running(site, tmp_path, WorkerSettings(workers=1))
        monkeypatch.setattr("sanderling.workers.spawn.sys.executable", "/bin/false")
        crew.thread.start()
        crew.thread.join()
        monkeypatch.undo()
        assert crew.summary is not None
        assert (crew.summary.finish_reason, crew.summary.pages) == ("interrupted", 0)
        assert "workers crashed in a row" in (tmp_path / "logs" / "crawl.log").read_text()
        again = Running(site, tmp_path, WorkerSettings(workers=1))
        again.thread.start()
        again.thread.join()
    assert again.summary is not None
    assert (again.summary.finish_reason, again.summary.pages, again.summary.failed) == ("done", 5, 0)


def test_a_matrix_that_contradicts_itself_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    wrong = AssignmentSettings(criteria=("load", "cpu", "memory"), judgments=("1 9 1/9", "1/9 1 9", "9 1/9 1"))
    for scheduling in (wrong, AssignmentSettings(sets=("sometimes",))):
        with pytest.raises(UsageError):
            crawl(tmp_path / "c", CrawlRequest(seeds=("http://127.0.0.1:1/",), scheduling=scheduling))
    assert not (tmp_path / "c").exists()


def test_auto_creates_migrants_when_the_queue_grows(tmp_path: Path) -> None:
    clock = Hurried()
    with Gated(star(500)) as site, running(site, tmp_path, WorkerSettings(workers=AUTO_WORKERS), clock) as crew:
        crew.wait(lambda: clock.advance(1) > 0 and len(crew.ask("list")) > 1)
    assert crew.summary is not None
    assert (crew.summary.pages, max(site.hits.values())) == (502, 1)


def test_an_urgent_job_parks_the_migrants_of_another_and_wakes_them(tmp_path: Path) -> None:
    clock, other = Hurried(), tmp_path / "other"
    with Gated(star(100)) as site, running(site, other, WorkerSettings(workers=2), clock) as crew:
        crew.wait(lambda: all(row["load"] > 0 for row in crew.ask("list")))
        site.gate.set()  # only the last page is held: who holds it is not waited for longer than its patience
        before = {row["id"] for row in crew.ask("list")}

        def hurry() -> None:
            crew.wait(lambda: crew.coordinator is not None and bool(crew.coordinator.worker_pool.pending_transitions))
            shown = clock.advance(-3600.0)  # patience has an end though the clock was set back
            crew.wait(lambda: crew.coordinator is not None and shown <= crew.coordinator.last_clock_time <= clock())
            clock.advance(2 * DRAIN_TIMEOUT_SECONDS)

        thread = threading.Thread(target=hurry)
        thread.start()
        with park_workers([str(other), str(tmp_path / "none")], tmp_path / "urgent") as asleep:
            thread.join()
            assert set(asleep) == before
            assert {row["state"] for row in crew.ask("list")} == {"deactivated"}
            with Site(tree(20)) as small:
                urgent = Running(small, tmp_path / "urgent", WorkerSettings(workers=1))
                urgent.thread.start()
                urgent.thread.join()
            assert urgent.summary is not None
            assert urgent.summary.pages == 20
        assert {(row["id"], row["state"]) for row in crew.ask("list")} == {(name, "running") for name in before}
    assert crew.summary is not None
    assert (crew.summary.finish_reason, crew.summary.pages) == ("done", 102)
    with pytest.raises(UsageError, match="cannot park itself"), park_workers([str(other)], other):
        pass


def test_pages_that_are_due_often_are_told_from_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Mapping[Host, float]] = []
    with Site(tree(12)) as site:
        request = CrawlRequest(
            seeds=(site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0.0),
            fetching=HttpSettings(allow_private=True), workers=WorkerSettings(workers=2),
            scheduling=AssignmentSettings(sets=("always", "hourly", "daily", "weekly", "monthly", "yearly")),
        )  # fmt: skip
        crawl(tmp_path, request)
        later = Hurried()
        later.advance(400 * 86_400)
        summary = refresh(
            tmp_path,
            request,
            clock=later,
            on_start=lambda crew: monkeypatch.setattr(crew.queue_due_pages, "on_host_intervals", told.append),
        )
        assert summary.visited == 12
    assert told[0].keys() == {site.root}
    assert all(interval > 0 for interval in told[0].values())


@pytest.mark.slow
@pytest.mark.parametrize("migrants", [1, 2, 4, 8])
def test_the_number_of_fetches_is_the_number_of_urls_however_many_migrants(tmp_path: Path, migrants: int) -> None:
    with Site(tree(400)) as site:
        crew = Running(site, tmp_path, WorkerSettings(workers=migrants))
        crew.thread.start()
        crew.thread.join()
    assert crew.summary is not None
    assert crew.summary.pages == 400
    assert sum(site.hits.values()) == len({"/robots.txt", *site.pages}) == len(site.hits)

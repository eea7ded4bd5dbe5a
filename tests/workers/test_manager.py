"""Worker pool of a running crawl, with real processes and a real server."""

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
from sanderling.workers.crawl_pauses import pause_other_crawls
from sanderling.workers.lifecycle import LifecycleState
from sanderling.workers.local import LocalEngine
from sanderling.workers.manager import DRAIN_TIMEOUT_SECONDS, WorkerPool


class GatedSite(Site):
    """Delays its pages until `gate` is set, and its last page until `last` is set."""

    def __init__(self, pages: dict[str, Page]) -> None:
        super().__init__(pages)
        self.gate, self.last = threading.Event(), threading.Event()
        self.page_requests = 0  # answered or not

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        with self.lock:
            self.page_requests += handler.path not in ("/", "/robots.txt")
        if handler.path == "/last":
            self.last.wait(300)
        elif handler.path.startswith("/p"):
            self.gate.wait(300)
        super().answer(handler)


def build_star(count: int) -> dict[str, Page]:
    leaves = [f"/p{n}" for n in range(count)]
    return {"/": html("/last", *leaves), "/last": html(text="last"), **{leaf: html(text=leaf) for leaf in leaves}}


class AdjustableClock:
    """The real time plus an offset, because workers use the real time."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return system_clock() + self.ahead

    def advance(self, seconds: float) -> float:
        self.ahead += seconds
        return self()


class CrawlThread:
    """A crawl in a thread."""

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
        settings = FetchSettings(allow_private=True, idle_timeout=600.0, timeout=600.0, robots_timeout=600.0)
        self.summary = crawl(self.folder, self.request, on_start=lambda started: setattr(self, "coordinator", started),
                             engine=LocalEngine(settings), clock=self.clock)  # fmt: skip

    def get_last_contact(self, worker: str) -> float:
        assert self.coordinator is not None
        return self.coordinator.assignment.workers[worker].last_contact_at

    def send(self, action: str, *workers: str, **arguments: str) -> list[ControlMessage]:
        reply = send_command(self.folder, {"do": action, "workers": list(workers), **arguments})
        assert "error" not in reply, reply
        rows: list[ControlMessage] = reply["workers"]
        return rows

    def wait(self, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 300
        while not ready():
            assert time.monotonic() < deadline, self.send("list")
            assert self.thread.is_alive()
            time.sleep(0.02)


@contextmanager
def running(
    site: GatedSite, folder: Path, workers: WorkerSettings, clock: Clock = system_clock
) -> Iterator[CrawlThread]:
    crawl_thread = CrawlThread(site, folder, workers, clock)
    crawl_thread.thread.start()
    try:
        crawl_thread.wait(lambda: (folder / "control" / "alive").exists())
        yield crawl_thread
    finally:
        site.gate.set()
        site.last.set()
        crawl_thread.thread.join(300)


def count_visits(folder: Path) -> tuple[int, int]:
    with open_collection_read_only(folder) as collection:
        total, distinct = collection.db.execute("SELECT count(*), count(DISTINCT url) FROM visits").fetchone()
        return int(total), int(distinct)


class FakeEngine:
    """An engine with two places and no processes."""

    def __init__(self) -> None:
        self.place_by_worker: dict[str, str] = {}

    def create_worker(self, name: str = "", place: str = "") -> str:
        name = name or f"m{len(self.place_by_worker)}"
        self.place_by_worker[name] = place
        return name

    def dispose_worker(self, worker: str) -> None:
        del self.place_by_worker[worker]

    def cancel_tasks(self, worker: str) -> None:
        assert worker in self.place_by_worker

    def list_places(self) -> list[str]:
        return ["", "http://there"]

    def get_location(self, worker: str) -> str:
        return self.place_by_worker.get(worker, "")


def test_worker_is_dispatched_and_retracted_under_its_id(tmp_path: Path) -> None:
    engine, released = FakeEngine(), list[str]()

    def release(worker: str) -> int:
        released.append(worker)
        return 0

    pool = WorkerPool(engine, WorkerAssignment(AhpStrategy()), tmp_path, release)
    one = pool.create()
    pool.dispatch(one, "http://there")
    assert pool.assignment.list_available() == []
    assert pool.complete_transitions() == [one]
    assert (engine.place_by_worker, released) == ({one: "http://there"}, [one])
    assert (pool.registry.get(one).state, pool.registry.get(one).place) == (LifecycleState.RUNNING, "http://there")
    pool.retract(one)
    pool.complete_transitions()
    assert engine.place_by_worker == {one: ""}
    with pytest.raises(UsageError, match="there is no place 'http://nowhere'; choose one of: home, http://there"):
        pool.dispatch(one, "http://nowhere")


def test_paused_worker_of_an_old_version_is_loaded(tmp_path: Path) -> None:
    """The keys are those from before the fields were renamed."""
    (tmp_path / "workers").mkdir()
    (tmp_path / "workers" / "m1-abc.json").write_text(
        '{"id": "m1-abc", "place": "", "born": 12.5, "known":'
        ' {"ways": {"http://a.example": [0.25, 1000.0, 4]}, "recent": [0.5], "given": 7}}'
    )
    pool = WorkerPool(FakeEngine(), WorkerAssignment(AhpStrategy()), tmp_path, lambda _: 0)
    pool.load_paused()
    (record,) = pool.registry.list_alive()
    assert (record.id, record.state, record.created_at) == ("m1-abc", LifecycleState.DEACTIVATED, 12.5)
    pool.activate("m1-abc")
    history = pool.assignment.workers["m1-abc"].export_history()
    assert history.host_stats == {"http://a.example": (0.25, 1000.0, 4)}
    assert history.recent_seconds == (0.5,)


def test_paused_worker_can_be_resumed_by_a_later_crawl(tmp_path: Path) -> None:
    pool = WorkerPool(FakeEngine(), WorkerAssignment(AhpStrategy()), tmp_path, lambda _: 0)
    one, two = pool.create(), pool.create("http://there")
    assert pool.deactivate_others(one) == [two]
    pool.complete_transitions()
    pool.close()
    later = WorkerPool(FakeEngine(), WorkerAssignment(AhpStrategy()), tmp_path, lambda _: 0)
    later.load_paused()
    assert [record.state for record in later.registry.list_alive()] == [LifecycleState.DEACTIVATED]
    later.activate(two)
    assert (later.engine.get_location(two), later.assignment.list_available()) == ("http://there", [two])


def test_workers_are_cloned_parked_resumed_and_disposed_of_during_a_crawl(tmp_path: Path) -> None:
    with GatedSite(build_star(300)) as site, running(site, tmp_path, WorkerSettings(workers=2)) as crawl_thread:
        crawl_thread.wait(lambda: all(row["load"] > 0 for row in crawl_thread.send("list")) and site.page_requests >= 8)
        first, second = (row["id"] for row in crawl_thread.send("list"))
        (clone,) = crawl_thread.send("clone", first)
        assert (clone["parent"], clone["state"]) == (first, "running")
        refused = send_command(tmp_path, {"do": "resume", "workers": [first]})
        assert refused == {"error": f"cannot activate {first}: it is running"}
        site.gate.set()
        (parked,) = crawl_thread.send("pause", second)
        assert (parked["state"], parked["where"]) == ("deactivated", "")
        assert json.loads((tmp_path / "workers" / f"{second}.json").read_text())["id"] == second
        (resumed,) = crawl_thread.send("resume", second)
        assert (resumed["id"], resumed["state"]) == (second, "running")
        assert not (tmp_path / "workers" / f"{second}.json").exists()
        (disposed,) = crawl_thread.send("dispose", clone["id"])
        assert disposed["state"] == "disposed"
        assert send_command(tmp_path, {"do": "pause", "workers": [disposed["id"]]})["error"].startswith(
            "cannot deactivate"
        )
    assert crawl_thread.summary is not None
    assert (crawl_thread.summary.finish_reason, crawl_thread.summary.pages) == ("done", 302)
    counts = [count for path, count in site.hits.items() if path != "/last"]  # which may be leased to a moved worker
    assert max(counts) == 1, "no page is fetched twice"
    transitions = [line.split()[2] for line in (tmp_path / "logs" / "workers.log").read_text().splitlines()]
    assert [transition for transition in transitions if transition not in ("create", "start")] == [
        "clone", "deactivate", "activate", "dispose", "dispose", "dispose",
    ]  # fmt: skip


def test_late_visits_of_a_suspended_worker_are_fenced(tmp_path: Path) -> None:
    clock = AdjustableClock()
    workers = WorkerSettings(workers=2, lease=60.0)
    with GatedSite(build_star(200)) as site, running(site, tmp_path, workers, clock) as crawl_thread:
        crawl_thread.wait(
            lambda: all(row["load"] > 0 for row in crawl_thread.send("list")) and site.page_requests >= 16
        )
        victim, other = sorted(crawl_thread.send("list"), key=lambda row: -int(row["load"]))
        pid = int(victim["where"].split()[1])
        os.kill(pid, signal.SIGSTOP)
        try:
            for _ in range(4):  # the other worker reports each time
                advanced = clock.advance(25)
                crawl_thread.wait(lambda since=advanced: crawl_thread.get_last_contact(other["id"]) >= since)  # type: ignore[misc]
            crawl_thread.wait(
                lambda: [row["id"] for row in crawl_thread.send("list") if row["silent"]] == [victim["id"]]
            )
        finally:
            site.gate.set()
            os.kill(pid, signal.SIGCONT)
        context = crawl_thread.coordinator.context if crawl_thread.coordinator else None
        assert context is not None
        crawl_thread.wait(lambda: context.stats.stale_results > 0)
    assert crawl_thread.summary is not None
    assert (crawl_thread.summary.finish_reason, crawl_thread.summary.pages, crawl_thread.summary.failed) == (
        "done",
        202,
        0,
    )
    assert count_visits(tmp_path) == (202, 202), "each page is stored once"
    assert sum(site.hits.values()) - len(site.hits) <= victim["load"], "only leased pages are fetched again"
    assert f"worker {victim['id']} is silent" in (tmp_path / "logs" / "crawl.log").read_text()


def test_silent_worker_is_replaced(tmp_path: Path) -> None:
    clock = AdjustableClock()
    with (
        GatedSite(build_star(30)) as site,
        running(site, tmp_path, WorkerSettings(workers=1, lease=60.0), clock) as crawl_thread,
    ):
        crawl_thread.wait(lambda: site.page_requests > 1)
        pid = int(crawl_thread.send("list")[0]["where"].split()[1])
        os.kill(pid, signal.SIGSTOP)
        try:
            crawl_thread.wait(lambda: clock.advance(25) > 0 and len(crawl_thread.send("list")) > 1)
            site.gate.set()
            site.last.set()
            crawl_thread.thread.join(300)
        finally:
            with suppress(ProcessLookupError):  # killed at the end of the crawl
                os.kill(pid, signal.SIGCONT)
    assert crawl_thread.summary is not None
    assert (crawl_thread.summary.finish_reason, crawl_thread.summary.pages) == ("done", 32)
    assert count_visits(tmp_path) == (32, 32)


def test_crawl_ends_without_failed_pages_if_workers_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site(tree(5)) as site:
        crawl_thread = CrawlThread(site, tmp_path, WorkerSettings(workers=1))
        monkeypatch.setattr("sanderling.workers.spawn.sys.executable", "/bin/false")
        crawl_thread.thread.start()
        crawl_thread.thread.join()
        monkeypatch.undo()
        assert crawl_thread.summary is not None
        assert (crawl_thread.summary.finish_reason, crawl_thread.summary.pages) == ("interrupted", 0)
        assert "workers crashed in a row" in (tmp_path / "logs" / "crawl.log").read_text()
        second = CrawlThread(site, tmp_path, WorkerSettings(workers=1))
        second.thread.start()
        second.thread.join()
    assert second.summary is not None
    assert (second.summary.finish_reason, second.summary.pages, second.summary.failed) == ("done", 5, 0)


def test_invalid_assignment_settings_are_refused_before_a_collection_is_created(tmp_path: Path) -> None:
    inconsistent = AssignmentSettings(criteria=("load", "cpu", "memory"), judgments=("1 9 1/9", "1/9 1 9", "9 1/9 1"))
    for scheduling in (inconsistent, AssignmentSettings(sets=("sometimes",))):
        with pytest.raises(UsageError):
            crawl(tmp_path / "c", CrawlRequest(seeds=("http://127.0.0.1:1/",), scheduling=scheduling))
    assert not (tmp_path / "c").exists()


def test_auto_mode_creates_workers_when_the_queue_grows(tmp_path: Path) -> None:
    clock = AdjustableClock()
    with (
        GatedSite(build_star(500)) as site,
        running(site, tmp_path, WorkerSettings(workers=AUTO_WORKERS), clock) as crawl_thread,
    ):
        crawl_thread.wait(lambda: clock.advance(1) > 0 and len(crawl_thread.send("list")) > 1)
    assert crawl_thread.summary is not None
    assert (crawl_thread.summary.pages, max(site.hits.values())) == (502, 1)


def test_urgent_crawl_pauses_and_resumes_the_workers_of_another(tmp_path: Path) -> None:
    clock, other = AdjustableClock(), tmp_path / "other"
    with GatedSite(build_star(100)) as site, running(site, other, WorkerSettings(workers=2), clock) as crawl_thread:
        crawl_thread.wait(lambda: all(row["load"] > 0 for row in crawl_thread.send("list")))
        site.gate.set()  # only the last page is delayed, beyond the drain timeout
        before = {row["id"] for row in crawl_thread.send("list")}

        def pass_drain_timeout() -> None:
            crawl_thread.wait(
                lambda: (
                    crawl_thread.coordinator is not None
                    and bool(crawl_thread.coordinator.worker_pool.pending_transitions)
                )
            )
            now = clock.advance(-3600.0)  # the timeout ends although the clock was set back
            crawl_thread.wait(
                lambda: (
                    crawl_thread.coordinator is not None and now <= crawl_thread.coordinator.last_clock_time <= clock()
                )
            )
            clock.advance(2 * DRAIN_TIMEOUT_SECONDS)

        thread = threading.Thread(target=pass_drain_timeout)
        thread.start()
        with pause_other_crawls([str(other), str(tmp_path / "none")], tmp_path / "urgent") as parked:
            thread.join()
            assert set(parked) == before
            assert {row["state"] for row in crawl_thread.send("list")} == {"deactivated"}
            with Site(tree(20)) as small:
                urgent = CrawlThread(small, tmp_path / "urgent", WorkerSettings(workers=1))
                urgent.thread.start()
                urgent.thread.join()
            assert urgent.summary is not None
            assert urgent.summary.pages == 20
        assert {(row["id"], row["state"]) for row in crawl_thread.send("list")} == {
            (name, "running") for name in before
        }
    assert crawl_thread.summary is not None
    assert (crawl_thread.summary.finish_reason, crawl_thread.summary.pages) == ("done", 102)
    with pytest.raises(UsageError, match="cannot pause itself"), pause_other_crawls([str(other)], other):
        pass


def test_host_intervals_are_reported_for_change_rate_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[Mapping[Host, float]] = []
    with Site(tree(12)) as site:
        request = CrawlRequest(
            seeds=(site.root + "/",), scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0.0),
            fetching=HttpSettings(allow_private=True), workers=WorkerSettings(workers=2),
            scheduling=AssignmentSettings(sets=("always", "hourly", "daily", "weekly", "monthly", "yearly")),
        )  # fmt: skip
        crawl(tmp_path, request)
        later = AdjustableClock()
        later.advance(400 * 86_400)
        summary = refresh(
            tmp_path,
            request,
            clock=later,
            on_start=lambda started: monkeypatch.setattr(started.queue_due_pages, "on_host_intervals", reported.append),
        )
        assert summary.visited == 12
    assert reported[0].keys() == {site.root}
    assert all(interval > 0 for interval in reported[0].values())


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_each_url_is_fetched_once_by_any_number_of_workers(tmp_path: Path, workers: int) -> None:
    with Site(tree(400)) as site:
        crawl_thread = CrawlThread(site, tmp_path, WorkerSettings(workers=workers))
        crawl_thread.thread.start()
        crawl_thread.thread.join()
    assert crawl_thread.summary is not None
    assert crawl_thread.summary.pages == 400
    assert sum(site.hits.values()) == len({"/robots.txt", *site.pages}) == len(site.hits)

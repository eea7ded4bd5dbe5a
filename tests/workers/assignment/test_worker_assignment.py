"""Tasks, measurements and choice of workers."""

from tests.support.simulated_clock import SimulatedClock

from sanderling.models import FetchBatch, FetchTask, Heartbeat, Host, Outcome, Url, Visit
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.strategies import build_named_strategy
from sanderling.workers.assignment.worker_assignment import WorkerAssignment

HOST = Host("http://a.example")


def build_batch(first: int, count: int, host: Host = HOST) -> FetchBatch:
    return FetchBatch(host, tuple(FetchTask(n, n, Url(f"{host}/{n}")) for n in range(first, first + count)))


def build_visit(token: int, seconds: float, size: int = 1000) -> Visit:
    return Visit(
        token, token, Url(f"{HOST}/{token}"), Outcome.FETCHED, 0.0, duration_seconds=seconds, received_bytes=size
    )


def build_assignment(*names: str, schedule: str = "ahp", clock: SimulatedClock | None = None) -> WorkerAssignment:
    assignment = WorkerAssignment(
        build_named_strategy(schedule), is_host_bound=schedule == "hash", clock=clock or SimulatedClock()
    )
    for name in names:
        assignment.add_worker(name)
    return assignment


def test_tasks_are_counted_until_they_are_visited() -> None:
    assignment = build_assignment("a")
    assignment.record_batch("a", build_batch(1, 3))
    assert (assignment.count_tasks("a"), assignment.outstanding_tasks, assignment.count_free_slots("a")) == (3, 3, 157)
    assignment.record_visits("a", [build_visit(1, 0.1), build_visit(2, 0.1), build_visit(99, 0.1)])
    assert assignment.count_tasks("a") == 1


def test_worker_above_half_of_its_capacity_is_not_available() -> None:
    assignment = build_assignment("a", "b")
    assignment.record_batch("a", build_batch(1, 81))
    assert assignment.list_available() == ["b"]


def test_measurements_are_used_from_the_next_heartbeat() -> None:
    assignment = build_assignment("a", "b")
    for name, first, seconds in (("a", 1, 2.0), ("b", 11, 0.1)):
        assignment.record_batch(name, build_batch(first, 5))
        assignment.record_visits(name, [build_visit(first + n, seconds) for n in range(5)])
    assert assignment.build_state("a", HOST).heartbeat.latency_seconds == 0.0
    for name in "ab":
        assignment.record_heartbeat(Heartbeat(name, 0.0, free_disk_bytes=10**9, free_memory_bytes=10**9))
    assert assignment.build_state("a", HOST).heartbeat.latency_seconds == 2.0
    assert assignment.build_state("b", HOST).heartbeat.bytes_per_second == 10_000
    assert assignment.choose_worker(HOST, ["a", "b"]) == "b"
    assert assignment.build_state("a", Host("http://new.example")).affinity == 0.0


def record_speeds(assignment: WorkerAssignment, **seconds: float) -> None:
    for name, page_seconds in seconds.items():
        assignment.record_batch(name, build_batch(len(name) * 1000, 10))
        assignment.record_visits(name, [build_visit(len(name) * 1000 + n, page_seconds) for n in range(10)])
        assignment.record_heartbeat(Heartbeat(name, 0.0))


def test_capacity_depends_on_speed() -> None:
    assignment = WorkerAssignment(AhpStrategy(), is_speed_limited=True)
    for name in ("quick", "half", "snail"):
        assignment.add_worker(name)
    record_speeds(assignment, quick=0.1, half=0.2, snail=5.0)
    assert [assignment.count_free_slots(name) for name in ("quick", "half", "snail")] == [160, 80, 24]
    assert assignment.build_state("half", HOST).free_slots == 80
    assignment.set_load_limit(16, has_crawl_delay=False)  # at the start of a crawl
    assert [assignment.count_free_slots(name) for name in ("quick", "half", "snail")] == [16, 16, 16]


def test_slower_pages_later_in_a_crawl_do_not_reduce_capacity() -> None:
    assignment = WorkerAssignment(AhpStrategy(), is_speed_limited=True)
    for name, first in (("a", 1), ("b", 101)):
        assignment.add_worker(name)
        assignment.record_batch(name, build_batch(first, 60))
        assignment.record_visits(name, [build_visit(first, 0.001)])
        assignment.record_heartbeat(Heartbeat(name, 0.0))
    for name, first in (("a", 2), ("b", 102)):
        assignment.record_visits(name, [build_visit(first + n, 0.1) for n in range(59)])
    assert (assignment.count_free_slots("a"), assignment.count_free_slots("b")) == (160, 160)


def test_capacity_is_equal_if_hosts_have_a_crawl_delay() -> None:
    assignment = WorkerAssignment(AhpStrategy(), is_speed_limited=True)
    for name in ("quick", "snail"):
        assignment.add_worker(name)
    assignment.has_crawl_delay = True
    record_speeds(assignment, quick=0.1, snail=5.0)
    assert [assignment.count_free_slots(name) for name in ("quick", "snail")] == [160, 160]


def test_tasks_of_stalled_hosts_do_not_use_capacity() -> None:
    clock = SimulatedClock()
    assignment = build_assignment("a", clock=clock)
    assignment.current_max_tasks = 16
    for n in range(1, 13):
        assignment.record_batch("a", build_batch(n, 1, Host(f"http://dead{n}.example")))
    assert (assignment.list_available(), assignment.count_free_slots("a")) == ([], 4)
    clock.advance(3)
    assert assignment.list_available() == [], "the worker itself may be suspended"
    assignment.record_heartbeat(Heartbeat("a", clock()))
    assert (assignment.list_available(), assignment.count_free_slots("a")) == (["a"], 16)
    assignment.record_batch("a", build_batch(100, 200, Host("http://dead.example")))
    clock.advance(3)
    assignment.record_heartbeat(Heartbeat("a", clock()))
    assert (assignment.list_available(), assignment.count_free_slots("a")) == ([], 16 + 96 - 212)


def test_tasks_count_again_after_progress_of_the_host() -> None:
    clock = SimulatedClock()
    assignment = build_assignment("a", clock=clock)
    assignment.record_batch("a", build_batch(1, 100))
    clock.advance(3)
    assignment.record_heartbeat(Heartbeat("a", clock()))
    assert assignment.list_available() == ["a"]
    assignment.record_visits("a", [build_visit(1, 3.0)])
    assert assignment.list_available() == []


def test_worker_that_visited_the_host_is_chosen() -> None:
    assignment = build_assignment("a", "b")
    assignment.record_batch("b", build_batch(1, 2))
    assignment.record_visits("b", [build_visit(1, 0.1), build_visit(2, 0.1)])
    assignment.record_heartbeat(Heartbeat("b", 0.0))
    assert assignment.choose_worker(HOST, ["a", "b"]) == "b"


def test_bound_host_waits_for_its_worker() -> None:
    assignment = build_assignment("a", "b", schedule="hash")
    owner = assignment.choose_worker(HOST, ["a", "b"])
    assert owner is not None
    assert assignment.choose_worker(HOST, [name for name in "ab" if name != owner]) is None


def test_only_reachable_workers_are_candidates() -> None:
    assignment = WorkerAssignment(AhpStrategy(), can_engine_reach=lambda worker, host: worker == "far" or host != HOST)
    assignment.add_worker("near")
    assignment.add_worker("far")
    assignment.record_batch("far", build_batch(1, 70))
    assert assignment.choose_worker(HOST, ["near", "far"]) == "far"
    assert assignment.choose_worker(HOST, ["near"]) is None


def test_silent_worker_is_reported_once_and_not_available() -> None:
    clock = SimulatedClock()
    assignment = build_assignment("a", "b", clock=clock)
    assignment.record_batch("a", build_batch(1, 3))
    clock.advance(11)
    assignment.record_heartbeat(Heartbeat("b", 11.0))
    assert [member.id for member in assignment.mark_silent_workers(10, assignment.clock())] == ["a"]
    assert assignment.mark_silent_workers(10, assignment.clock()) == []
    assert (assignment.count_tasks("a"), assignment.list_available()) == (0, ["b"])
    assignment.record_heartbeat(Heartbeat("a", 11.0))
    assert assignment.list_available() == ["a", "b"]


def test_unread_messages_do_not_make_a_worker_silent() -> None:
    clock = SimulatedClock()
    assignment = build_assignment("a", "b", clock=clock)
    listened_at = clock.advance(5)
    clock.advance(100)  # a long commit; messages are not read yet
    assert assignment.mark_silent_workers(10, listened_at) == []
    assignment.record_heartbeat(Heartbeat("b", 105.0))
    assert [member.id for member in assignment.mark_silent_workers(10, clock())] == ["a"]


def test_clone_has_the_history_of_its_parent() -> None:
    assignment = build_assignment("a")
    assignment.record_batch("a", build_batch(1, 1))
    assignment.record_visits("a", [build_visit(1, 0.5)])
    assignment.add_worker("clone", assignment.workers["a"].export_history())
    assert assignment.build_state("clone", HOST).heartbeat.latency_seconds == 0.5
    assert assignment.count_tasks("clone") == 0


def test_shared_host_is_assigned_to_workers_with_fewest_tasks() -> None:
    assignment = build_assignment("a", "b", "c")
    assignment.record_batch("a", build_batch(1, 20))
    assignment.record_batch("b", build_batch(21, 3))
    assignment.record_batch("c", build_batch(31, 40, Host("http://other.example")))
    assert assignment.find_least_busy(HOST, ["a", "b", "c"], 0, 99) == ["c"]
    assert assignment.find_least_busy(HOST, ["a", "b", "c"], 5, 99) == ["b", "c"]
    assert assignment.find_least_busy(HOST, ["a", "b"], 5, 3) == []
    assignment.record_visits("a", [build_visit(n, 0.1) for n in range(1, 21)])
    assert assignment.find_least_busy(HOST, ["a", "b", "c"], 0, 99) == ["a", "c"]


def test_unreachable_workers_do_not_count_for_a_shared_host() -> None:
    assignment = WorkerAssignment(
        AhpStrategy(), can_engine_reach=lambda worker, host: worker == "there" or host != HOST
    )
    assignment.add_worker("home")
    assignment.add_worker("there", capacity=4000)
    assignment.record_batch("there", build_batch(1, 500))
    assert assignment.find_least_busy(HOST, ["home", "there"], 4, 999) == ["there"]
    assert (assignment.count_reachable(HOST), assignment.count_reachable(Host("http://other.example"))) == (1, 2)


def test_capacity_of_a_host_depends_on_its_latency() -> None:
    assignment = build_assignment("a", "b")
    assert assignment.estimate_capacity(HOST, 4.0, 1) == 8, "default of half a second"
    assignment.record_batch("a", build_batch(1, 3))
    assignment.record_visits("a", [build_visit(1, 1.0), build_visit(2, 1.0)])
    assert assignment.estimate_capacity(HOST, 4.0, 1) == 8, "too few samples"
    assignment.record_visits("a", [build_visit(3, 1.0)])
    assert assignment.estimate_capacity(HOST, 4.0, 1) == 4, "one connection, a second for a page"
    assignment.record_batch("b", build_batch(4, 1))
    assignment.record_visits("b", [build_visit(4, 100.0)])
    assert assignment.estimate_capacity(HOST, 4.0, 1) == 2, "at least enough to keep the connections busy"

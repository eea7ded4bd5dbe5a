"""Who holds what, who goes, and what was measured on the way."""

from sanderling.clock import SimulatedClock
from sanderling.models import FetchBatch, FetchTask, Heartbeat, Host, Outcome, Url, Visit
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.strategies import build_named_strategy
from sanderling.workers.assignment.worker_assignment import WorkerAssignment

HOST = Host("http://a.example")


def trip(first: int, count: int, host: Host = HOST) -> FetchBatch:
    return FetchBatch(host, tuple(FetchTask(n, n, Url(f"{host}/{n}")) for n in range(first, first + count)))


def seen(token: int, seconds: float, size: int = 1000) -> Visit:
    return Visit(
        token, token, Url(f"{HOST}/{token}"), Outcome.FETCHED, 0.0, duration_seconds=seconds, received_bytes=size
    )


def crew(*names: str, schedule: str = "ahp", clock: SimulatedClock | None = None) -> WorkerAssignment:
    roster = WorkerAssignment(
        build_named_strategy(schedule), is_host_bound=schedule == "hash", clock=clock or SimulatedClock()
    )
    for name in names:
        roster.add_worker(name)
    return roster


def test_what_is_given_is_in_hand_until_it_comes_home() -> None:
    roster = crew("a")
    roster.record_batch("a", trip(1, 3))
    assert (roster.count_tasks("a"), roster.outstanding_tasks, roster.count_free_slots("a")) == (3, 3, 157)
    roster.record_visits("a", [seen(1, 0.1), seen(2, 0.1), seen(99, 0.1)])
    assert roster.count_tasks("a") == 1


def test_a_migrant_with_half_its_hands_full_gets_nothing_more() -> None:
    roster = crew("a", "b")
    roster.record_batch("a", trip(1, 81))
    assert roster.list_available() == ["b"]


def test_what_was_measured_on_the_way_to_a_host_counts_from_the_next_heartbeat() -> None:
    roster = crew("a", "b")
    for name, first, seconds in (("a", 1, 2.0), ("b", 11, 0.1)):
        roster.record_batch(name, trip(first, 5))
        roster.record_visits(name, [seen(first + n, seconds) for n in range(5)])
    assert roster.build_state("a", HOST).heartbeat.latency_seconds == 0.0
    for name in "ab":
        roster.record_heartbeat(Heartbeat(name, 0.0, free_disk_bytes=10**9, free_memory_bytes=10**9))
    assert roster.build_state("a", HOST).heartbeat.latency_seconds == 2.0
    assert roster.build_state("b", HOST).heartbeat.bytes_per_second == 10_000
    assert roster.choose_worker(HOST, ["a", "b"]) == "b"
    assert roster.build_state("a", Host("http://new.example")).affinity == 0.0


def paces(roster: WorkerAssignment, **seconds: float) -> None:
    for name, each in seconds.items():
        roster.record_batch(name, trip(len(name) * 1000, 10))
        roster.record_visits(name, [seen(len(name) * 1000 + n, each) for n in range(10)])
        roster.record_heartbeat(Heartbeat(name, 0.0))


def test_the_slower_a_migrant_the_less_it_may_hold() -> None:
    roster = WorkerAssignment(AhpStrategy(), is_speed_limited=True)
    for name in ("quick", "half", "snail"):
        roster.add_worker(name)
    paces(roster, quick=0.1, half=0.2, snail=5.0)
    assert [roster.count_free_slots(name) for name in ("quick", "half", "snail")] == [160, 80, 24]
    assert roster.build_state("half", HOST).free_slots == 80
    roster.current_max_tasks = 16  # the crawl has only begun
    assert [roster.count_free_slots(name) for name in ("quick", "half", "snail")] == [16, 16, 16]


def test_pages_that_take_longer_than_the_first_ones_make_nobody_slow() -> None:
    roster = WorkerAssignment(AhpStrategy(), is_speed_limited=True)
    for name, first in (("a", 1), ("b", 101)):
        roster.add_worker(name)
        roster.record_batch(name, trip(first, 60))
        roster.record_visits(name, [seen(first, 0.001)])
        roster.record_heartbeat(Heartbeat(name, 0.0))
    for name, first in (("a", 2), ("b", 102)):
        roster.record_visits(name, [seen(first + n, 0.1) for n in range(59)])
    assert (roster.count_free_slots("a"), roster.count_free_slots("b")) == (160, 160)


def test_where_hosts_want_pauses_all_may_hold_the_same() -> None:
    roster = WorkerAssignment(AhpStrategy(), is_speed_limited=True)
    for name in ("quick", "snail"):
        roster.add_worker(name)
    roster.has_crawl_delay = True
    paces(roster, quick=0.1, snail=5.0)
    assert [roster.count_free_slots(name) for name in ("quick", "snail")] == [160, 160]


def test_hosts_that_do_not_answer_keep_no_hand_from_others() -> None:
    clock = SimulatedClock()
    roster = crew("a", clock=clock)
    roster.current_max_tasks = 16
    for n in range(1, 13):
        roster.record_batch("a", trip(n, 1, Host(f"http://dead{n}.example")))
    assert (roster.list_available(), roster.count_free_slots("a")) == ([], 4)
    clock.advance(3)
    assert roster.list_available() == [], "perhaps it is the migrant that sleeps"
    roster.record_heartbeat(Heartbeat("a", clock()))
    assert (roster.list_available(), roster.count_free_slots("a")) == (["a"], 16)
    roster.record_batch("a", trip(100, 200, Host("http://dead.example")))
    clock.advance(3)
    roster.record_heartbeat(Heartbeat("a", clock()))
    assert (roster.list_available(), roster.count_free_slots("a")) == ([], 16 + 96 - 212)


def test_a_host_that_answers_again_counts_again() -> None:
    clock = SimulatedClock()
    roster = crew("a", clock=clock)
    roster.record_batch("a", trip(1, 100))
    clock.advance(3)
    roster.record_heartbeat(Heartbeat("a", clock()))
    assert roster.list_available() == ["a"]
    roster.record_visits("a", [seen(1, 3.0)])
    assert roster.list_available() == []


def test_the_one_that_knows_the_host_goes_there_again() -> None:
    roster = crew("a", "b")
    roster.record_batch("b", trip(1, 2))
    roster.record_visits("b", [seen(1, 0.1), seen(2, 0.1)])
    roster.record_heartbeat(Heartbeat("b", 0.0))
    assert roster.choose_worker(HOST, ["a", "b"]) == "b"


def test_a_host_that_is_owned_waits_for_its_owner() -> None:
    roster = crew("a", "b", schedule="hash")
    owner = roster.choose_worker(HOST, ["a", "b"])
    assert owner is not None
    assert roster.choose_worker(HOST, [name for name in "ab" if name != owner]) is None


def test_only_those_who_reach_a_host_compete_for_it() -> None:
    roster = WorkerAssignment(AhpStrategy(), can_engine_reach=lambda migrant, host: migrant == "far" or host != HOST)
    roster.add_worker("near")
    roster.add_worker("far")
    roster.record_batch("far", trip(1, 70))
    assert roster.choose_worker(HOST, ["near", "far"]) == "far"
    assert roster.choose_worker(HOST, ["near"]) is None


def test_a_silent_migrant_is_noticed_once_and_gets_nothing_until_it_speaks() -> None:
    clock = SimulatedClock()
    roster = crew("a", "b", clock=clock)
    roster.record_batch("a", trip(1, 3))
    clock.advance(11)
    roster.record_heartbeat(Heartbeat("b", 11.0))
    assert [member.id for member in roster.mark_silent_workers(10, roster.clock())] == ["a"]
    assert roster.mark_silent_workers(10, roster.clock()) == []
    assert (roster.count_tasks("a"), roster.list_available()) == (0, ["b"])
    roster.record_heartbeat(Heartbeat("a", 11.0))
    assert roster.list_available() == ["a", "b"]


def test_who_could_not_be_heard_is_not_silent() -> None:
    clock = SimulatedClock()
    roster = crew("a", "b", clock=clock)
    listened_at = clock.advance(5)
    clock.advance(100)  # a commit took so long; what they said meanwhile is not read yet
    assert roster.mark_silent_workers(10, listened_at) == []
    roster.record_heartbeat(Heartbeat("b", 105.0))
    assert [member.id for member in roster.mark_silent_workers(10, clock())] == ["a"]


def test_a_clone_knows_what_its_model_knows() -> None:
    roster = crew("a")
    roster.record_batch("a", trip(1, 1))
    roster.record_visits("a", [seen(1, 0.5)])
    roster.add_worker("twin", roster.workers["a"].export_history())
    assert roster.build_state("twin", HOST).heartbeat.latency_seconds == 0.5
    assert roster.count_tasks("twin") == 0


def test_a_shared_host_goes_to_those_who_hold_least_of_it() -> None:
    roster = crew("a", "b", "c")
    roster.record_batch("a", trip(1, 20))
    roster.record_batch("b", trip(21, 3))
    roster.record_batch("c", trip(31, 40, Host("http://other.example")))
    assert roster.find_least_busy(HOST, ["a", "b", "c"], 0, 99) == ["c"]
    assert roster.find_least_busy(HOST, ["a", "b", "c"], 5, 99) == ["b", "c"]
    assert roster.find_least_busy(HOST, ["a", "b"], 5, 3) == []
    roster.record_visits("a", [seen(n, 0.1) for n in range(1, 21)])
    assert roster.find_least_busy(HOST, ["a", "b", "c"], 0, 99) == ["a", "c"]


def test_those_who_cannot_reach_a_host_do_not_keep_others_from_it() -> None:
    roster = WorkerAssignment(AhpStrategy(), can_engine_reach=lambda migrant, host: migrant == "there" or host != HOST)
    roster.add_worker("home")
    roster.add_worker("there", capacity=4000)
    roster.record_batch("there", trip(1, 500))
    assert roster.find_least_busy(HOST, ["home", "there"], 4, 999) == ["there"]
    assert (roster.count_reachable(HOST), roster.count_reachable(Host("http://other.example"))) == (1, 2)


def test_a_slow_host_is_given_no_more_than_it_can_answer_soon() -> None:
    roster = crew("a", "b")
    assert roster.estimate_capacity(HOST, 4.0, 1) == 8, "nobody has been there: half a second is expected"
    roster.record_batch("a", trip(1, 3))
    roster.record_visits("a", [seen(1, 1.0), seen(2, 1.0)])
    assert roster.estimate_capacity(HOST, 4.0, 1) == 8, "two pages say little"
    roster.record_visits("a", [seen(3, 1.0)])
    assert roster.estimate_capacity(HOST, 4.0, 1) == 4, "one connection, a second for a page"
    roster.record_batch("b", trip(4, 1))
    roster.record_visits("b", [seen(4, 100.0)])
    assert roster.estimate_capacity(HOST, 4.0, 1) == 2, "but never less than keeps the connections busy"

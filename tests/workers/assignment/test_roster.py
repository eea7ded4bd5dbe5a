"""Who holds what, who goes, and what was measured on the way."""

from sanderling.clock import SimulatedClock
from sanderling.models import Host, Itinerary, Outcome, Stop, Url, Visit, Vitals
from sanderling.workers.assignment.ahp_strategy import Ahp
from sanderling.workers.assignment.roster import Roster
from sanderling.workers.assignment.strategies import chooser

HOST = Host("http://a.example")


def trip(first: int, count: int, host: Host = HOST) -> Itinerary:
    return Itinerary(host, tuple(Stop(n, n, Url(f"{host}/{n}")) for n in range(first, first + count)))


def seen(token: int, seconds: float, size: int = 1000) -> Visit:
    return Visit(token, token, Url(f"{HOST}/{token}"), Outcome.FETCHED, 0.0, seconds=seconds, wire_bytes=size)


def crew(*names: str, schedule: str = "ahp", clock: SimulatedClock | None = None) -> Roster:
    roster = Roster(chooser(schedule), owned=schedule == "hash", clock=clock or SimulatedClock())
    for name in names:
        roster.join(name)
    return roster


def test_what_is_given_is_in_hand_until_it_comes_home() -> None:
    roster = crew("a")
    roster.give("a", trip(1, 3))
    assert (roster.load("a"), roster.outstanding, roster.room("a")) == (3, 3, 157)
    roster.take_back("a", [seen(1, 0.1), seen(2, 0.1), seen(99, 0.1)])
    assert roster.load("a") == 1


def test_a_migrant_with_half_its_hands_full_gets_nothing_more() -> None:
    roster = crew("a", "b")
    roster.give("a", trip(1, 81))
    assert roster.able() == ["b"]


def test_what_was_measured_on_the_way_to_a_host_counts_from_the_next_heartbeat() -> None:
    roster = crew("a", "b")
    for name, first, seconds in (("a", 1, 2.0), ("b", 11, 0.1)):
        roster.give(name, trip(first, 5))
        roster.take_back(name, [seen(first + n, seconds) for n in range(5)])
    assert roster.standing("a", HOST).vitals.latency_seconds == 0.0
    for name in "ab":
        roster.hear(Vitals(name, 0.0, disk_left=10**9, memory_left=10**9))
    assert roster.standing("a", HOST).vitals.latency_seconds == 2.0
    assert roster.standing("b", HOST).vitals.bytes_per_second == 10_000
    assert roster.who(HOST, ["a", "b"]) == "b"
    assert roster.standing("a", Host("http://new.example")).affinity == 0.0


def paces(roster: Roster, **seconds: float) -> None:
    for name, each in seconds.items():
        roster.give(name, trip(len(name) * 1000, 10))
        roster.take_back(name, [seen(len(name) * 1000 + n, each) for n in range(10)])
        roster.hear(Vitals(name, 0.0))


def test_the_slower_a_migrant_the_less_it_may_hold() -> None:
    roster = Roster(Ahp(), weighs=True)
    for name in ("quick", "half", "snail"):
        roster.join(name)
    paces(roster, quick=0.1, half=0.2, snail=5.0)
    assert [roster.room(name) for name in ("quick", "half", "snail")] == [160, 80, 24]
    assert roster.standing("half", HOST).room == 80
    roster.most = 16  # the crawl has only begun
    assert [roster.room(name) for name in ("quick", "half", "snail")] == [16, 16, 16]


def test_pages_that_take_longer_than_the_first_ones_make_nobody_slow() -> None:
    roster = Roster(Ahp(), weighs=True)
    for name, first in (("a", 1), ("b", 101)):
        roster.join(name)
        roster.give(name, trip(first, 60))
        roster.take_back(name, [seen(first, 0.001)])
        roster.hear(Vitals(name, 0.0))
    for name, first in (("a", 2), ("b", 102)):
        roster.take_back(name, [seen(first + n, 0.1) for n in range(59)])
    assert (roster.room("a"), roster.room("b")) == (160, 160)


def test_where_hosts_want_pauses_all_may_hold_the_same() -> None:
    roster = Roster(Ahp(), weighs=True)
    for name in ("quick", "snail"):
        roster.join(name)
    roster.rests = True
    paces(roster, quick=0.1, snail=5.0)
    assert [roster.room(name) for name in ("quick", "snail")] == [160, 160]


def test_hosts_that_do_not_answer_keep_no_hand_from_others() -> None:
    clock = SimulatedClock()
    roster = crew("a", clock=clock)
    roster.most = 16
    for n in range(1, 13):
        roster.give("a", trip(n, 1, Host(f"http://dead{n}.example")))
    assert (roster.able(), roster.room("a")) == ([], 4)
    clock.advance(3)
    assert roster.able() == [], "perhaps it is the migrant that sleeps"
    roster.hear(Vitals("a", clock()))
    assert (roster.able(), roster.room("a")) == (["a"], 16)
    roster.give("a", trip(100, 200, Host("http://dead.example")))
    clock.advance(3)
    roster.hear(Vitals("a", clock()))
    assert (roster.able(), roster.room("a")) == ([], 16 + 96 - 212)


def test_a_host_that_answers_again_counts_again() -> None:
    clock = SimulatedClock()
    roster = crew("a", clock=clock)
    roster.give("a", trip(1, 100))
    clock.advance(3)
    roster.hear(Vitals("a", clock()))
    assert roster.able() == ["a"]
    roster.take_back("a", [seen(1, 3.0)])
    assert roster.able() == []


def test_the_one_that_knows_the_host_goes_there_again() -> None:
    roster = crew("a", "b")
    roster.give("b", trip(1, 2))
    roster.take_back("b", [seen(1, 0.1), seen(2, 0.1)])
    roster.hear(Vitals("b", 0.0))
    assert roster.who(HOST, ["a", "b"]) == "b"


def test_a_host_that_is_owned_waits_for_its_owner() -> None:
    roster = crew("a", "b", schedule="hash")
    owner = roster.who(HOST, ["a", "b"])
    assert owner is not None
    assert roster.who(HOST, [name for name in "ab" if name != owner]) is None


def test_only_those_who_reach_a_host_compete_for_it() -> None:
    roster = Roster(Ahp(), reaches=lambda migrant, host: migrant == "far" or host != HOST)
    roster.join("near")
    roster.join("far")
    roster.give("far", trip(1, 70))
    assert roster.who(HOST, ["near", "far"]) == "far"
    assert roster.who(HOST, ["near"]) is None


def test_a_silent_migrant_is_noticed_once_and_gets_nothing_until_it_speaks() -> None:
    clock = SimulatedClock()
    roster = crew("a", "b", clock=clock)
    roster.give("a", trip(1, 3))
    clock.advance(11)
    roster.hear(Vitals("b", 11.0))
    assert [member.id for member in roster.miss(10, roster.clock())] == ["a"]
    assert roster.miss(10, roster.clock()) == []
    assert (roster.load("a"), roster.able()) == (0, ["b"])
    roster.hear(Vitals("a", 11.0))
    assert roster.able() == ["a", "b"]


def test_who_could_not_be_heard_is_not_silent() -> None:
    clock = SimulatedClock()
    roster = crew("a", "b", clock=clock)
    listened_at = clock.advance(5)
    clock.advance(100)  # a commit took so long; what they said meanwhile is not read yet
    assert roster.miss(10, listened_at) == []
    roster.hear(Vitals("b", 105.0))
    assert [member.id for member in roster.miss(10, clock())] == ["a"]


def test_a_clone_knows_what_its_model_knows() -> None:
    roster = crew("a")
    roster.give("a", trip(1, 1))
    roster.take_back("a", [seen(1, 0.5)])
    roster.join("twin", roster.members["a"].known())
    assert roster.standing("twin", HOST).vitals.latency_seconds == 0.5
    assert roster.load("twin") == 0


def test_a_shared_host_goes_to_those_who_hold_least_of_it() -> None:
    roster = crew("a", "b", "c")
    roster.give("a", trip(1, 20))
    roster.give("b", trip(21, 3))
    roster.give("c", trip(31, 40, Host("http://other.example")))
    assert roster.least_busy(HOST, ["a", "b", "c"], 0, 99) == ["c"]
    assert roster.least_busy(HOST, ["a", "b", "c"], 5, 99) == ["b", "c"]
    assert roster.least_busy(HOST, ["a", "b"], 5, 3) == []
    roster.take_back("a", [seen(n, 0.1) for n in range(1, 21)])
    assert roster.least_busy(HOST, ["a", "b", "c"], 0, 99) == ["a", "c"]


def test_those_who_cannot_reach_a_host_do_not_keep_others_from_it() -> None:
    roster = Roster(Ahp(), reaches=lambda migrant, host: migrant == "there" or host != HOST)
    roster.join("home")
    roster.join("there", hands=4000)
    roster.give("there", trip(1, 500))
    assert roster.least_busy(HOST, ["home", "there"], 4, 999) == ["there"]
    assert (roster.reach(HOST), roster.reach(Host("http://other.example"))) == (1, 2)


def test_a_slow_host_is_given_no_more_than_it_can_answer_soon() -> None:
    roster = crew("a", "b")
    assert roster.soon(HOST, 4.0, 1) == 8, "nobody has been there: half a second is expected"
    roster.give("a", trip(1, 3))
    roster.take_back("a", [seen(1, 1.0), seen(2, 1.0)])
    assert roster.soon(HOST, 4.0, 1) == 8, "two pages say little"
    roster.take_back("a", [seen(3, 1.0)])
    assert roster.soon(HOST, 4.0, 1) == 4, "one connection, a second for a page"
    roster.give("b", trip(4, 1))
    roster.take_back("b", [seen(4, 100.0)])
    assert roster.soon(HOST, 4.0, 1) == 2, "but never less than keeps the connections busy"

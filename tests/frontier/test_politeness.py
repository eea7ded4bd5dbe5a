"""How much of a host is handed out at once, and for how long."""

from sanderling.frontier.politeness import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    NEAR_BATCH,
    QUIET_SECONDS,
    TERM_SECONDS,
    UNBOUNDED,
    UNKNOWN_BATCH,
    Pace,
    eased,
    slowed,
)


def test_a_host_that_wants_pauses_gives_ten_seconds_of_work() -> None:
    assert Pace(delay_seconds=2).most() == 5
    assert Pace(delay_seconds=2).size("http://a", leased=3, robots_known=True, pause=0) == 2
    assert Pace(delay_seconds=0).size("http://a", leased=1, robots_known=True, pause=5) == 1
    assert Pace(delay_seconds=60).most() == 1


def test_without_pauses_a_batch_is_given_and_a_few_until_the_rules_are_known() -> None:
    pace = Pace(delay_seconds=0)
    assert pace.most() == UNBOUNDED
    assert pace.size("http://a", leased=500, robots_known=True, pause=0) == pace.batch
    assert pace.size("http://a", leased=0, robots_known=False, pause=0) == UNKNOWN_BATCH


def test_a_site_with_a_host_of_its_own_gets_a_long_letter_and_sets_its_own_pace() -> None:
    pace = Pace(delay_seconds=1, near=frozenset({"http://a"}))
    assert pace.size("http://a", leased=0, robots_known=False, pause=0) == NEAR_BATCH
    assert (pace.delay("http://a"), pace.delay("http://b")) == (0.0, 1.0)


def test_leases_last_as_long_as_their_itinerary_may_take() -> None:
    pace = Pace(delay_seconds=1)
    assert pace.term("http://a", stops=10, pause=0) == TERM_SECONDS + 20
    assert pace.term("http://a", stops=10, pause=4) == TERM_SECONDS + 50


def test_a_complaint_doubles_the_pause_within_bounds() -> None:
    assert (slowed(0), slowed(1), slowed(20)) == (FIRST_PAUSE, 2, LONGEST_PAUSE)


def test_each_quiet_half_hour_halves_what_complaints_taught_until_nothing_is_left() -> None:
    assert eased(8, QUIET_SECONDS - 1) == eased(8, -1) == 8
    assert (eased(8, QUIET_SECONDS), eased(8, 2.5 * QUIET_SECONDS)) == (4, 2)
    assert eased(8, 1e6) == 0


def test_a_host_that_complained_gets_a_longer_pause_unless_ours_is_longer_still() -> None:
    assert Pace(delay_seconds=0).delay("http://a", learned=0.4) == 0.4
    assert Pace(delay_seconds=1).delay("http://a", learned=0.4) == 1
    assert Pace(near=frozenset({"http://a"})).delay("http://a", learned=4) == 0

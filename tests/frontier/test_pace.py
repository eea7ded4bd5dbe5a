"""How much of a host is handed out at once, and for how long."""

from sanderling.frontier.pace import NEAR_BATCH, TERM_SECONDS, UNBOUNDED, UNKNOWN_BATCH, Pace


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

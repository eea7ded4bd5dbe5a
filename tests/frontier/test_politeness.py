"""How much of a host is handed out at once, and for how long."""

from sanderling.frontier.politeness import (
    DELAY_HALF_LIFE_SECONDS,
    LEASE_SECONDS,
    MAX_LEARNED_DELAY,
    MIGRANT_BATCH,
    MIN_LEARNED_DELAY,
    NO_ROBOTS_BATCH,
    UNBOUNDED,
    Politeness,
    decay_delay,
    increase_delay,
)


def test_a_host_that_wants_pauses_gives_ten_seconds_of_work() -> None:
    assert Politeness(delay_seconds=2).get_max_in_flight() == 5
    assert Politeness(delay_seconds=2).compute_batch_size("http://a", leased=3, has_robots=True, crawl_delay=0) == 2
    assert Politeness(delay_seconds=0).compute_batch_size("http://a", leased=1, has_robots=True, crawl_delay=5) == 1
    assert Politeness(delay_seconds=60).get_max_in_flight() == 1


def test_without_pauses_a_batch_is_given_and_a_few_until_the_rules_are_known() -> None:
    pace = Politeness(delay_seconds=0)
    assert pace.get_max_in_flight() == UNBOUNDED
    assert pace.compute_batch_size("http://a", leased=500, has_robots=True, crawl_delay=0) == pace.max_batch_size
    assert pace.compute_batch_size("http://a", leased=0, has_robots=False, crawl_delay=0) == NO_ROBOTS_BATCH


def test_a_site_with_a_host_of_its_own_gets_a_long_letter_and_sets_its_own_pace() -> None:
    pace = Politeness(delay_seconds=1, migrant_hosts=frozenset({"http://a"}))
    assert pace.compute_batch_size("http://a", leased=0, has_robots=False, crawl_delay=0) == MIGRANT_BATCH
    assert (pace.get_delay("http://a"), pace.get_delay("http://b")) == (0.0, 1.0)


def test_leases_last_as_long_as_their_itinerary_may_take() -> None:
    pace = Politeness(delay_seconds=1)
    assert pace.compute_lease_seconds("http://a", task_count=10, crawl_delay=0) == LEASE_SECONDS + 20
    assert pace.compute_lease_seconds("http://a", task_count=10, crawl_delay=4) == LEASE_SECONDS + 50


def test_a_complaint_doubles_the_pause_within_bounds() -> None:
    assert (increase_delay(0), increase_delay(1), increase_delay(20)) == (MIN_LEARNED_DELAY, 2, MAX_LEARNED_DELAY)


def test_each_quiet_half_hour_halves_what_complaints_taught_until_nothing_is_left() -> None:
    assert decay_delay(8, DELAY_HALF_LIFE_SECONDS - 1) == decay_delay(8, -1) == 8
    assert (decay_delay(8, DELAY_HALF_LIFE_SECONDS), decay_delay(8, 2.5 * DELAY_HALF_LIFE_SECONDS)) == (4, 2)
    assert decay_delay(8, 1e6) == 0


def test_a_host_that_complained_gets_a_longer_pause_unless_ours_is_longer_still() -> None:
    assert Politeness(delay_seconds=0).get_delay("http://a", learned_delay=0.4) == 0.4
    assert Politeness(delay_seconds=1).get_delay("http://a", learned_delay=0.4) == 1
    assert Politeness(migrant_hosts=frozenset({"http://a"})).get_delay("http://a", learned_delay=4) == 0

"""Crawl delays, batch sizes and lease durations."""

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


def test_batch_of_delayed_host_lasts_ten_seconds() -> None:
    assert Politeness(delay_seconds=2).get_max_in_flight() == 5
    assert Politeness(delay_seconds=2).compute_batch_size("http://a", leased=3, has_robots=True, crawl_delay=0) == 2
    assert Politeness(delay_seconds=0).compute_batch_size("http://a", leased=1, has_robots=True, crawl_delay=5) == 1
    assert Politeness(delay_seconds=60).get_max_in_flight() == 1


def test_batch_size_without_delay_is_small_until_robots_txt_is_known() -> None:
    politeness = Politeness(delay_seconds=0)
    assert politeness.get_max_in_flight() == UNBOUNDED
    assert (
        politeness.compute_batch_size("http://a", leased=500, has_robots=True, crawl_delay=0)
        == politeness.max_batch_size
    )
    assert politeness.compute_batch_size("http://a", leased=0, has_robots=False, crawl_delay=0) == NO_ROBOTS_BATCH


def test_migrant_host_gets_large_batches_without_delay() -> None:
    politeness = Politeness(delay_seconds=1, migrant_hosts=frozenset({"http://a"}))
    assert politeness.compute_batch_size("http://a", leased=0, has_robots=False, crawl_delay=0) == MIGRANT_BATCH
    assert (politeness.get_delay("http://a"), politeness.get_delay("http://b")) == (0.0, 1.0)


def test_lease_duration_grows_with_the_batch() -> None:
    politeness = Politeness(delay_seconds=1)
    assert politeness.compute_lease_seconds("http://a", task_count=10, crawl_delay=0) == LEASE_SECONDS + 20
    assert politeness.compute_lease_seconds("http://a", task_count=10, crawl_delay=4) == LEASE_SECONDS + 50


def test_rate_limit_increases_the_delay_within_bounds() -> None:
    assert (increase_delay(0), increase_delay(1), increase_delay(20)) == (MIN_LEARNED_DELAY, 2, MAX_LEARNED_DELAY)


def test_learned_delay_halves_every_half_hour() -> None:
    assert decay_delay(8, DELAY_HALF_LIFE_SECONDS - 1) == decay_delay(8, -1) == 8
    assert (decay_delay(8, DELAY_HALF_LIFE_SECONDS), decay_delay(8, 2.5 * DELAY_HALF_LIFE_SECONDS)) == (4, 2)
    assert decay_delay(8, 1e6) == 0


def test_learned_delay_applies_if_longer() -> None:
    assert Politeness(delay_seconds=0).get_delay("http://a", learned_delay=0.4) == 0.4
    assert Politeness(delay_seconds=1).get_delay("http://a", learned_delay=0.4) == 1
    assert Politeness(migrant_hosts=frozenset({"http://a"})).get_delay("http://a", learned_delay=4) == 0

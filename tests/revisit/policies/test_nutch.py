"""The Nutch policy."""

import pytest

from sanderling.revisit.policies.nutch import MAX_INTERVAL, MIN_INTERVAL, compute_next_interval


def test_interval_shrinks_by_a_fifth_and_grows_by_two_fifths() -> None:
    assert compute_next_interval(1000, has_changed=True, unchanged_seconds=0) == (800, 0)
    assert compute_next_interval(1000, has_changed=False, unchanged_seconds=500) == (1400, 150)


def test_long_unchanged_time_becomes_interval() -> None:
    assert compute_next_interval(1000, has_changed=False, unchanged_seconds=10_000) == (10_000, 3000)
    assert compute_next_interval(1000, has_changed=False, unchanged_seconds=10_000, sync=False) == (1400, 0)


def test_interval_is_between_a_minute_and_a_year() -> None:
    assert compute_next_interval(1, has_changed=True, unchanged_seconds=0)[0] == MIN_INTERVAL
    assert compute_next_interval(MAX_INTERVAL, has_changed=False, unchanged_seconds=0)[0] == pytest.approx(MAX_INTERVAL)

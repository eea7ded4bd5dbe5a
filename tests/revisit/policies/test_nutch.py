"""The rule of Apache Nutch."""

import pytest

from sanderling.revisit.policies.nutch import LONGEST, SHORTEST, next_interval


def test_a_change_shortens_by_a_fifth_and_quiet_lengthens_by_two() -> None:
    assert next_interval(1000, changed=True, quiet=0) == (800, 0)
    assert next_interval(1000, changed=False, quiet=500) == (1400, 150)


def test_a_long_quiet_time_becomes_the_interval() -> None:
    assert next_interval(1000, changed=False, quiet=10_000) == (10_000, 3000)
    assert next_interval(1000, changed=False, quiet=10_000, sync=False) == (1400, 0)


def test_the_interval_stays_between_a_minute_and_a_year() -> None:
    assert next_interval(1, changed=True, quiet=0)[0] == SHORTEST
    assert next_interval(LONGEST, changed=False, quiet=0)[0] == pytest.approx(LONGEST)

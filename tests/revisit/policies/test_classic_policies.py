"""Policies of other crawlers and papers: SAR with the corrections of its worked examples, Nutch, Heritrix."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.revisit.policies.classic_policies import (
    HERITRIX_MAX_WAIT,
    HERITRIX_MIN_WAIT,
    NUTCH_MAX_INTERVAL,
    NUTCH_MIN_INTERVAL,
    compute_heritrix_wait,
    compute_nutch_interval,
    compute_refresh_time,
)


def test_nutch_interval_shrinks_by_a_fifth_and_grows_by_two_fifths() -> None:
    assert compute_nutch_interval(1000, has_changed=True, unchanged_seconds=0) == (800, 0)
    assert compute_nutch_interval(1000, has_changed=False, unchanged_seconds=500) == (1400, 150)


def test_long_unchanged_time_becomes_interval() -> None:
    assert compute_nutch_interval(1000, has_changed=False, unchanged_seconds=10_000) == (10_000, 3000)
    assert compute_nutch_interval(1000, has_changed=False, unchanged_seconds=10_000, sync=False) == (1400, 0)


def test_nutch_interval_is_between_a_minute_and_a_year() -> None:
    assert compute_nutch_interval(1, has_changed=True, unchanged_seconds=0)[0] == NUTCH_MIN_INTERVAL
    assert compute_nutch_interval(NUTCH_MAX_INTERVAL, has_changed=False, unchanged_seconds=0)[0] == pytest.approx(
        NUTCH_MAX_INTERVAL
    )


def test_heritrix_wait_changes_by_half_within_bounds() -> None:
    assert compute_heritrix_wait(86_400, has_changed=False) == 129_600
    assert compute_heritrix_wait(86_400, has_changed=True) == 57_600
    assert compute_heritrix_wait(HERITRIX_MIN_WAIT, has_changed=True) == HERITRIX_MIN_WAIT
    assert compute_heritrix_wait(HERITRIX_MAX_WAIT, has_changed=False) == HERITRIX_MAX_WAIT


def test_case_1_share_within_thresholds_keeps_time() -> None:
    assert compute_refresh_time(100, 0.6) == 100
    assert compute_refresh_time(50, 0.7) == 50
    assert compute_refresh_time(50, 0.3) == 50


def test_case_2_many_changes_shorten_time() -> None:
    assert compute_refresh_time(100, 0.85) == pytest.approx(78.571429, abs=5e-7)
    assert compute_refresh_time(100, 0.85) == pytest.approx(78.58, abs=0.01)  # printed; the step was cut to -21.42


def test_case_3_few_changes_lengthen_time() -> None:
    assert compute_refresh_time(78.58, 0.25) == pytest.approx(91.6767, abs=5e-5)
    assert compute_refresh_time(78.58, 0.25) == pytest.approx(91.67, abs=0.01)  # printed
    assert compute_refresh_time(compute_refresh_time(100, 0.85), 0.25) == pytest.approx(
        91.666667, abs=5e-7
    )  # the exact chain


def test_no_change_extends_time_twofold() -> None:
    assert compute_refresh_time(50, 0) == 100
    assert compute_refresh_time(50, 0, ceiling=80) == 80


def test_floor_applies_if_formula_is_negative() -> None:
    assert compute_refresh_time(100, 1.0, 0.1, 0.4, floor=1) == 1


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 0.5), (0.7, 0.3), (0.3, 1.1), (0.5, 0.5)])
def test_invalid_thresholds_are_rejected(lower: float, upper: float) -> None:
    with pytest.raises(ValueError, match="thresholds"):
        compute_refresh_time(100, 0.5, lower, upper)


@given(st.floats(0, 1), st.floats(0, 1))
def test_refresh_time_decreases_with_changes(first: float, second: float) -> None:
    few, many = sorted((first, second))
    assert compute_refresh_time(100, many) <= compute_refresh_time(100, few)

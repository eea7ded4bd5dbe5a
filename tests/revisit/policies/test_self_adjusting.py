"""Golden numbers of the self adjusting refresh time: printed, and corrected where the paper slips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.revisit.policies.self_adjusting import compute_refresh_time


def test_case_1_inside_the_thresholds_nothing_moves() -> None:
    assert compute_refresh_time(100, 0.6) == 100
    assert compute_refresh_time(50, 0.7) == 50
    assert compute_refresh_time(50, 0.3) == 50


def test_case_2_many_changes_shorten_the_time() -> None:
    assert compute_refresh_time(100, 0.85) == pytest.approx(78.571429, abs=5e-7)
    assert compute_refresh_time(100, 0.85) == pytest.approx(78.58, abs=0.01)  # printed; the step was cut to -21.42


def test_case_3_few_changes_lengthen_it() -> None:
    assert compute_refresh_time(78.58, 0.25) == pytest.approx(91.6767, abs=5e-5)
    assert compute_refresh_time(78.58, 0.25) == pytest.approx(91.67, abs=0.01)  # printed
    assert compute_refresh_time(compute_refresh_time(100, 0.85), 0.25) == pytest.approx(
        91.666667, abs=5e-7
    )  # the exact chain


def test_no_change_at_all_doubles_the_time() -> None:
    assert compute_refresh_time(50, 0) == 100
    assert compute_refresh_time(50, 0, ceiling=80) == 80


def test_the_floor_holds_where_the_bare_formula_goes_below_zero() -> None:
    assert compute_refresh_time(100, 1.0, 0.1, 0.4, floor=1) == 1


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 0.5), (0.7, 0.3), (0.3, 1.1), (0.5, 0.5)])
def test_thresholds_that_cannot_be_are_refused(lower: float, upper: float) -> None:
    with pytest.raises(ValueError, match="thresholds"):
        compute_refresh_time(100, 0.5, lower, upper)


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_changes_never_mean_a_later_visit(one: float, other: float) -> None:
    few, many = sorted((one, other))
    assert compute_refresh_time(100, many) <= compute_refresh_time(100, few)

"""What one set of pages tells about another."""

import math
import sys
from types import FrameType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sanderling.templates.bitsets import entropy, members, mutual


def test_sets_that_are_equal_tell_all_about_each_other_and_crossed_ones_nothing() -> None:
    assert math.isclose(mutual(100, 30, 30, 30), 100 * entropy(0.3))
    assert math.isclose(mutual(100, 30, 70, 0), 100 * entropy(0.3))
    assert math.isclose(mutual(100, 50, 40, 20), 0.0, abs_tol=1e-9)


@given(st.integers(1, 60), st.data())
def test_two_sets_never_tell_more_than_either_holds(count: int, data: st.DataObject) -> None:
    first, second = data.draw(st.integers(0, count)), data.draw(st.integers(0, count))
    both = data.draw(st.integers(max(0, first + second - count), min(first, second)))
    told = mutual(count, first, second, both)
    assert -1e-6 <= told <= count * min(entropy(first / count), entropy(second / count)) + 1e-6


@given(st.sets(st.integers(0, 200)))
def test_the_places_of_a_set_are_given_in_order(places: set[int]) -> None:
    assert members(sum(1 << place for place in places)) == sorted(places)


def test_pages_that_are_not_in_a_set_cost_no_step() -> None:
    assert steps(1 << 10 | 1) == steps(1 << 10_000 | 1)


def steps(pages: int) -> int:
    """How many lines are run to list the members of a set."""
    run = 0

    def count(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal run
        run += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        members(pages)
    finally:
        sys.settrace(before)
    return run

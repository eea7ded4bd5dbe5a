import pytest

from sanderling.revisit.change_timing import (
    AGE_CLASSES,
    CELLS,
    AgeFactors,
    DirectoryActivity,
    list_recent_parts,
    split_by_age,
)
from sanderling.revisit.visit_history import DAY, VisitHistory


def test_time_is_split_at_the_age_limits() -> None:
    parts = split_by_age(10 * DAY, 10.5 * DAY, 14 * DAY)
    assert [(age, start / DAY, end / DAY) for age, start, end in parts] == [(0, 10.5, 11), (1, 11, 13), (2, 13, 14)]
    assert split_by_age(0.0, 5.0, 9.0) == [(AGE_CLASSES - 1, 5.0, 9.0)]


def test_time_counts_from_the_last_change() -> None:
    never = VisitHistory(0.0, 500 * DAY, 3)
    changed = VisitHistory(0.0, 500 * DAY, 3, changes=1, changed_at=499 * DAY)
    assert list_recent_parts(never, 501 * DAY)[0][0] == AGE_CLASSES - 1
    assert list_recent_parts(changed, 500.5 * DAY)[0][0] == AGE_CLASSES + 1


def test_changes_after_a_change_shorten_the_time_and_never_lengthen_it() -> None:
    factors = AgeFactors([0.0] * 2 * AGE_CLASSES, [0.0] * 2 * AGE_CLASSES)
    young, old = [(AGE_CLASSES, 0.0, DAY)], [(2 * AGE_CLASSES - 1, 0.0, DAY)]
    for _ in range(100):
        factors.record_visit(young, 0.1, 0.5)
        factors.record_visit(old, 0.5, 0.1)
    assert factors.compute_elapsed(young) > 2 * factors.compute_elapsed(old)
    for _ in range(1000):
        factors.record_visit(young, 1.0, 0.0)
        factors.record_visit(old, 0.1, 1.0)
    assert factors.compute_elapsed(young) >= factors.compute_elapsed(old)


def test_clock_of_a_directory_follows_its_site_after_a_batch() -> None:
    site = DirectoryActivity(100)
    directory = DirectoryActivity(100, site)
    assert directory.compute_elapsed(90, 101) == pytest.approx(11)
    for _ in range(20):
        site.record_visit(99.0, 100.9, 0.01, 1.0)
    site.advance(101)
    directory.advance(101)
    assert directory.compute_elapsed(99, 101) > 5 * directory.compute_elapsed(90, 92)


def test_clock_computed_in_part_is_the_whole_clock() -> None:
    activity = DirectoryActivity(100)
    activity.record_visit(70.0, 95.5, 0.2, 2.0)
    clock = list(activity.clock)
    activity.update_clock()
    assert clock == pytest.approx(activity.clock)
    assert len(clock) == CELLS + 1

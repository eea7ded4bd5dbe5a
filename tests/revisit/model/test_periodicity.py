"""Pages that change at a fixed hour or weekday."""

from itertools import pairwise

from sanderling.revisit.model.periodicity import HOURS, WEEKDAYS, align_due_time, is_known_unchanged, update_periodicity

HOUR, DAY = 3600.0, 86_400.0


def observe(changes: list[float], visits: list[float]) -> int:
    periodicity = 0
    for since, now in pairwise(visits):
        periodicity = update_periodicity(periodicity, since, now, any(since < at <= now for at in changes))
    return periodicity


def test_daily_change_is_visited_just_after_its_hour() -> None:
    changes = [day * DAY + 7.9 * HOUR for day in range(60)]
    periodicity = observe(changes, [n * 5 * HOUR for n in range(200)])
    assert HOURS.is_known(periodicity)
    due = align_due_time(periodicity, 50 * DAY + 9 * HOUR, 51 * DAY + 7 * HOUR)
    assert 51 * DAY + 7.9 * HOUR <= due <= 51 * DAY + 10 * HOUR
    assert is_known_unchanged(periodicity, 50 * DAY + 9 * HOUR, 50 * DAY + 20 * HOUR)
    assert not is_known_unchanged(periodicity, 50 * DAY + 9 * HOUR, 51 * DAY + 12 * HOUR)


def test_weekly_change_is_recognized_by_weekday() -> None:
    changes = [(7 * week + 4) * DAY + 3 * HOUR for week in range(40)]
    assert WEEKDAYS.is_known(observe(changes, [n * 1.5 * DAY for n in range(180)]))


def test_irregular_change_has_no_periodicity() -> None:
    periodicity = observe([n * 17.3 * HOUR for n in range(200)], [n * 5 * HOUR for n in range(200)])
    assert not HOURS.is_known(periodicity)
    assert align_due_time(periodicity, 0.0, 5 * DAY) == 5 * DAY


def test_clock_set_back_excludes_no_slot() -> None:
    assert update_periodicity(0, 5 * DAY, 4 * DAY, True) == 0

"""Pages that change at a fixed hour or weekday."""

from itertools import pairwise

from sanderling.revisit.model.periodicity import HOURS, WEEKDAYS, align_due_time, is_known_unchanged, update_periodicity

HOUR, DAY = 3600.0, 86_400.0


def watch(changes: list[float], looks: list[float]) -> int:
    phase = 0
    for since, now in pairwise(looks):
        phase = update_periodicity(phase, since, now, any(since < at <= now for at in changes))
    return phase


def test_a_page_that_changes_daily_at_eight_is_visited_just_after_eight() -> None:
    changes = [day * DAY + 7.9 * HOUR for day in range(60)]
    phase = watch(changes, [n * 5 * HOUR for n in range(200)])
    assert HOURS.is_known(phase)
    due = align_due_time(phase, 50 * DAY + 9 * HOUR, 51 * DAY + 7 * HOUR)
    assert 51 * DAY + 7.9 * HOUR <= due <= 51 * DAY + 10 * HOUR
    assert is_known_unchanged(phase, 50 * DAY + 9 * HOUR, 50 * DAY + 20 * HOUR)
    assert not is_known_unchanged(phase, 50 * DAY + 9 * HOUR, 51 * DAY + 12 * HOUR)


def test_a_page_that_changes_on_mondays_is_known_by_its_weekday() -> None:
    changes = [(7 * week + 4) * DAY + 3 * HOUR for week in range(40)]
    assert WEEKDAYS.is_known(watch(changes, [n * 1.5 * DAY for n in range(180)]))


def test_a_page_that_changes_at_any_hour_keeps_no_beat() -> None:
    phase = watch([n * 17.3 * HOUR for n in range(200)], [n * 5 * HOUR for n in range(200)])
    assert not HOURS.is_known(phase)
    assert align_due_time(phase, 0.0, 5 * DAY) == 5 * DAY


def test_a_clock_that_jumps_back_rules_nothing_out() -> None:
    assert update_periodicity(0, 5 * DAY, 4 * DAY, True) == 0

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from sanderling.monitor.active_hours import find_next_active_time, parse_active_hours

BERLIN = ZoneInfo("Europe/Berlin")
WEDNESDAY_9, WEDNESDAY_7, WEDNESDAY_23 = (2026, 11, 18, 9, 0), (2026, 11, 18, 7, 0), (2026, 11, 18, 23, 0)


@pytest.mark.parametrize(
    ("hours", "days", "now", "expected"),
    [
        ("08:00-18:00", "", WEDNESDAY_9, WEDNESDAY_9),
        ("08:00-18:00", "", WEDNESDAY_7, (2026, 11, 18, 8, 0)),
        ("08:00-18:00", "", WEDNESDAY_23, (2026, 11, 19, 8, 0)),
        ("22:00-06:00", "", WEDNESDAY_23, WEDNESDAY_23),
        ("22:00-06:00", "", WEDNESDAY_9, (2026, 11, 18, 22, 0)),
        ("06:00-08:00, 12:00-13:00", "", WEDNESDAY_7, WEDNESDAY_7),
        ("06:00-08:00, 12:00-13:00", "", WEDNESDAY_9, (2026, 11, 18, 12, 0)),
        ("", "mon-fri", WEDNESDAY_9, WEDNESDAY_9),
        ("", "sat,sun", WEDNESDAY_9, (2026, 11, 21, 0, 0)),
        ("", "weekend", WEDNESDAY_9, (2026, 11, 21, 0, 0)),
        ("", "fri-tue", WEDNESDAY_9, (2026, 11, 20, 0, 0)),
        ("08:00-18:00", "tue", WEDNESDAY_9, (2026, 11, 24, 8, 0)),
        ("22:00-06:00", "fri", (2026, 11, 21, 5, 0), (2026, 11, 21, 5, 0)),  # Saturday, in the window of Friday
        ("22:00-06:00", "fri", (2026, 11, 20, 5, 0), (2026, 11, 20, 22, 0)),
        ("03:00-04:00", "", (2026, 3, 28, 12, 0), (2026, 3, 29, 3, 0)),  # the clock is changed at 2:00
        ("08:00-18:00", "", (2026, 10, 24, 19, 0), (2026, 10, 25, 8, 0)),
    ],
)
def test_next_active_time(hours: str, days: str, now: tuple[int, ...], expected: tuple[int, ...]) -> None:
    at, opening = (datetime(*parts, tzinfo=BERLIN).timestamp() for parts in (now, expected))  # type: ignore[arg-type, misc]
    assert find_next_active_time(parse_active_hours(hours, days, "Europe/Berlin"), at) == opening

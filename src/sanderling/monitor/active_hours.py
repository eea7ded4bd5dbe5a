"""When the pages of a watch may be checked: days of the week and hours, in a time zone."""

import re
from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Struct

from sanderling.errors import UsageError

HOURS = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-4]):([0-5]\d)").fullmatch
DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MIN_NAME_LENGTH = 3  # mon, tues, ...
DAY_GROUPS = {"weekdays": "mon-fri", "weekend": "sat-sun", "weekends": "sat-sun", "daily": "mon-sun"}
MINUTES_PER_DAY = 24 * 60
ALL_DAY = (0, MINUTES_PER_DAY)


class ActiveHours(Struct, frozen=True):
    """Weekdays (Monday is 0) and windows in minutes of the day. A window past midnight belongs to the day it begins."""

    days: frozenset[int]
    windows: tuple[tuple[int, int], ...]
    zone: ZoneInfo


@lru_cache(1024)
def parse_active_hours(hours: str, days: str, zone: str) -> ActiveHours:
    """Parse `08:00-12:00, 13:00-18:00`, `mon-fri`, and `Europe/Berlin`; all may be empty. Raises UsageError."""
    windows = tuple(map(_parse_window, hours.split(","))) if hours.strip() else (ALL_DAY,)
    return ActiveHours(_parse_days(days), windows, get_time_zone(zone))


def _parse_window(text: str) -> tuple[int, int]:
    match = HOURS(text.strip())
    start, end = (int(match[1]) * 60 + int(match[2]), int(match[3]) * 60 + int(match[4])) if match else (0, 0)
    if not match or start == end or end > MINUTES_PER_DAY:
        raise UsageError(f"{text.strip()!r} are not active hours; write for example 08:00-18:00")
    return start, end if end > start else end + MINUTES_PER_DAY


def _parse_days(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in (text or "daily").lower().split(","):
        names = DAY_GROUPS.get(part.strip(), part).split("-")
        days = [day for name in names if (day := _find_day(name.strip())) is not None]
        if len(days) != len(names) or len(days) > 2:
            raise UsageError(f"{part.strip()!r} are not days of the week; write for example mon-fri or sat,sun")
        found.update((days[0] + step) % 7 for step in range((days[-1] - days[0]) % 7 + 1))
    return frozenset(found)


def _find_day(name: str) -> int | None:
    if len(name) < MIN_NAME_LENGTH:
        return None
    return next((number for number, full in enumerate(DAY_NAMES) if full.startswith(name)), None)


def get_time_zone(name: str) -> ZoneInfo:
    """Return a time zone; UTC for an empty name. Raises UsageError."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(f"{name!r} is not a time zone; write for example Europe/Berlin") from None


def find_next_active_time(active: ActiveHours, now: float) -> float:
    """Return when pages may be checked next: `now` within the active hours."""
    if len(active.days) == len(DAY_NAMES) and ALL_DAY in active.windows:
        return now
    midnight = datetime.fromtimestamp(now, active.zone).replace(hour=0, minute=0, second=0, microsecond=0)
    openings = []
    for offset in range(-1, 8):
        day = midnight + timedelta(days=offset)
        if day.weekday() in active.days:
            for start, end in active.windows:
                opening, closing = (_to_timestamp(day, minute) for minute in (start, end))
                if opening <= now < closing:
                    return now
                openings.append(opening)
    return min(opening for opening in openings if opening > now)


def _to_timestamp(day: datetime, minute: int) -> float:
    """Return the time of a minute of a day on its clock, also where the clock is changed on this day."""
    return (day + timedelta(days=minute // MINUTES_PER_DAY, minutes=minute % MINUTES_PER_DAY)).timestamp()

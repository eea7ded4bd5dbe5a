"""Revisit by the sitemap (MIG-9): fetch what is younger than our copy; without a date, by its class of change."""

import math

from msgspec import Struct

DAY = 86_400.0
PERIODS = {  # MIG-3: one list per class; `never` is visited once
    "always": 0.0,
    "hourly": 3600.0,
    "daily": DAY,
    "weekly": 7 * DAY,
    "monthly": 30 * DAY,
    "yearly": 365 * DAY,
    "never": math.inf,
}
DEFAULT = "weekly"  # of a page whose class is not given


class Hint(Struct, frozen=True, array_like=True):
    """What a sitemap or feed says of one page, as long as the page is listed there."""

    lastmod: float = 0.0  # 0: not given
    day_only: bool = False  # a date without the time of day
    changefreq: str = ""


def changed_by(hint: Hint) -> float:
    """The latest moment the stated change can have happened: the end of that day where only the day is given."""
    return hint.lastmod + (DAY if hint.day_only else 0.0)


def is_newer(hint: Hint, last: float) -> bool:
    """Was the page changed after our last visit, by its own word?"""
    return hint.lastmod > 0 and changed_by(hint) > last


def period(hint: Hint) -> float:
    """How often the page's class is visited, in seconds; an unknown class is the default one."""
    return PERIODS.get(hint.changefreq.strip().lower(), PERIODS[DEFAULT])


def next_visit(hint: Hint, last: float | None, now: float) -> float:
    """When to come: at once if new or changed, never while lastmod is older than our copy, else by class."""
    if last is None or is_newer(hint, last):
        return now
    if hint.lastmod > 0:
        return math.inf
    return last + period(hint)

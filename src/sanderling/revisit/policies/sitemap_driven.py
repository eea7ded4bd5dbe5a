"""Revisit by the sitemap (MIG-9): fetch what is younger than our copy; without a date, by its class of change."""

import math

from msgspec import Struct
from msgspec.structs import replace

from sanderling.revisit.model.announcer_trust import Kind
from sanderling.revisit.policies import interval_based
from sanderling.revisit.policies.policy import Assessment, Policy, View
from sanderling.revisit.visit_history import History, Look, observe

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
SAID = ("", *PERIODS)  # what a history keeps is the place in this row
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


def listed(history: History, hint: Hint | None, kind: Kind) -> History:
    """The history of a page after its sitemap or feed was read; None: it is not listed there (any more)."""
    bit = 1 << kind
    if hint is None or hint.lastmod <= 0:
        rest = history.announced_by & ~bit
        history = replace(history, announced_by=rest, signals=history.signals if rest else 0)
    else:
        history = replace(history, announced_by=history.announced_by | bit)
    name = hint.changefreq.strip().lower() if hint else ""
    return replace(history, said=SAID.index(name) if name in PERIODS else 0)


def announced(history: History, at: float, kind: Kind) -> History:
    """The history of a page that is said to have changed then; what we saw since, or heard before, is no news."""
    if at <= max(history.last, history.announced_at):
        return history
    return replace(history, signals=history.signals + 1, announced_at=at, announced_by=history.announced_by | 1 << kind)


def learn(history: History, look: Look, view: View) -> History:  # noqa: ARG001  the seam of all policies
    """Count the visit; the sitemap alone decides."""
    return observe(history, look)


def assess(history: History, view: View) -> Assessment:
    """Due at once if announced, never if the sitemap dates the page and announces nothing, else by its class."""
    if history.signals:
        return min(history.last, view.now), math.inf, 0
    if history.announced_by:
        return math.inf, 0.0, 0
    return interval_based.assess(replace(history, interval=said_period(history)), view)


def said_period(history: History) -> float:
    """How often the class of the page is visited, in seconds."""
    return PERIODS[SAID[history.said] or DEFAULT]


def why(history: History, view: View) -> str:  # noqa: ARG001  the seam of all policies
    """What the sitemap said, or the class."""
    if history.signals:
        return "the sitemap dates it later than our copy"
    return (
        "the sitemap dates no change"
        if history.announced_by
        else f"visited as {SAID[history.said] or DEFAULT} pages are"
    )


POLICY = Policy(
    "sitemap", "what the sitemap dates later, the rest by its class", learn, assess, why, interval_based.par
)

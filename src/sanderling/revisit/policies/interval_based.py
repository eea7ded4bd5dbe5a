"""What policies that keep an interval per page have in common: the price of a visit scales all intervals alike."""

from collections.abc import Callable

from sanderling.revisit.model.change_rate import DAY, Table
from sanderling.revisit.policies.policy import Assessment, Policy, View
from sanderling.revisit.visit_history import FIRST_INTERVAL, History, Look

ON_TIME = 0.9  # of the interval: a visit much earlier was ahead of its time and adjusts nothing


def assess(history: History, view: View) -> Assessment:
    """Due when the interval is over; worth the share of it that is over."""
    if history.interval <= 0:
        return history.last, float("inf"), 0
    return history.last + view.price * history.interval, max(view.now - history.last, 0.0) / history.interval, 0


def par(interval: float, table: Table) -> float:  # noqa: ARG001  the seam of all policies
    """What the first interval is to be scaled by."""
    return interval / FIRST_INTERVAL


def why(history: History, view: View) -> str:
    """The interval, and what the last visits found."""
    days = view.price * history.interval / DAY
    return f"every {days:.3g} days; {history.share:.0%} of the last visits found a change"


def was_due(history: History, look: Look, view: View) -> bool:
    """Was the visit made when its interval was over, not ahead of it?"""
    return look.at - history.last >= ON_TIME * view.price * history.interval


def interval_policy(name: str, tells: str, learn: Callable[[History, Look, View], History]) -> Policy:
    """A policy of this kind."""
    return Policy(name, tells, learn, assess, why, par)

"""What policies that keep an interval per page have in common: the price of a visit scales all intervals alike."""

from collections.abc import Callable

from sanderling.revisit.model.change_rate import DAY, RateTable
from sanderling.revisit.policies.policy import Assessment, PolicyView, RevisitPolicy
from sanderling.revisit.visit_history import FIRST_INTERVAL, Observation, VisitHistory

ON_TIME_SHARE = 0.9  # of the interval: a visit much earlier was ahead of its time and adjusts nothing


def assess_page(history: VisitHistory, view: PolicyView) -> Assessment:
    """Due when the interval is over; worth the share of it that is over."""
    if history.interval <= 0:
        return history.last_visit, float("inf"), 0
    return (
        history.last_visit + view.price * history.interval,
        max(view.now - history.last_visit, 0.0) / history.interval,
        0,
    )


def compute_base_price(interval: float, table: RateTable) -> float:  # noqa: ARG001  the seam of all policies
    """What the first interval is to be scaled by."""
    return interval / FIRST_INTERVAL


def explain(history: VisitHistory, view: PolicyView) -> str:
    """The interval, and what the last visits found."""
    days = view.price * history.interval / DAY
    return f"every {days:.3g} days; {history.change_share:.0%} of the last visits found a change"


def is_visit_on_time(history: VisitHistory, observation: Observation, view: PolicyView) -> bool:
    """Was the visit made when its interval was over, not ahead of it?"""
    return observation.visited_at - history.last_visit >= ON_TIME_SHARE * view.price * history.interval


def build_interval_policy(
    name: str, description: str, update_history: Callable[[VisitHistory, Observation, PolicyView], VisitHistory]
) -> RevisitPolicy:
    """A policy of this kind."""
    return RevisitPolicy(name, description, update_history, assess_page, explain, compute_base_price)

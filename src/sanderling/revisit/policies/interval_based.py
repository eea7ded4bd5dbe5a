"""Common parts of policies with an interval per page; the price of a visit scales all intervals."""

from collections.abc import Callable

from sanderling.revisit.model.change_rate import DAY, RateTable
from sanderling.revisit.policies.policy import Assessment, PolicyView, RevisitPolicy
from sanderling.revisit.visit_history import FIRST_INTERVAL, Observation, VisitHistory

ON_TIME_SHARE = 0.9  # of the interval; earlier visits adjust nothing


def assess_page(history: VisitHistory, view: PolicyView) -> Assessment:
    """Due when the interval is over; the value is the elapsed share of it."""
    if history.interval <= 0:
        return history.last_visit, float("inf"), 0
    return (
        history.last_visit + view.price * history.interval,
        max(view.now - history.last_visit, 0.0) / history.interval,
        0,
    )


def compute_base_price(interval: float, table: RateTable) -> float:  # noqa: ARG001 interface
    return interval / FIRST_INTERVAL


def explain(history: VisitHistory, view: PolicyView) -> str:
    days = view.price * history.interval / DAY
    return f"every {days:.3g} days; {history.change_share:.0%} of the last visits found a change"


def is_visit_on_time(history: VisitHistory, observation: Observation, view: PolicyView) -> bool:
    """Whether a visit was made after its interval, not early."""
    return observation.visited_at - history.last_visit >= ON_TIME_SHARE * view.price * history.interval


def build_interval_policy(
    name: str, description: str, update_history: Callable[[VisitHistory, Observation, PolicyView], VisitHistory]
) -> RevisitPolicy:
    return RevisitPolicy(name, description, update_history, assess_page, explain, compute_base_price)

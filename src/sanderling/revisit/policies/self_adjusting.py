"""Self-adjusting refresh time (SAR-1..6): sooner if most visits find a change, later if few do."""

from sanderling.revisit.policies.interval_based import build_interval_policy, is_visit_on_time
from sanderling.revisit.policies.policy import PolicyView
from sanderling.revisit.visit_history import RECENT_VISITS as RECENT_VISITS
from sanderling.revisit.visit_history import Observation, VisitHistory, record_observation, set_interval

LOWER = 0.3  # SAR, p_l of the worked cases (the paper's sentence swaps the two names)
UPPER = 0.7  # SAR, p_g of the worked cases
MIN_INTERVAL = 3600.0
MAX_INTERVAL = 365 * 86_400.0


def compute_refresh_time(
    time: float,
    change_share: float,
    lower: float = LOWER,
    upper: float = UPPER,
    floor: float = 0.0,
    ceiling: float = float("inf"),
) -> float:
    """Compute the next refresh time from the last and the share of visits that found a change.

    Clamped: the formula is negative for share >= 2 * upper, and grows without limit if nothing changes.
    """
    if not 0 < lower < upper <= 1:
        raise ValueError(f"thresholds must satisfy 0 < lower < upper <= 1, not {lower} and {upper}")
    step = 0.0
    if change_share > upper:
        step = 1 - change_share / upper
    elif change_share < lower:
        step = 1 - change_share / lower
    return min(ceiling, max(floor, time + step * time))


def update_history(history: VisitHistory, observation: Observation, view: PolicyView) -> VisitHistory:
    """Adjust the refresh time after a visit on time (corrects a comparison in the paper)."""
    after = record_observation(history, observation)
    if not is_visit_on_time(history, observation, view):
        return after
    return set_interval(
        after, compute_refresh_time(after.interval, after.change_share, floor=MIN_INTERVAL, ceiling=MAX_INTERVAL)
    )


POLICY = build_interval_policy(
    "self-adjusting", "sooner where most visits find a change, later where few do", update_history
)

"""Self adjusting refresh time (SAR-1..6): come sooner where most visits find a change, later where few do."""

from sanderling.revisit.policies.interval_based import interval_policy, was_due
from sanderling.revisit.policies.policy import View
from sanderling.revisit.visit_history import WINDOW as WINDOW
from sanderling.revisit.visit_history import History, Look, keeping, observe

LOWER = 0.3  # SAR, p_l of the worked cases (the paper's sentence swaps the two names)
UPPER = 0.7  # SAR, p_g of the worked cases
SHORTEST = 3600.0
LONGEST = 365 * 86_400.0


def refresh_time(
    time: float,
    share: float,
    lower: float = LOWER,
    upper: float = UPPER,
    floor: float = 0.0,
    ceiling: float = float("inf"),
) -> float:
    """The next refresh time from the one in force and the share of visits that found a change.

    The bare formula falls below zero when share >= 2 * upper, and doubles for ever when nothing changes: the clamp.
    """
    if not 0 < lower < upper <= 1:
        raise ValueError(f"thresholds must satisfy 0 < lower < upper <= 1, not {lower} and {upper}")
    step = 0.0
    if share > upper:
        step = 1 - share / upper
    elif share < lower:
        step = 1 - share / lower
    return min(ceiling, max(floor, time + step * time))


def learn(history: History, look: Look, view: View) -> History:
    """Adjust the refresh time if it was over (the paper compares wrong quantities there: corrected)."""
    after = observe(history, look)
    if not was_due(history, look, view):
        return after
    return keeping(after, refresh_time(after.interval, after.share, floor=SHORTEST, ceiling=LONGEST))


POLICY = interval_policy("self-adjusting", "sooner where most visits find a change, later where few do", learn)

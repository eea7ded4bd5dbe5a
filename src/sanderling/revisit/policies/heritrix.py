"""The adaptive revisit rule of Heritrix (WaitEvaluator): divide the wait after a change, else multiply it."""

from sanderling.revisit.policies.interval_based import build_interval_policy
from sanderling.revisit.policies.policy import PolicyView
from sanderling.revisit.visit_history import Observation, VisitHistory, record_observation, set_interval

FACTOR = 1.5
MIN_WAIT = 3600.0
MAX_WAIT = 28 * 86_400.0


def compute_next_wait(wait: float, has_changed: bool) -> float:
    """Return the next wait in seconds."""
    return min(max(wait / FACTOR if has_changed else wait * FACTOR, MIN_WAIT), MAX_WAIT)


def update_history(history: VisitHistory, observation: Observation, view: PolicyView) -> VisitHistory:  # noqa: ARG001 interface
    after = record_observation(history, observation)
    return set_interval(after, compute_next_wait(after.interval, observation.has_changed))


POLICY = build_interval_policy("heritrix", "the adaptive revisit rule of Heritrix", update_history)

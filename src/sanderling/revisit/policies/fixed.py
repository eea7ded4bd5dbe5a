"""Fixed policy: all pages at the same interval (round robin), hard to beat at equal cost."""

from sanderling.revisit.policies.interval_based import build_interval_policy
from sanderling.revisit.policies.policy import PolicyView
from sanderling.revisit.visit_history import Observation, VisitHistory, record_observation


def update_history(history: VisitHistory, observation: Observation, view: PolicyView) -> VisitHistory:  # noqa: ARG001 interface
    return record_observation(history, observation)


POLICY = build_interval_policy("fixed", "every page at the same interval", update_history)

"""Every page at the same interval, oldest visit first: round robin, and hard to beat at equal cost."""

from sanderling.revisit.policies.interval_based import interval_policy
from sanderling.revisit.policies.policy import View
from sanderling.revisit.visit_history import History, Look, observe


def learn(history: History, look: Look, view: View) -> History:  # noqa: ARG001  the seam of all policies
    """Count the visit; the interval stays."""
    return observe(history, look)


POLICY = interval_policy("fixed", "every page at the same interval", learn)

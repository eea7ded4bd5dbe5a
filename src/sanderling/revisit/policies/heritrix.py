"""The adaptive revisit rule of Heritrix (WaitEvaluator): divide the wait after a change, multiply it without one."""

from sanderling.revisit.policies.interval_based import interval_policy
from sanderling.revisit.policies.policy import View
from sanderling.revisit.visit_history import History, Look, keeping, observe

FACTOR = 1.5
SHORTEST = 3600.0
LONGEST = 28 * 86_400.0


def next_wait(wait: float, changed: bool) -> float:
    """The next wait in seconds."""
    return min(max(wait / FACTOR if changed else wait * FACTOR, SHORTEST), LONGEST)


def learn(history: History, look: Look, view: View) -> History:  # noqa: ARG001  the seam of all policies
    """Adjust the wait at every visit."""
    after = observe(history, look)
    return keeping(after, next_wait(after.interval, look.changed))


POLICY = interval_policy("heritrix", "the adaptive revisit rule of Heritrix", learn)

"""The adaptive fetch schedule of Apache Nutch: the interval shrinks after a change and grows without one."""

from sanderling.revisit.policies.interval_based import par, why
from sanderling.revisit.policies.policy import Assessment, Policy, View
from sanderling.revisit.visit_history import History, Look, keeping, observe

INCREASE = 0.4  # nutch-default.xml: db.fetch.schedule.adaptive.inc_rate
DECREASE = 0.2  # nutch-default.xml: db.fetch.schedule.adaptive.dec_rate
SYNC_RATE = 0.3  # nutch-default.xml: db.fetch.schedule.adaptive.sync_delta_rate
SHORTEST = 60.0
LONGEST = 365 * 86_400.0


def next_interval(interval: float, changed: bool, quiet: float, sync: bool = True) -> tuple[float, float]:
    """The next interval, and how long before it is over to come; `quiet` is the time since the page was modified."""
    interval *= 1 - DECREASE if changed else 1 + INCREASE
    early = 0.0
    if sync:
        interval = max(interval, quiet)
        early = SYNC_RATE * quiet
    return min(max(interval, SHORTEST), LONGEST), early


def learn(history: History, look: Look, view: View) -> History:  # noqa: ARG001  the seam of all policies
    """Adjust the interval at every visit."""
    after = observe(history, look)
    quiet = max(look.at - (look.modified or after.changed_at), 0.0)
    interval, _ = next_interval(after.interval, look.changed, quiet)
    return keeping(after, interval)


def assess(history: History, view: View) -> Assessment:
    """As by interval, but counted from a little before the visit: so the schedule drifts to the change."""
    early = SYNC_RATE * max(history.last - history.changed_at, 0.0)
    interval = max(history.interval - early, SHORTEST)
    return history.last + view.price * interval, max(view.now - history.last, 0.0) / interval, 0


POLICY = Policy("nutch", "the adaptive schedule of Apache Nutch", learn, assess, why, par)

"""The adaptive fetch schedule of Apache Nutch: the interval shrinks after a change, else grows."""

from sanderling.revisit.policies.interval_based import compute_base_price, explain
from sanderling.revisit.policies.policy import Assessment, PolicyView, RevisitPolicy
from sanderling.revisit.visit_history import Observation, VisitHistory, record_observation, set_interval

INCREASE = 0.4  # nutch-default.xml: db.fetch.schedule.adaptive.inc_rate
DECREASE = 0.2  # nutch-default.xml: db.fetch.schedule.adaptive.dec_rate
SYNC_RATE = 0.3  # nutch-default.xml: db.fetch.schedule.adaptive.sync_delta_rate
MIN_INTERVAL = 60.0
MAX_INTERVAL = 365 * 86_400.0


def compute_next_interval(
    interval: float, has_changed: bool, unchanged_seconds: float, sync: bool = True
) -> tuple[float, float]:
    """Return the next interval, and by how much to shorten it; `unchanged_seconds` is the age of the page."""
    interval *= 1 - DECREASE if has_changed else 1 + INCREASE
    early = 0.0
    if sync:
        interval = max(interval, unchanged_seconds)
        early = SYNC_RATE * unchanged_seconds
    return min(max(interval, MIN_INTERVAL), MAX_INTERVAL), early


def update_history(history: VisitHistory, observation: Observation, view: PolicyView) -> VisitHistory:  # noqa: ARG001 interface
    after = record_observation(history, observation)
    unchanged_seconds = max(observation.visited_at - (observation.modified_at or after.changed_at), 0.0)
    interval, _ = compute_next_interval(after.interval, observation.has_changed, unchanged_seconds)
    return set_interval(after, interval)


def assess_page(history: VisitHistory, view: PolicyView) -> Assessment:
    """Assess by interval, from a little before the last visit, so that visits drift towards the change."""
    early = SYNC_RATE * max(history.last_visit - history.changed_at, 0.0)
    interval = max(history.interval - early, MIN_INTERVAL)
    return history.last_visit + view.price * interval, max(view.now - history.last_visit, 0.0) / interval, 0


POLICY = RevisitPolicy(
    "nutch", "the adaptive schedule of Apache Nutch", update_history, assess_page, explain, compute_base_price
)

"""A revisit policy: the interval of a page doubles at each visit without a change, and starts again after a change."""

from sanderling.revisit.policies.policy import Assessment, PolicyView, RevisitPolicy
from sanderling.revisit.visit_history import DAY, Observation, VisitHistory, record_observation, set_interval

FIRST, LONGEST = 1 * DAY, 64 * DAY  # seconds


def double_interval(history: VisitHistory, observation: Observation, _view: PolicyView) -> VisitHistory:
    """Add a visit, and set the interval until the next."""
    interval = FIRST if observation.has_changed else min(2 * history.interval, LONGEST)
    return set_interval(record_observation(history, observation), interval)


def assess_page(history: VisitHistory, view: PolicyView) -> Assessment:
    """Return when a page is due at the current price, and the value of a visit now."""
    elapsed = view.now - history.last_visit
    return history.last_visit + view.price * history.interval, elapsed / history.interval


def explain(history: VisitHistory, view: PolicyView) -> str:
    """Say why a page is due when it is."""
    return f"visited every {view.price * history.interval / DAY:.3g} days, as nothing changed"


doubling = RevisitPolicy(
    "doubling", "twice as late after each visit without a change", double_interval, assess_page, explain,
    compute_base_price=lambda interval: interval / FIRST,
)  # fmt: skip

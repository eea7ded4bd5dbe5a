"""Schedule of Cho and Garcia-Molina, optimal for freshness, with the estimated rate of each page."""

from math import exp, expm1, log

from sanderling.revisit.model.change_rate import DAY, RateTable
from sanderling.revisit.policies.fixed import update_history
from sanderling.revisit.policies.policy import Assessment, PolicyView, RevisitPolicy
from sanderling.revisit.visit_history import VisitHistory

MAX_WAIT_INTERVALS = 8.0  # mean intervals; corrects a page given up by mistake


def estimate_rate(history: VisitHistory, view: PolicyView) -> float:
    """Estimate changes per day, bias-reduced (Cho and Garcia-Molina): -ln((n - X + 0.5) / (n + 0.5)) / I.

    I is the mean interval between n visits; before the second visit, that of all pages and half a change.
    """
    visits = history.visits - 1
    if visits <= 0 or history.last_visit <= history.first_visit:
        return 0.5 * DAY / view.mean_interval
    days = (history.last_visit - history.first_visit) / visits / DAY
    unchanged_share = (visits - history.changes + 0.5) / (visits + 0.5)
    return -log(unchanged_share) / days if history.changes else 0.5 / (visits + 0.5) / days


def explain(history: VisitHistory, view: PolicyView) -> str:
    every = 1 / estimate_rate(history, view)
    return f"changes about every {every:.3g} days ({history.changes} found in {history.visits} visits)"


def compute_visit_value(rate: float, days: float) -> float:
    """Return days of freshness won by a visit; equal for all pages in the optimal schedule."""
    x = rate * days
    return rate * days * days / 2 if x < 1e-4 else (-expm1(-x) - x * exp(-x)) / rate


def compute_wait(rate: float, price: float, max_days: float) -> float:
    """Return days until a visit is worth its price; pages that change too fast wait longest."""
    low, high = 0.0, max_days
    if compute_visit_value(rate, high) <= price:
        return high
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if compute_visit_value(rate, middle) >= price else (middle, high)
    return high


def assess_page(history: VisitHistory, view: PolicyView) -> Assessment:
    """Due when a visit wins as many days of freshness as it costs, or after the longest wait."""
    rate, longest = estimate_rate(history, view), MAX_WAIT_INTERVALS * view.mean_interval / DAY
    due_at = history.last_visit + compute_wait(rate, view.price, longest) * DAY
    elapsed = max(view.now - history.last_visit, 0.0) / DAY
    return due_at, max(compute_visit_value(rate, elapsed), view.price if elapsed >= longest else 0.0), 0


def compute_base_price(interval: float, table: RateTable) -> float:  # noqa: ARG001 interface
    return compute_visit_value(0.5 * DAY / interval, interval / DAY)


POLICY = RevisitPolicy(
    "cho", "optimal for freshness, by each page's own rate", update_history, assess_page, explain, compute_base_price
)

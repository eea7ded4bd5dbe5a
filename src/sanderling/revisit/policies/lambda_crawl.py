"""LambdaCrawl (Kolobov et al. 2019): optimal for harmonic staleness, never gives up a page."""

from math import sqrt

from sanderling.revisit.model.change_rate import DAY, RateTable
from sanderling.revisit.policies.cho import estimate_rate, explain
from sanderling.revisit.policies.fixed import update_history
from sanderling.revisit.policies.policy import Assessment, PolicyView, RevisitPolicy
from sanderling.revisit.visit_history import VisitHistory


def compute_crawl_rate(rate: float, price: float) -> float:
    """Return visits per day of a page with this change rate, at this price."""
    return (-rate + sqrt(rate * rate + 4 * rate / price)) / 2


def compute_visit_value(rate: float, days: float) -> float:
    """Return the price at which a page is visited after so many days; inverse of `compute_crawl_rate`."""
    return rate * days * days / (1 + rate * days)


def assess_page(history: VisitHistory, view: PolicyView) -> Assessment:
    rate = estimate_rate(history, view)
    due_at = history.last_visit + DAY / compute_crawl_rate(rate, view.price)
    return due_at, compute_visit_value(rate, max(view.now - history.last_visit, 0.0) / DAY), 0


def compute_base_price(interval: float, table: RateTable) -> float:  # noqa: ARG001 interface
    return compute_visit_value(0.5 * DAY / interval, interval / DAY)


POLICY = RevisitPolicy(
    "lambda-crawl",
    "optimal for harmonic staleness, by each page's own rate",
    update_history,
    assess_page,
    explain,
    compute_base_price,
)

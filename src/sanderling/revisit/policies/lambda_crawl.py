"""LambdaCrawl (Kolobov et al. 2019): optimal for harmonic staleness, which never gives a page up; own rates."""

from math import sqrt

from sanderling.revisit.model.change_rate import DAY, RateTable
from sanderling.revisit.policies.cho import estimate_rate, explain
from sanderling.revisit.policies.fixed import update_history
from sanderling.revisit.policies.policy import Assessment, PolicyView, RevisitPolicy
from sanderling.revisit.visit_history import VisitHistory


def compute_crawl_rate(rate: float, price: float) -> float:
    """Visits a day of a page that changes so often, at this price."""
    return (-rate + sqrt(rate * rate + 4 * rate / price)) / 2


def compute_visit_value(rate: float, days: float) -> float:
    """The price at which a page would be visited after just so many days: `crawl_rate` turned round."""
    return rate * days * days / (1 + rate * days)


def assess_page(history: VisitHistory, view: PolicyView) -> Assessment:
    """Due after the interval its visit rate asks for; worth the price a visit now would be made at."""
    rate = estimate_rate(history, view)
    due_at = history.last_visit + DAY / compute_crawl_rate(rate, view.price)
    return due_at, compute_visit_value(rate, max(view.now - history.last_visit, 0.0) / DAY), 0


def compute_base_price(interval: float, table: RateTable) -> float:  # noqa: ARG001  the seam of all policies
    """The price at which an unknown page is visited after the mean interval."""
    return compute_visit_value(0.5 * DAY / interval, interval / DAY)


POLICY = RevisitPolicy(
    "lambda-crawl",
    "optimal for harmonic staleness, by each page's own rate",
    update_history,
    assess_page,
    explain,
    compute_base_price,
)

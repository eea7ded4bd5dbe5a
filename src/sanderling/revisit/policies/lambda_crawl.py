"""LambdaCrawl (Kolobov et al. 2019): optimal for harmonic staleness, which never gives a page up; own rates."""

from math import sqrt

from sanderling.revisit.model.change_rate import DAY, Table
from sanderling.revisit.policies.cho import rate_of, why
from sanderling.revisit.policies.fixed import learn
from sanderling.revisit.policies.policy import Assessment, Policy, View
from sanderling.revisit.visit_history import History


def crawl_rate(rate: float, price: float) -> float:
    """Visits a day of a page that changes so often, at this price."""
    return (-rate + sqrt(rate * rate + 4 * rate / price)) / 2


def value(rate: float, days: float) -> float:
    """The price at which a page would be visited after just so many days: `crawl_rate` turned round."""
    return rate * days * days / (1 + rate * days)


def assess(history: History, view: View) -> Assessment:
    """Due after the interval its visit rate asks for; worth the price a visit now would be made at."""
    rate = rate_of(history, view)
    due_at = history.last + DAY / crawl_rate(rate, view.price)
    return due_at, value(rate, max(view.now - history.last, 0.0) / DAY), 0


def par(interval: float, table: Table) -> float:  # noqa: ARG001  the seam of all policies
    """The price at which an unknown page is visited after the mean interval."""
    return value(0.5 * DAY / interval, interval / DAY)


POLICY = Policy("lambda-crawl", "optimal for harmonic staleness, by each page's own rate", learn, assess, why, par)

"""A page's rate from its own looks alone, in constant space: what the classic learned policies use."""

from math import log

from sanderling.refresh.history import History
from sanderling.refresh.policy import View
from sanderling.refresh.rates import DAY

PATIENCE = 8.0  # mean intervals: a page given up by mistake is seen again after that


def rate_of(history: History, view: View) -> float:
    """Changes a day: the bias-reduced estimator of Cho and Garcia-Molina, -ln((n - X + 0.5) / (n + 0.5)) / I.

    I is the mean interval between the page's n visits; before the second one, that of all pages and half a change.
    """
    looks = history.visits - 1
    if looks <= 0 or history.last <= history.first:
        return 0.5 * DAY / view.interval
    days = (history.last - history.first) / looks / DAY
    quiet = (looks - history.changes + 0.5) / (looks + 0.5)
    return -log(quiet) / days if history.changes else 0.5 / (looks + 0.5) / days


def why(history: History, view: View) -> str:
    """The rate, and what it rests on."""
    every = 1 / rate_of(history, view)
    return f"changes about every {every:.3g} days ({history.changes} found in {history.visits} visits)"

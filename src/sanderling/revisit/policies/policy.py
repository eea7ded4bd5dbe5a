"""The interface of revisit policies: learn from a visit, and assess when a page is due at the current price.

The policies are listed in `policies/__init__.py`; `classic_policies.py` has short examples.
"""

import math
from collections.abc import Callable
from math import exp, log

from msgspec import Struct

from sanderling.revisit.change_timing import DirectoryActivity
from sanderling.revisit.intervals import DEFAULT_INTERVAL, CheckInterval, RevisitBudget
from sanderling.revisit.site_model import SiteModel
from sanderling.revisit.visit_history import DAY, Observation, VisitHistory

SCALE_MEMORY = 1000.0  # visits
PRICE_STEP = 4.0  # total price step per round of all pages
MAX_PRICE_STEP = 0.2  # per visit
MAX_LOG_RATIO = 1.0  # a factor of e per visit


class VisitPrice(Struct):
    """Price relative to the base price. Follows the value of the visits that the budget allows."""

    factor: float = 1.0

    def adjust(self, value: float, page_count: int) -> None:
        """Move the price after a visit of this value, relative to the price."""
        step = log(value) if value > 0 else -MAX_LOG_RATIO
        self.factor *= exp(
            min(PRICE_STEP / max(page_count, 1), MAX_PRICE_STEP) * min(max(step, -MAX_LOG_RATIO), MAX_LOG_RATIO)
        )


class ValueScale(Struct, array_like=True):
    """Mean values of pages at a random time, from the values at visits; values grow with the square of time."""

    days: float  # sums over visits
    active: float  # value times days
    plain: float
    cubed_days: float
    visits: float = 10.0

    def record_visit(self, days: float, active: float, plain: float) -> None:
        keep = 1 - 1 / min(max(self.visits, 10.0), SCALE_MEMORY)
        self.visits += 1
        self.days = keep * self.days + days
        self.active = keep * self.active + days * active
        self.plain = keep * self.plain + days * plain
        self.cubed_days = keep * self.cubed_days + days**3

    @property
    def means(self) -> tuple[float, float, float]:
        """Mean value of the models with and without activity, and mean square of the days since the last visit."""
        third = 1 / (3 * max(self.days, 1e-9))
        return max(self.active * third, 1e-12), max(self.plain * third, 1e-12), max(self.cubed_days * third, 1e-12)


class PolicyView(Struct):
    """Inputs of a policy apart from the history of the page."""

    now: float
    site: SiteModel
    activity: DirectoryActivity
    price: float  # of one visit: current price times cost, divided by importance
    mean_interval: float  # seconds between visits of a page within the budget
    page_id: int = 0
    interval: CheckInterval = DEFAULT_INTERVAL
    scale: ValueScale | None = None  # None: without a budget
    age_pull: float = 0.0  # weight of the days since the last visit, against starvation
    objective: str = "freshness"


Assessment = tuple[float, float]
"""Due time, and the value of a visit now in units of the price."""


class RevisitPolicy(Struct, frozen=True):
    """A rule that decides when a page is visited again."""

    name: str
    description: str  # one line, for --help
    update_history: Callable[[VisitHistory, Observation, PolicyView], VisitHistory]
    assess_page: Callable[[VisitHistory, PolicyView], Assessment]
    explain: Callable[[VisitHistory, PolicyView], str]
    compute_base_price: Callable[[float], float]  # price at which an unknown page is due after an interval


def format_days(days: float) -> str:
    minutes = days * 1440
    if minutes < 90:
        return "1 minute" if round(minutes) == 1 else f"{minutes:.0f} minutes"
    return f"{minutes / 60:.0f} hours" if minutes < 2880 else f"{days:.0f} days"


NAMED_PERIODS = ((1 / 24, "hourly"), (1.0, "daily"), (7.0, "weekly"), (30.0, "monthly"), (365.0, "yearly"))
PERIOD_TOLERANCE = 1.4
BOUND_TOLERANCE = 1.0  # seconds


def format_frequency(days: float) -> str:
    """Format a mean time between changes: `about hourly`, `about every 3 days`."""
    for period, name in NAMED_PERIODS:
        if period / PERIOD_TOLERANCE < days < period * PERIOD_TOLERANCE:
            return f"about {name}"
    return f"about every {format_days(days)}"


def describe_checks(history: VisitHistory) -> str:
    """Describe the visits after the first: `changed at 5 of 16 checks`."""
    checks = history.visits - 1
    if not checks:
        return "seen once, not checked again yet"
    if not history.changes:
        return f"no change at {checks} check{'s' * (checks > 1)}"
    return f"changed at {history.changes} of {checks} check{'s' * (checks > 1)}"


def describe_limit(
    interval: CheckInterval,
    budget: RevisitBudget | None,
    history: VisitHistory,
    due_at: float,
    wanted: RevisitBudget | None,
) -> str:
    """Describe the setting, bound or budget that decides when a page is due; "": its changes alone.

    `wanted` is the budget that would check the page as often as it changes, if it is not.
    """
    seconds = due_at - history.last_visit
    if interval.every:
        return f"set to every {format_days(interval.every / DAY)}"
    if history.announcement_count or not 0 < seconds < math.inf:
        return ""
    if abs(seconds - interval.shortest) < BOUND_TOLERANCE:
        return f"the shortest interval is {format_days(interval.shortest / DAY)} (--min-interval)"
    if budget is None:
        if abs(seconds - interval.longest) < BOUND_TOLERANCE:
            return f"the longest interval is {format_days(interval.longest / DAY)} (--max-interval)"
        return ""
    pace = f"the budget of {budget} allows a check about every {format_days(seconds / DAY)}"
    return f"{pace}, {wanted} would follow its changes" if wanted is not None else pace

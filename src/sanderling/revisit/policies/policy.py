"""The seam behind which all policies stand: learn from a look, say when a page is due at the price in force."""

from collections.abc import Callable

from msgspec import Struct

from sanderling.revisit.model.change_rate import RateTable
from sanderling.revisit.model.group_prior import UrlGroups
from sanderling.revisit.model.site_stats import SiteStats
from sanderling.revisit.visit_history import Observation, VisitHistory


class PolicyView(Struct):
    """What a policy may see beside the page's own history."""

    now: float
    site: SiteStats
    url_groups: UrlGroups
    price: float  # of one visit to this page: the price in force, times its cost, over its importance
    mean_interval: float  # mean seconds between visits of a page that the budget allows
    value_table: RateTable  # worth of a visit by time and rate (rates.value_table)
    due_slot: int = 0  # the note of the last assessment


Assessment = tuple[float, float, int]
"""When the page is due, what a visit now is worth in the coin of the price, and a note for the next assessment."""


class RevisitPolicy(Struct, frozen=True):
    """A way to decide when to come back."""

    name: str
    description: str  # in one line, for --help
    update_history: Callable[[VisitHistory, Observation, PolicyView], VisitHistory]
    assess_page: Callable[[VisitHistory, PolicyView], Assessment]
    explain: Callable[[VisitHistory, PolicyView], str]  # in a few words
    compute_base_price: Callable[
        [float, RateTable], float
    ]  # the price at which an unknown page is due after this interval

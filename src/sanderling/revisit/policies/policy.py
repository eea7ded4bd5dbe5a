"""The interface of revisit policies: learn from a visit, and assess when a page is due at the current price."""

from collections.abc import Callable

from msgspec import Struct

from sanderling.revisit.model.change_rate import RateTable
from sanderling.revisit.model.group_prior import UrlGroups
from sanderling.revisit.model.site_stats import SiteStats
from sanderling.revisit.visit_history import Observation, VisitHistory


class PolicyView(Struct):
    """Inputs of a policy apart from the history of the page."""

    now: float
    site: SiteStats
    url_groups: UrlGroups
    price: float  # of one visit: current price times cost, divided by importance
    mean_interval: float  # seconds between visits of a page within the budget
    value_table: RateTable  # see change_rate.get_value_table
    due_slot: int = 0  # from the last assessment, to start the next search


Assessment = tuple[float, float, int]
"""Due time, value of a visit now in units of the price, and the due slot for the next assessment."""


class RevisitPolicy(Struct, frozen=True):
    """A rule that decides when a page is visited again."""

    name: str
    description: str  # one line, for --help
    update_history: Callable[[VisitHistory, Observation, PolicyView], VisitHistory]
    assess_page: Callable[[VisitHistory, PolicyView], Assessment]
    explain: Callable[[VisitHistory, PolicyView], str]
    compute_base_price: Callable[[float, RateTable], float]  # price at which an unknown page is due after an interval

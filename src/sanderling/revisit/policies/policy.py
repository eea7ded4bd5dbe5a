"""The seam behind which all policies stand: learn from a look, say when a page is due at the price in force."""

from collections.abc import Callable

from msgspec import Struct

from sanderling.revisit.model.change_rate import Table
from sanderling.revisit.model.group_prior import Kin
from sanderling.revisit.model.site_stats import Site
from sanderling.revisit.visit_history import History, Look


class View(Struct):
    """What a policy may see beside the page's own history."""

    now: float
    site: Site
    kin: Kin
    price: float  # of one visit to this page: the price in force, times its cost, over its importance
    interval: float  # mean seconds between visits of a page that the budget allows
    table: Table  # worth of a visit by time and rate (rates.value_table)
    ripe: int = 0  # the note of the last assessment


Assessment = tuple[float, float, int]
"""When the page is due, what a visit now is worth in the coin of the price, and a note for the next assessment."""


class Policy(Struct, frozen=True):
    """A way to decide when to come back."""

    name: str
    tells: str  # in one line, for --help
    learn: Callable[[History, Look, View], History]
    assess: Callable[[History, View], Assessment]
    why: Callable[[History, View], str]  # in a few words
    par: Callable[[float, Table], float]  # the price at which an unknown page is due after this interval

"""The seam behind which all policies stand: learn from a look, say when a page is due at the price in force."""

from collections.abc import Callable

from msgspec import Struct

from .history import History, Look
from .kin import Kin
from .rates import Row
from .site import Site


class View(Struct):
    """What a policy may see beside the page's own history."""

    now: float
    site: Site
    kin: Kin
    price: float  # of one visit to this page: the price in force, times its cost, over its importance
    interval: float  # mean seconds between visits of a page that the budget allows
    table: list[Row]  # worth of a visit by time and rate (rates.value_table)
    ripe: int = 0  # in: where the last plan found the page ripe on the lattice of times; out: where this one does


class Policy(Struct, frozen=True):
    """A way to decide when to come back."""

    name: str
    tells: str  # in one line, for --help
    learn: Callable[[History, Look, View], History]
    due: Callable[[History, View], float]
    worth: Callable[[History, View], float]  # of a visit now, in the coin of the price
    par: Callable[[float, list[Row]], float]  # the price at which an unknown page is due after this interval

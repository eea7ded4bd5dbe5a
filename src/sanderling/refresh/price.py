"""The price of a visit, steered so that visits made within the budget are worth just what they cost."""

from math import exp, log

from msgspec import Struct

PACE = 4.0  # how far the price follows what visits were worth, in one round of all pages
QUICKEST = 0.2  # and at one visit
WIDEST = 1.0  # bound on what one visit says: a factor e


class Price(Struct):
    """A price in terms of par: it follows the worth of the visits that the budget lets happen."""

    base: float = 1.0

    def steer(self, worth: float, pages: int) -> None:
        """Learn that a visit was made that was worth so much, in terms of the price."""
        step = log(worth) if worth > 0 else -WIDEST
        self.base *= exp(min(PACE / max(pages, 1), QUICKEST) * min(max(step, -WIDEST), WIDEST))

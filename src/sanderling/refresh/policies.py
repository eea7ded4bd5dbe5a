"""Every refresh policy by its name."""

from collections.abc import Callable

from sanderling.refresh.adaptive import Learned
from sanderling.refresh.plans import (
    Each,
    Policy,
    by_fixed_interval,
    by_sitemap,
    like_heritrix,
    like_nutch,
    self_adjusted,
)

POLICIES: dict[str, Callable[[], Policy]] = {
    "learned": Learned,
    "fixed": lambda: Each(by_fixed_interval),
    "sitemap": lambda: Each(by_sitemap),
    "self-adjusting": lambda: Each(self_adjusted),
    "nutch": lambda: Each(like_nutch),
    "heritrix": lambda: Each(like_heritrix),
}

"""How deep to go: a fixed number of levels, the Poisson cut-off of GPC-2, or a true Poisson sample."""

import math
from random import Random

from sanderling.errors import UsageError

CAP = 35  # GPC: x runs from 0 to 35, and so does lambda
PLACES = 2  # GPC: probabilities are rounded to two decimals

FORMS = (
    "a number of levels such as 3, poisson:10 (the cut-off of GPC) or sample:10 (drawn per seed), or -1 for no limit"
)


def probability(mean: float, x: int) -> float:
    """Give the Poisson probability of x events."""
    if mean == 0:
        return float(x == 0)
    return math.exp(-mean + x * math.log(mean) - math.lgamma(x + 1))


def poisson_depth(mean: float, places: int = PLACES, cap: int = CAP) -> int:
    """Find the first depth beyond the mean whose probability rounds to nothing: 19 for 10, 25 for 15, 32 for 20."""
    beyond = range(int(mean) + 1, cap + 1)
    return next((x for x in beyond if round(probability(mean, x), places) == 0), cap)


def sampled_depth(mean: float, draw: Random, cap: int = CAP) -> int:
    """Draw a depth from the Poisson distribution itself, by adding up probabilities until they pass a random point."""
    point, total = draw.random(), 0.0
    for x in range(cap):
        total += probability(mean, x)
        if point < total:
            return x
    return cap


def is_sampled(text: str) -> bool:
    """Is a depth to be drawn for each seed?"""
    return text.strip().lower().startswith("sample:")


def read_depth(text: str, draw: Random) -> int | None:
    """Read `--depth`: a number, `poisson:MEAN`, `sample:MEAN`, or `-1` for no limit (returned as None)."""
    kind, _, value = text.strip().lower().rpartition(":")
    if not kind and value in ("-1", "none"):
        return None
    if not kind and value.isascii() and value.isdigit():
        return int(value)
    if kind in ("poisson", "sample"):
        mean = _mean(value, text)
        return poisson_depth(mean) if kind == "poisson" else sampled_depth(mean, draw)
    raise UsageError(f"{text!r} is no depth: give {FORMS}")


def _mean(value: str, text: str) -> float:
    try:
        mean = float(value)
    except ValueError:
        raise UsageError(f"{text!r} is no depth: give {FORMS}") from None
    if not 0 <= mean <= CAP:
        raise UsageError(f"the mean of a Poisson depth lies between 0 and {CAP}, not {value}: give {FORMS}")
    return mean

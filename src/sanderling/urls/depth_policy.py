"""Depth limits: fixed, Poisson cut-off (GPC-2), or Poisson sample."""

import math
from random import Random

from sanderling.errors import UsageError

MAX_DEPTH = 35  # GPC: range of x and of lambda
DECIMALS = 2  # GPC: rounding of probabilities

DEPTH_FORMS = (
    "a number of levels such as 3, poisson:10 (the cut-off of GPC), sample:10 (drawn per seed), or -1 for no limit"
)


def compute_poisson_probability(mean: float, x: int) -> float:
    if mean == 0:
        return float(x == 0)
    return math.exp(-mean + x * math.log(mean) - math.lgamma(x + 1))


def compute_poisson_depth(mean: float, decimals: int = DECIMALS, max_depth: int = MAX_DEPTH) -> int:
    """Return the first depth above the mean whose probability rounds to 0 (mean 10: 19)."""
    depths = range(int(mean) + 1, max_depth + 1)
    return next((x for x in depths if round(compute_poisson_probability(mean, x), decimals) == 0), max_depth)


def draw_poisson_depth(mean: float, rng: Random, max_depth: int = MAX_DEPTH) -> int:
    """Draw a depth by inverse transform sampling."""
    point, total = rng.random(), 0.0
    for x in range(max_depth):
        total += compute_poisson_probability(mean, x)
        if point < total:
            return x
    return max_depth


def is_sampled_depth(text: str) -> bool:
    """Return whether a depth is drawn for each seed."""
    return text.strip().lower().startswith("sample:")


def parse_depth(text: str, rng: Random) -> int | None:
    """Parse a number, `poisson:MEAN`, `sample:MEAN` or `-1`. None: no limit."""
    kind, _, value = text.strip().lower().rpartition(":")
    if not kind and value in ("-1", "none"):
        return None
    if not kind and value.isascii() and value.isdigit():
        return int(value)
    if kind in ("poisson", "sample"):
        mean = _parse_mean(value, text)
        return compute_poisson_depth(mean) if kind == "poisson" else draw_poisson_depth(mean, rng)
    raise UsageError(f"{text!r} is not a valid depth: give {DEPTH_FORMS}")


def _parse_mean(value: str, text: str) -> float:
    try:
        mean = float(value)
    except ValueError:
        raise UsageError(f"{text!r} is not a valid depth: give {DEPTH_FORMS}") from None
    if not 0 <= mean <= MAX_DEPTH:
        raise UsageError(
            f"the mean of a Poisson depth must be between 0 and {MAX_DEPTH}, not {value}: give {DEPTH_FORMS}"
        )
    return mean

"""How deep to go: a fixed number of levels, the Poisson cut-off of GPC-2, or a true Poisson sample."""

import math
from random import Random

from sanderling.errors import UsageError

MAX_DEPTH = 35  # GPC: x runs from 0 to 35, and so does lambda
DECIMALS = 2  # GPC: probabilities are rounded to two decimals

DEPTH_FORMS = (
    "a number of levels such as 3, poisson:10 (the cut-off of GPC) or sample:10 (drawn per seed), or -1 for no limit"
)


def compute_poisson_probability(mean: float, x: int) -> float:
    """Give the Poisson probability of x events."""
    if mean == 0:
        return float(x == 0)
    return math.exp(-mean + x * math.log(mean) - math.lgamma(x + 1))


def compute_poisson_depth(mean: float, decimals: int = DECIMALS, max_depth: int = MAX_DEPTH) -> int:
    """Find the first depth beyond the mean whose probability rounds to nothing: 19 for 10, 25 for 15, 32 for 20."""
    beyond = range(int(mean) + 1, max_depth + 1)
    return next((x for x in beyond if round(compute_poisson_probability(mean, x), decimals) == 0), max_depth)


def draw_poisson_depth(mean: float, rng: Random, max_depth: int = MAX_DEPTH) -> int:
    """Draw a depth from the Poisson distribution itself, by adding up probabilities until they pass a random point."""
    point, total = rng.random(), 0.0
    for x in range(max_depth):
        total += compute_poisson_probability(mean, x)
        if point < total:
            return x
    return max_depth


def is_sampled_depth(text: str) -> bool:
    """Is a depth to be drawn for each seed?"""
    return text.strip().lower().startswith("sample:")


def parse_depth(text: str, rng: Random) -> int | None:
    """Read `--depth`: a number, `poisson:MEAN`, `sample:MEAN`, or `-1` for no limit (returned as None)."""
    kind, _, value = text.strip().lower().rpartition(":")
    if not kind and value in ("-1", "none"):
        return None
    if not kind and value.isascii() and value.isdigit():
        return int(value)
    if kind in ("poisson", "sample"):
        mean = _parse_mean(value, text)
        return compute_poisson_depth(mean) if kind == "poisson" else draw_poisson_depth(mean, rng)
    raise UsageError(f"{text!r} is no depth: give {DEPTH_FORMS}")


def _parse_mean(value: str, text: str) -> float:
    try:
        mean = float(value)
    except ValueError:
        raise UsageError(f"{text!r} is no depth: give {DEPTH_FORMS}") from None
    if not 0 <= mean <= MAX_DEPTH:
        raise UsageError(f"the mean of a Poisson depth lies between 0 and {MAX_DEPTH}, not {value}: give {DEPTH_FORMS}")
    return mean

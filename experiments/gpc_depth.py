"""GPC Table 3: how deep a crawl goes by the Poisson cut-off."""

from experiments.frame import Figure, Series, Table, exact
from sanderling.urls.depth_policy import compute_poisson_depth, compute_poisson_probability

TITLE = "GPC Table 3: depth by the Poisson cut-off"

DEPTHS = {10: ("19", 19), 15: ("25 (text: 24)", 25), 20: ("32", 32)}
PROBABILITIES = {
    (10, 3): 0.01,
    (10, 18): 0.01,
    (10, 19): 0.0,
    (15, 7): 0.01,
    (15, 24): 0.01,
    (15, 25): 0.0,
    (20, 31): 0.01,
}


def table() -> Table:
    """Find the cut-offs."""
    rows = [
        exact(f"depth for a mean of {mean}", printed, right, compute_poisson_depth(mean))
        for mean, (printed, right) in DEPTHS.items()
    ]
    rows += [
        exact(f"P({x}) for a mean of {mean}, rounded", value, value, round(compute_poisson_probability(mean, x), 2))
        for (mean, x), value in PROBABILITIES.items()
    ]
    curves = tuple(
        Series(f"mean {mean}", tuple(compute_poisson_probability(mean, x) for x in range(36))) for mean in DEPTHS
    )
    figure = Figure("Poisson probability of a depth", tuple(float(x) for x in range(36)), curves, "P(x)")
    return Table(TITLE, tuple(rows), "Algorithm 2 as printed returns 2: it finds the left tail (E45).", figure)

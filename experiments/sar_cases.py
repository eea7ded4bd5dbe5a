"""SAR section IV: the three worked cases of the self adjusting refresh time."""

from experiments.frame import Figure, Series, Table, exact
from sanderling.revisit.policies.classic_policies import compute_refresh_time

TITLE = "SAR cases 1-3: the refresh time adjusts itself"


def table() -> Table:
    """Work the cases."""
    second = compute_refresh_time(100, 0.85)
    rows = (
        exact("case 1: 100 units, share of changes .60", 100, 100, compute_refresh_time(100, 0.60)),
        exact("case 2: 100 units, share .85", 78.58, 78.571429, second, 5e-7),
        exact("case 3: from the printed 78.58, share .25", 91.67, 91.676667, compute_refresh_time(78.58, 0.25), 5e-7),
        exact("case 3: from the exact value of case 2", 91.67, 91.666667, compute_refresh_time(second, 0.25), 5e-7),
        exact(
            "guard: share 1, thresholds .1 and .4 (bare formula: -50)",
            None,
            1,
            compute_refresh_time(100, 1.0, 0.1, 0.4, floor=1),
        ),
        exact("no change at all doubles the time", None, 200, compute_refresh_time(100, 0.0)),
    )
    shares = tuple(number / 20 for number in range(21))
    curve = Series("next refresh time from 100", tuple(compute_refresh_time(100, share) for share in shares))
    figure = Figure("Refresh time by share of changes", shares, (curve,), "units")
    return Table(
        TITLE, rows, "Case 2 was truncated, not rounded (E27); case 3 is right for the exact chain (E28).", figure
    )

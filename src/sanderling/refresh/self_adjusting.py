"""Self adjusting refresh time (SAR-1..6): come sooner where most visits find a change, later where few do."""

LOWER = 0.3  # SAR, p_l of the worked cases (the paper's sentence swaps the two names)
UPPER = 0.7  # SAR, p_g of the worked cases
WINDOW = 10  # visits that the share of changes is taken over: the paper's "6 of 10"; so a page can recover


def refresh_time(
    time: float,
    share: float,
    lower: float = LOWER,
    upper: float = UPPER,
    floor: float = 0.0,
    ceiling: float = float("inf"),
) -> float:
    """The next refresh time from the one in force and the share of visits that found a change.

    The bare formula falls below zero when share >= 2 * upper, and doubles for ever when nothing changes: the clamp.
    """
    if not 0 < lower < upper <= 1:
        raise ValueError(f"thresholds must satisfy 0 < lower < upper <= 1, not {lower} and {upper}")
    step = 0.0
    if share > upper:
        step = 1 - share / upper
    elif share < lower:
        step = 1 - share / lower
    return min(ceiling, max(floor, time + step * time))

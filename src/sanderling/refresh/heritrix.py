"""The adaptive revisit rule of Heritrix (WaitEvaluator): divide the wait after a change, multiply it without one."""

FACTOR = 1.5
FIRST = 86_400.0  # of text; images wait two days
SHORTEST = 3600.0
LONGEST = 28 * 86_400.0


def next_wait(wait: float, changed: bool) -> float:
    """The next wait in seconds."""
    return min(max(wait / FACTOR if changed else wait * FACTOR, SHORTEST), LONGEST)

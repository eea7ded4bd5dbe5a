"""Every page at the same interval, oldest visit first: round robin, and hard to beat at equal cost."""

WEEK = 604_800.0


def next_visit(last: float, interval: float = WEEK) -> float:
    """When to come again."""
    return last + interval

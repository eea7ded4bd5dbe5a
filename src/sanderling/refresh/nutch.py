"""The adaptive fetch schedule of Apache Nutch: the interval shrinks after a change and grows without one."""

INCREASE = 0.4  # nutch-default.xml: db.fetch.schedule.adaptive.inc_rate
DECREASE = 0.2  # nutch-default.xml: db.fetch.schedule.adaptive.dec_rate
SYNC_RATE = 0.3  # nutch-default.xml: db.fetch.schedule.adaptive.sync_delta_rate
SHORTEST = 60.0
LONGEST = 365 * 86_400.0


def next_interval(interval: float, changed: bool, quiet: float, sync: bool = True) -> tuple[float, float]:
    """The next interval, and how long before it is over to come; `quiet` is the time since the page was modified."""
    interval *= 1 - DECREASE if changed else 1 + INCREASE
    early = 0.0
    if sync:
        interval = max(interval, quiet)
        early = SYNC_RATE * quiet
    return min(max(interval, SHORTEST), LONGEST), early

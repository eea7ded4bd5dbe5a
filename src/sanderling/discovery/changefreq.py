"""Classes of change frequency (MIG-3): always, hourly ... never; the period of each, and the class of an interval."""

from itertools import pairwise
from math import inf, sqrt

CHANGEFREQS = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")
PERIOD_SECONDS = dict(
    zip(CHANGEFREQS, (0.0, 3600.0, 86400.0, 604800.0, 2592000.0, 31536000.0, inf), strict=True)
)  # SPEC 6.3
DEFAULT_CHANGEFREQ = "weekly"  # SPEC 3.2: for pages whose class nobody knows

ALWAYS_BELOW = 1800.0  # changes twice an hour: at every look, it is another page
NEVER_ABOVE = 2 * PERIOD_SECONDS["yearly"]


def get_period(name: str) -> float:
    """Give the seconds between two visits of a class: 0 for always, infinite for never (one visit)."""
    return PERIOD_SECONDS[name]


def classify_interval(interval_seconds: float) -> str:
    """Name the class of an observed mean interval between changes: the nearest period, by ratio."""
    if interval_seconds < ALWAYS_BELOW:
        return "always"
    if interval_seconds > NEVER_ABOVE:
        return "never"
    named = CHANGEFREQS[1:-1]
    for name, longer in pairwise(named):
        if interval_seconds <= sqrt(PERIOD_SECONDS[name] * PERIOD_SECONDS[longer]):
            return name
    return named[-1]


def parse_changefreq(text: str) -> str:
    """Read a class as written in a sitemap; nothing if it is none."""
    name = text.strip().lower()
    return name if name in PERIOD_SECONDS else ""

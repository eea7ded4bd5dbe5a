"""Change frequencies of the sitemap protocol and their periods (MIG)."""

from itertools import pairwise
from math import inf, sqrt

CHANGEFREQS = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")
PERIOD_SECONDS = dict(zip(CHANGEFREQS, (0.0, 3600.0, 86400.0, 604800.0, 2592000.0, 31536000.0, inf), strict=True))
DEFAULT_CHANGEFREQ = "weekly"  # for pages of unknown change frequency

ALWAYS_BELOW = 1800.0  # seconds; changes twice an hour or more often
NEVER_ABOVE = 2 * PERIOD_SECONDS["yearly"]


def classify_interval(interval_seconds: float) -> str:
    """Return the change frequency with the nearest period, by ratio."""
    if interval_seconds < ALWAYS_BELOW:
        return "always"
    if interval_seconds > NEVER_ABOVE:
        return "never"
    names = CHANGEFREQS[1:-1]
    for name, longer in pairwise(names):
        if interval_seconds <= sqrt(PERIOD_SECONDS[name] * PERIOD_SECONDS[longer]):
            return name
    return names[-1]


def parse_changefreq(text: str) -> str:
    name = text.strip().lower()
    return name if name in PERIOD_SECONDS else ""

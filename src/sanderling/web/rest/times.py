"""Times of the HTTP API."""

from datetime import UTC, datetime

MAX_TIMESTAMP = 1e11


def to_time(seconds: float) -> datetime | None:
    """Convert a timestamp to UTC; None for 0 (unknown) and times that are no dates."""
    return datetime.fromtimestamp(seconds, UTC) if 0 < seconds < MAX_TIMESTAMP else None

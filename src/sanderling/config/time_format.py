"""Parse and format times."""

from datetime import UTC, datetime

from sanderling.config.loader import parse_duration
from sanderling.errors import UsageError


def format_iso(at: float) -> str | None:
    """Format a time as ISO 8601 in UTC; None for 0."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds") if at else None


def format_short(at: float) -> str:
    """Format a time for tables, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S") if at else "never"


def shorten_iso(iso_time: str | None) -> str:
    return format_short(datetime.fromisoformat(iso_time).timestamp()) if iso_time else format_short(0.0)


def parse_time(text: str, now: float) -> float:
    """Parse `2026-11-15`, `2026-11-15T08:00:00Z`, or `7d` (ago) as a timestamp."""
    try:
        return now - parse_duration(text)
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is no time; write 2026-11-15, 2026-11-15T08:00:00Z, or 7d for seven days ago"
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def parse_time_inclusive(text: str, now: float) -> float:
    """Parse a time and return the end of that second or day."""
    at = parse_time(text, now)
    return at + (1e-6 if "." in text else 1.0 - 1e-6) if ":" in text else at

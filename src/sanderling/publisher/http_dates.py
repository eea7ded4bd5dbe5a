"""Parse the time formats that crawlers send, and format W3C datetimes, in milliseconds."""

import re
from datetime import UTC, datetime
from email.utils import formatdate, parsedate_to_datetime

UNIX_SECONDS_PATTERN = re.compile(r"\d{1,15}(\.\d{1,9})?", re.ASCII)
LOST_PLUS_PATTERN = re.compile(r"(?<=\d) (?=\d\d:?\d\d$)")  # "+01:00" in a query string is decoded as " 01:00"
MAX_MILLIS = 253402300799000  # the last second of the year 9999


def parse_time(text: str) -> int | None:
    """Return None for invalid times."""
    text = text.strip()
    if UNIX_SECONDS_PATTERN.fullmatch(text):
        millis = int(float(text) * 1000)
        return millis if millis <= MAX_MILLIS else None
    parsed = _parse_iso_date(text) or _parse_http_date(text)
    if parsed is None:
        return None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    millis = int(parsed.timestamp() * 1000)
    return millis if millis >= 0 else None


def _parse_iso_date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(LOST_PLUS_PATTERN.sub("+", text) if "T" in text else text)
    except ValueError:
        return None


def _parse_http_date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def format_w3c(millis: int) -> str:
    """Format in whole seconds, for sitemap parsers."""
    return datetime.fromtimestamp(millis // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_w3c_millis(millis: int) -> str:
    """Format with milliseconds, because crawlers send this time back as LAST_VISIT."""
    return f"{format_w3c(millis)[:-1]}.{millis % 1000:03}Z"


def format_http_date(millis: int) -> str:
    return formatdate(millis // 1000, usegmt=True)

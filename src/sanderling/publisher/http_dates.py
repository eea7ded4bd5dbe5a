"""Times on the wire: read in the three forms a crawler may send, written as W3C datetimes. Milliseconds inside."""

import re
from datetime import UTC, datetime
from email.utils import formatdate, parsedate_to_datetime

UNIX_SECONDS_PATTERN = re.compile(r"\d{1,15}(\.\d{1,9})?", re.ASCII)
LOST_PLUS_PATTERN = re.compile(r"(?<=\d) (?=\d\d:?\d\d$)")  # "+01:00" in a query string arrives as " 01:00"
MAX_MILLIS = 253402300799000  # the last second of the year 9999


def parse_time(text: str) -> int | None:
    """Read ISO 8601, an HTTP date or unix seconds as milliseconds; None if it is no time."""
    text = text.strip()
    if UNIX_SECONDS_PATTERN.fullmatch(text):
        millis = int(float(text) * 1000)
        return millis if millis <= MAX_MILLIS else None
    moment = _parse_iso_date(text) or _parse_http_date(text)
    if moment is None:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    millis = int(moment.timestamp() * 1000)
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
    """Write whole seconds, as every sitemap parser reads them."""
    return datetime.fromtimestamp(millis // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_w3c_millis(millis: int) -> str:
    """Write milliseconds too: what a crawler sends back as LAST_VISIT must not lose any."""
    return f"{format_w3c(millis)[:-1]}.{millis % 1000:03}Z"


def format_http_date(millis: int) -> str:
    """Write a date for an HTTP header."""
    return formatdate(millis // 1000, usegmt=True)

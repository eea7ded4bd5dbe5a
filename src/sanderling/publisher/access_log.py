"""Parse access logs in the common and combined formats."""

import re
from datetime import datetime
from typing import NamedTuple

LINE_PATTERN = re.compile(
    rb"(?P<host>\S{1,255}) \S+ (?P<user>.{1,255}?) \[(?P<at>[^\]]{20,40})\] "
    rb'"(?P<method>[A-Z]{1,16}) (?P<target>[^ "]{1,8000})(?: HTTP/[\d.]+)?" (?P<status>\d{3}) (?:\d+|-)'
    rb'(?: "(?:[^"\\]|\\.)*" "(?P<agent>(?:[^"\\]|\\.)*)")?'
)
MAX_LINE_BYTES = 65_536  # longer lines are malformed


class AccessLogEntry(NamedTuple):
    client_address: str
    user: str  # empty: not logged in
    requested_at: int
    method: str
    target: str
    status: int
    user_agent: str | None  # None: not logged (common format)


def parse_log_line(raw: bytes) -> AccessLogEntry | None:
    """Return None for malformed lines."""
    match = LINE_PATTERN.match(raw) if len(raw) <= MAX_LINE_BYTES else None
    if match is None:
        return None
    at = _parse_log_time(match["at"])
    if at is None:
        return None
    host, user, method, target, agent = (
        _decode_text(match[name]) for name in ("host", "user", "method", "target", "agent")
    )
    user_name = "" if user in (None, "-") else user
    return AccessLogEntry(host or "", user_name or "", at, method or "", target or "", int(match["status"]), agent)


def _decode_text(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("latin-1")


_minute_cache: dict[bytes, int] = {}


def _parse_log_time(raw: bytes) -> int | None:
    """Parse `10/Oct/2000:13:55:36 -0700`. Minutes are cached, because lines are in order."""
    key = raw[:17] + raw[20:]
    start = _minute_cache.get(key)
    if start is None:
        try:
            moment = datetime.strptime(f"{raw[:17].decode()}:00 {raw[21:26].decode()}", "%d/%b/%Y:%H:%M:%S %z")
            start = int(moment.timestamp()) * 1000
        except (ValueError, UnicodeDecodeError, OverflowError):
            return None
        if len(_minute_cache) > 1000:
            _minute_cache.clear()
        _minute_cache[key] = start
    seconds = raw[18:20]
    return start + int(seconds) * 1000 if seconds.isdigit() else None

"""Lines of an access log, in the common and combined formats of Apache and nginx."""

import re
from datetime import datetime
from typing import NamedTuple

LINE = re.compile(
    rb"(?P<host>\S{1,255}) \S+ (?P<user>.{1,255}?) \[(?P<at>[^\]]{20,40})\] "
    rb'"(?P<method>[A-Z]{1,16}) (?P<target>[^ "]{1,8000})(?: HTTP/[\d.]+)?" (?P<status>\d{3}) (?:\d+|-)'
    rb'(?: "(?:[^"\\]|\\.)*" "(?P<agent>(?:[^"\\]|\\.)*)")?'
)
LONGEST = 65_536  # bytes of a line; longer ones are not ours


class Line(NamedTuple):
    """One request, as the log tells it."""

    host: str
    user: str  # empty if nobody was logged in
    at: int
    method: str
    target: str
    status: int
    agent: str | None  # None: the format does not say


def read_line(raw: bytes) -> Line | None:
    """Read one line; None if it is malformed."""
    match = LINE.match(raw) if len(raw) <= LONGEST else None
    if match is None:
        return None
    at = _time(match["at"])
    if at is None:
        return None
    host, user, method, target, agent = (_text(match[name]) for name in ("host", "user", "method", "target", "agent"))
    named = "" if user in (None, "-") else user
    return Line(host or "", named or "", at, method or "", target or "", int(match["status"]), agent)


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("latin-1")


_minutes: dict[bytes, int] = {}


def _time(raw: bytes) -> int | None:
    """Read `10/Oct/2000:13:55:36 -0700`; the part down to the minute is remembered, as lines come in order."""
    key = raw[:17] + raw[20:]
    start = _minutes.get(key)
    if start is None:
        try:
            moment = datetime.strptime(f"{raw[:17].decode()}:00 {raw[21:26].decode()}", "%d/%b/%Y:%H:%M:%S %z")
            start = int(moment.timestamp()) * 1000
        except (ValueError, UnicodeDecodeError, OverflowError):
            return None
        if len(_minutes) > 1000:
            _minutes.clear()
        _minutes[key] = start
    seconds = raw[18:20]
    return start + int(seconds) * 1000 if seconds.isdigit() else None

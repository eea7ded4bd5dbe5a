"""Addresses of replayed pages: `/web/20261119080000/https://example.org/`, as in other replay tools."""

import calendar
import re
import time
from urllib.parse import quote, urljoin

from msgspec import Struct

from sanderling.warc.cdxj import format_timestamp

SAFE_CHARACTERS = "%/:?#[]@!$&'()*+,;=~-._|"
MATCH_TARGET = re.compile(r"/web/(?:(\d{4,16})([a-z]{2}_)?/)?((?:https?:/{1,2}|//)?[^/\s][^\s]*)").fullmatch
LATEST = 2**40  # a time after all captures


class ReplayTarget(Struct, frozen=True):
    """Parts of an address. `timestamp`: empty for a time gate."""

    url: str
    timestamp: str = ""
    modifier: str = ""  # `id_`: the body as it is stored; `fr_`: a frame; others: a page requisite
    number: int = 1  # of the capture among those of one second

    @property
    def at(self) -> float:
        """The requested time; missing digits mean the end of that day, month, or year."""
        return parse_timestamp(self.timestamp) if self.timestamp else float(LATEST)


def parse_target(path: str) -> ReplayTarget | None:
    """Parse a path with its query; None: it is no address of a page."""
    match = MATCH_TARGET(path)
    if match is None:
        return None
    url = re.sub(r"^(https?):/+", r"\1://", match[3])  # proxies merge slashes
    url = url if url.startswith(("http://", "https://")) else f"http://{url.lstrip('/')}"
    digits = match[1] or ""
    return ReplayTarget(url, digits[:14], match[2] or "", int(digits[14:] or 1))


def parse_timestamp(digits: str) -> float:
    """Parse 4 to 14 digits as a time in UTC; invalid dates are the time of their valid part."""
    limits = ((1, 9999), (1, 12), (1, 31), (0, 23), (0, 59), (0, 59))
    parts = [digits[:4], *(digits[start : start + 2] for start in range(4, 14, 2))]
    values = [min(max(int(part), low), high) if part else high for part, (low, high) in zip(parts, limits, strict=True)]
    values[2] = min(values[2], calendar.monthrange(max(values[0], 1), values[1])[1])
    return float(calendar.timegm((*values, 0, 1, 0)))


def build_replay_path(url: str, at: float, modifier: str = "", number: int = 1) -> str:
    suffix = f"{number:02d}" if number > 1 else ""
    return f"/web/{format_timestamp(at)}{suffix}{modifier}/{quote(url, safe=SAFE_CHARACTERS)}"


def join_url(base: str, value: str) -> str:
    """Join URLs; empty if invalid or not of the web."""
    try:
        joined = urljoin(base, value.strip())
    except ValueError:
        return ""
    return joined if joined.startswith(("http://", "https://")) else ""


def format_http_date(at: float) -> str:
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(at))

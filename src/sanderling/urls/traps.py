"""URLs that look like a trap: places that make new URLs for ever. A note says which rule fired.

The rules are made not to fire on real trees. What they cannot tell from a large site, budget.py bounds.
"""

import re
import time
from collections import Counter
from functools import lru_cache

from sanderling.urls.normalize import get_hostname, split_url

MAX_SEGMENTS = 20  # Heritrix, TooManyPathSegmentsDecideRule
MAX_REPEATS = 3  # Heritrix and BUbiNG say 2, but name/name/tree/main/name is an honest path
MAX_SHORT_REPEATS = 4  # for numbers and for one or two letters: dates, map tiles and buckets repeat honestly
SESSION_ID = "session id"  # how the note of a session trap begins; the URL without it is worth a visit
MAX_MONTHS_AHEAD = 24  # further ahead no calendar has anything to say
FIRST_YEAR = 1900  # before it a calendar program has nothing to say; an archive's path may

_SHORT_SEGMENT = re.compile(r"\d*|..?").fullmatch
_HOST_NAME = re.compile(r"www\.(?:[a-z0-9\-]+\.)+[a-z]{2,}|https?:", re.IGNORECASE).fullmatch
_SESSION_IN_PATH = re.compile(r";jsessionid=[^/?;]*|/\([A-Z]\([a-z0-9]{24}\)\)", re.IGNORECASE)
_SESSION_IN_QUERY = re.compile(
    r"(?:(?:php|j|php_|asp\.net_|asp)?sess(?:ion)?_?id\w*|oscsid|zenid|xtcsid|cftoken)=[\w,\-]{16,}|s(?:id)?=[0-9a-f]{32}",
    re.IGNORECASE,
).fullmatch
# A number like 3000 is no year: a calendar that is refused beyond the next two years never gets there.
_DATE_IN_PATH = re.compile(r"/(2[01]\d\d)[/-](0[1-9]|1[0-2]|[1-9](?=[/-]\d))(?![\dA-Za-z])").search
_YEAR_PARAMETER = re.compile(r"(?:^|&)(?:y|yr|year|cal_?year|tribe-bar-year)=(\d{1,5})(?=&|$)", re.IGNORECASE).search
_MONTH_PARAMETER = re.compile(r"(?:^|&)(?:m|mo|month|cal_?month)=(\d{1,2})(?=&|$)", re.IGNORECASE).search
_DATE_PARAMETER = re.compile(
    r"(?:^|&)(?:date|day|month|start|end|from|to|cal\w*|tribe-bar-date|eventdate)=(\d{4})-?(\d{2})(?=\D|\d\d(?:\D|$)|$)",
    re.IGNORECASE,
).search


def find_trap(url: str, now: float) -> str:
    """Say what makes a spelled URL look like a trap; nothing if nothing does."""
    host, rest = split_url(url)
    path, _, query = rest.partition("?")
    return (
        _find_session_id(path, query)
        or (_find_segment_trap(get_hostname(host), path) if path.count("/") > 2 else "")
        or (_find_far_date(path, query, _compute_month(int(now // 86400))) if query or "/2" in path else "")
    )


def strip_session_id(url: str) -> str:
    """Give the URL a session id was put into; the same URL if there is none."""
    host, rest = split_url(url)
    path, mark, query = rest.partition("?")
    path = _SESSION_IN_PATH.sub("", path)
    kept = "&".join(pair for pair in query.split("&") if not _SESSION_IN_QUERY(pair))
    return host + (path or "/") + (mark + kept if kept or not query else "")


def _find_session_id(path: str, query: str) -> str:
    if (";" in path or "/(" in path) and _SESSION_IN_PATH.search(path):
        return f"{SESSION_ID} in the path"
    if "=" in query and any(_SESSION_IN_QUERY(pair) for pair in query.split("&")):
        return f"{SESSION_ID} in the query"
    return ""


def _find_segment_trap(hostname: str, path: str) -> str:
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > MAX_SEGMENTS:
        return f"{len(segments)} path segments"
    again = len(set(segments)) < len(segments)
    return (again and (_find_repeated_segment(segments) or _find_repeated_run(segments))) or _find_embedded_host(
        hostname, segments
    )


def _find_repeated_segment(segments: list[str]) -> str:
    for segment, times in Counter(segments).items():
        short = _SHORT_SEGMENT(segment)
        many = times > (MAX_SHORT_REPEATS if short else MAX_REPEATS)
        if many or (times == 3 and not short and _is_evenly_spaced(segments, segment)):
            return f"path segment {segment[:40]!r} {times} times"
    return ""


def _is_evenly_spaced(segments: list[str], segment: str) -> bool:
    """Tell whether three occurrences stand at equal distances: x/x/x or x/a/x/b/x, the mark of a loop."""
    first, second, third = (at for at, other in enumerate(segments) if other == segment)
    return second - first == third - second


def _find_repeated_run(segments: list[str]) -> str:
    """Find two or more segments that come again at once: /en/docs/en/docs/."""
    for length in range(2, len(segments) // 2 + 1):
        for at in range(len(segments) - 2 * length + 1):
            run = segments[at : at + length]
            if run == segments[at + length : at + 2 * length] and not all(_SHORT_SEGMENT(segment) for segment in run):
                return f"path segments {'/'.join(run)[:60]!r} repeated"
    return ""


def _find_embedded_host(hostname: str, segments: list[str]) -> str:
    """Find links that forgot their scheme: the site's own name in a path, or two names of any site.

    One foreign name is honest (reviews/www.example.com), and so is sites/OWN/files.
    """
    if hostname in segments and "." in hostname and segments[segments.index(hostname) - 1] != "sites":
        return "the host's own name in the path"
    names = sum(1 for segment in segments if segment[:1] in "wWhH" and _HOST_NAME(segment))
    return "host names in the path" if names > 1 else ""


def _find_far_date(path: str, query: str, this_month: int) -> str:
    year, month, first = 0, 1, 0
    if found := query and _DATE_PARAMETER(query):
        year, month, first = int(found[1]), int(found[2]), FIRST_YEAR
    elif found := query and _YEAR_PARAMETER(query):
        other = _MONTH_PARAMETER(query)
        if other is None and "cal" not in path.lower():
            return ""  # a year alone is a filter, not a calendar
        year, month, first = int(found[1]), int(other[1]) if other else 1, FIRST_YEAR
    elif found := _DATE_IN_PATH(path):
        year, month = int(found[1]), int(found[2])
    if year and (year < first or year * 12 + month > this_month + MAX_MONTHS_AHEAD):
        return f"a calendar at {year}-{month:02}"
    return ""


@lru_cache(maxsize=4)
def _compute_month(day: int) -> int:
    today = time.gmtime(day * 86400)
    return today.tm_year * 12 + today.tm_mon

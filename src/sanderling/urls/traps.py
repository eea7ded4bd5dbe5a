"""Detect crawler traps in a URL: repeated segments, session ids, endless calendars.

The rules avoid false positives; pattern_budget.py limits traps that look like a large site.
"""

import re
import time
from collections import Counter
from functools import lru_cache

from sanderling.urls.normalize import get_hostname, split_url

MAX_SEGMENTS = 20  # Heritrix, TooManyPathSegmentsDecideRule
MAX_REPEATS = 3  # Heritrix and BUbiNG use 2, but name/name/tree/main/name is a legitimate path
MAX_SHORT_REPEATS = 4  # numbers and one or two letters: dates, map tiles and buckets repeat them
SESSION_ID = "session id"  # prefix of the description; the URL without the session id is still crawled
MAX_MONTHS_AHEAD = 24  # later calendar pages are empty
FIRST_YEAR = 1900  # earlier calendar pages are empty; applies to parameters only, as archives have old dates in paths

_SHORT_SEGMENT = re.compile(r"\d*|..?").fullmatch
_HOST_NAME = re.compile(r"www\.(?:[a-z0-9\-]+\.)+[a-z]{2,}|https?:", re.IGNORECASE).fullmatch
_SESSION_IN_PATH = re.compile(r";jsessionid=[^/?;]*|/\([A-Z]\([a-z0-9]{24}\)\)", re.IGNORECASE)
_SESSION_IN_QUERY = re.compile(
    r"(?:(?:php|j|php_|asp\.net_|asp)?sess(?:ion)?_?id\w*|oscsid|zenid|xtcsid|cftoken)=[\w,\-]{16,}|s(?:id)?=[0-9a-f]{32}",
    re.IGNORECASE,
).fullmatch
# Not 3000 and above: a calendar never gets there if later years are rejected, so it is probably not a year.
_DATE_IN_PATH = re.compile(r"/(2[01]\d\d)[/-](0[1-9]|1[0-2]|[1-9](?=[/-]\d))(?![\dA-Za-z])").search
_YEAR_PARAMETER = re.compile(r"(?:^|&)(?:y|yr|year|cal_?year|tribe-bar-year)=(\d{1,5})(?=&|$)", re.IGNORECASE).search
_MONTH_PARAMETER = re.compile(r"(?:^|&)(?:m|mo|month|cal_?month)=(\d{1,2})(?=&|$)", re.IGNORECASE).search
_DATE_PARAMETER = re.compile(
    r"(?:^|&)(?:date|day|month|start|end|from|to|cal\w*|tribe-bar-date|eventdate)=(\d{4})-?(\d{2})(?=\D|\d\d(?:\D|$)|$)",
    re.IGNORECASE,
).search


def find_trap(url: str, now: float) -> str:
    host, rest = split_url(url)
    path, _, query = rest.partition("?")
    return (
        _find_session_id(path, query)
        or (_find_segment_trap(get_hostname(host), path) if path.count("/") > 2 else "")
        or (_find_far_date(path, query, _compute_month(int(now // 86400))) if query or "/2" in path else "")
    )


def strip_session_id(url: str) -> str:
    host, rest = split_url(url)
    path, question_mark, query = rest.partition("?")
    path = _SESSION_IN_PATH.sub("", path)
    remaining = "&".join(pair for pair in query.split("&") if not _SESSION_IN_QUERY(pair))
    return host + (path or "/") + (question_mark + remaining if remaining or not query else "")


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
    has_repeats = len(set(segments)) < len(segments)
    repeated = (_find_repeated_segment(segments) or _find_repeated_run(segments)) if has_repeats else ""
    return repeated or _find_embedded_host(hostname, segments)


def _find_repeated_segment(segments: list[str]) -> str:
    for segment, count in Counter(segments).items():
        is_short = _SHORT_SEGMENT(segment)
        is_too_frequent = count > (MAX_SHORT_REPEATS if is_short else MAX_REPEATS)
        if is_too_frequent or (count == 3 and not is_short and _is_evenly_spaced(segments, segment)):
            return f"path segment {segment[:40]!r} {count} times"
    return ""


def _is_evenly_spaced(segments: list[str], segment: str) -> bool:
    """Return whether three occurrences are evenly spaced (x/a/x/b/x), as in a loop."""
    first, second, third = (index for index, other in enumerate(segments) if other == segment)
    return second - first == third - second


def _find_repeated_run(segments: list[str]) -> str:
    """Find repeated runs of segments: /en/docs/en/docs/."""
    for length in range(2, len(segments) // 2 + 1):
        for start in range(len(segments) - 2 * length + 1):
            run = segments[start : start + length]
            if run == segments[start + length : start + 2 * length] and not all(
                _SHORT_SEGMENT(segment) for segment in run
            ):
                return f"path segments {'/'.join(run)[:60]!r} repeated"
    return ""


def _find_embedded_host(hostname: str, segments: list[str]) -> str:
    """Find the own host name, or two host names, in a path.

    reviews/www.example.com and sites/OWN/files are legitimate.
    """
    if hostname in segments and "." in hostname and segments[segments.index(hostname) - 1] != "sites":
        return "the host's own name in the path"
    names = sum(1 for segment in segments if segment[:1] in "wWhH" and _HOST_NAME(segment))
    return "host names in the path" if names > 1 else ""


def _find_far_date(path: str, query: str, this_month: int) -> str:
    year, month, first_year = 0, 1, 0
    if match := query and _DATE_PARAMETER(query):
        year, month, first_year = int(match[1]), int(match[2]), FIRST_YEAR
    elif match := query and _YEAR_PARAMETER(query):
        month_match = _MONTH_PARAMETER(query)
        if month_match is None and "cal" not in path.lower():
            return ""  # a year alone is a filter, not a calendar
        year, month, first_year = int(match[1]), int(month_match[1]) if month_match else 1, FIRST_YEAR
    elif match := _DATE_IN_PATH(path):
        year, month = int(match[1]), int(match[2])
    if year and (year < first_year or year * 12 + month > this_month + MAX_MONTHS_AHEAD):
        return f"a calendar at {year}-{month:02}"
    return ""


@lru_cache(maxsize=4)
def _compute_month(day: int) -> int:
    today = time.gmtime(day * 86400)
    return today.tm_year * 12 + today.tm_mon

"""Parse dates of sitemaps and feeds: W3C profile of ISO 8601, RFC 822, and variants."""

import re
from calendar import monthrange, timegm
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct

DAY_SECONDS = 86400.0


class DatePrecision(StrEnum):
    DAY = "day"  # a month or a year is read as its first day
    SECOND = "second"


class ParsedDate(Struct, frozen=True, gc=False):
    """A timestamp and its precision."""

    timestamp: float  # seconds since 1970
    precision: DatePrecision

    @property
    def latest_timestamp(self) -> float:
        """Latest possible timestamp: the end of the day for DAY."""
        return self.timestamp + DAY_SECONDS - 1 if self.precision is DatePrecision.DAY else self.timestamp


_TIME = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9})\d*)?)?"
_W3C = re.compile(
    rf"(\d{{4}})(?:([-/])(\d{{1,2}})(?:\2(\d{{1,2}})"
    rf"(?:[T ]\s*{_TIME}\s*(?:(Z|UTC|GMT)|([+-])(\d{{2}}):?(\d{{2}})?(?: [A-Z]{{1,5}})?)?(?:\[[\w/+\-]+\])?)?)?)?",
    re.IGNORECASE | re.ASCII,
).fullmatch
_BASIC = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(.*))?", re.IGNORECASE | re.ASCII).fullmatch
_MAIL = re.compile(
    r"(?:[a-z]{3,9}\.?,?\s*)?(\d{1,2})[\s-]([a-z]{3})[a-z]*[.,]?[\s-](\d{4}|\d{2})"
    r"(?:,?\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(?:(?:GMT|UTC)?([+-])(\d{2}):?(\d{2})|(?:Etc/)?([a-z]{1,5}))?)?",
    re.IGNORECASE | re.ASCII,
).fullmatch
# `Aug 30` for `30 Aug`, and the year after the time: formats of Unix, JavaScript and the United States.
_MONTH_FIRST = re.compile(r"(.*\b)([a-z]{3})[a-z]*\.? (\d{1,2}),? (?=\d)", re.IGNORECASE | re.ASCII).match
_YEAR_LAST = re.compile(r"(.*\b\d{1,2} [a-z]{3}) (\d{1,2}:\d\d.*?) (\d{4})", re.IGNORECASE | re.ASCII).fullmatch
_TRAILING_COMMENT = re.compile(r" ?\([^()]*\)$")
_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_ZONE_NAMES = {  # by offset in hours: zones of RFC 822, and other unambiguous ones seen in feeds
    -10: ("hst",), -9: ("akst",), -8: ("pst", "pt", "akdt"), -7: ("mst", "mt", "pdt"), -6: ("cst", "ct", "mdt"),
    -5: ("est", "et", "cdt"), -4: ("ast", "at", "edt"), -3: ("adt", "brt", "art"), 1: ("cet", "met", "mez", "bst"),
    2: ("cest", "mest", "mesz", "eet"), 3: ("eest", "msk"), 8: ("hkt", "sgt", "awst"), 9: ("jst", "kst"), 10: ("aest",),
    11: ("aedt",), 12: ("nzst",), 13: ("nzdt",),
}  # fmt: skip
# An unknown zone is UTC (RFC 2822).
_ZONE_HOURS = {name: hours for hours, names in _ZONE_NAMES.items() for name in names}


@lru_cache(maxsize=4096)
def parse_date(text: str) -> ParsedDate | None:
    """Parse a date, or return None.

    Without a zone, only the day of a W3C date is used, and an RFC 822 date is rejected.
    """
    text = " ".join(text.split())
    if len(text) > 64:
        return None
    return _parse_w3c(text) or _parse_basic(text) or _parse_mail(text) or _parse_mail(_reorder_date(text))


def _reorder_date(text: str) -> str:
    text = _TRAILING_COMMENT.sub("", text)
    if match := _MONTH_FIRST(text):
        text = f"{match[1]}{match[3]} {match[2]} {text[match.end() :]}"
    if match := _YEAR_LAST(text):
        text = f"{match[1]} {match[3]} {match[2]}"
    return text


def _parse_basic(text: str) -> ParsedDate | None:
    match = _BASIC(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, zone = match.groups()
    time = f"T{hour}:{minute}:{second or '00'}{zone}" if hour else ""
    return _parse_w3c(f"{year}-{month}-{day}{time}")


def _parse_w3c(text: str) -> ParsedDate | None:
    match = _W3C(text)
    if match is None:
        return None
    year, _, month, day, hour, minute, second, fraction, utc, sign, zone_hours, zone_minutes = match.groups()
    has_zone = bool(utc or sign)
    time = (int(hour or 0), int(minute or 0), int(second or 0))
    seconds = _compute_timestamp(int(year), int(month or 1), int(day or 1), time)
    if seconds is None:
        return None
    offset = _compute_zone_offset(sign, zone_hours, zone_minutes)
    if abs(offset) > DAY_SECONDS:
        return None
    fraction_seconds = float(f"0.{fraction}") if fraction else 0.0
    return (
        ParsedDate(seconds - offset + fraction_seconds, DatePrecision.SECOND)
        if has_zone
        else ParsedDate(seconds // DAY_SECONDS * DAY_SECONDS, DatePrecision.DAY)
    )


def _parse_mail(text: str) -> ParsedDate | None:
    match = _MAIL(text)
    if match is None:
        return None
    day, month, year, hour, minute, second, sign, zone_hours, zone_minutes, zone = match.groups()
    time = (int(hour or 0), int(minute or 0), int(second or 0))
    seconds = _compute_timestamp(_expand_year(year), _MONTHS.get(month.lower(), 0), int(day), time)
    if seconds is None or (hour and not sign and not zone):
        return None
    offset = (
        _compute_zone_offset(sign, zone_hours, zone_minutes)
        if sign
        else _ZONE_HOURS.get((zone or "").lower(), 0) * 3600
    )
    return ParsedDate(seconds - offset, DatePrecision.SECOND if hour else DatePrecision.DAY)


def _expand_year(text: str) -> int:
    year = int(text)
    return year if len(text) == 4 else year + (2000 if year < 50 else 1900)


def _compute_zone_offset(sign: str | None, hours: str | None, minutes: str | None) -> int:
    offset = int(hours or 0) * 3600 + int(minutes or 0) * 60
    return -offset if sign == "-" else offset


def _compute_timestamp(year: int, month: int, day: int, time: tuple[int, int, int]) -> float | None:
    """Return seconds since 1970. None: no such day or time."""
    hour, minute, second = time
    if not (year and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
        return None
    if not (hour <= 23 and minute <= 59 and second <= 60) and time != (24, 0, 0):
        return None
    return float(timegm((year, month, day, hour, minute, second)))

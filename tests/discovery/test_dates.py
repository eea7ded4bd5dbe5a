"""Dates of sitemaps and feeds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.discovery.dates import DAY_SECONDS, DatePrecision, parse_date


@pytest.mark.parametrize(
    ("text", "timestamp", "precision"),
    [
        ("1970-01-02", DAY_SECONDS, DatePrecision.DAY),
        ("1970-02", 31 * DAY_SECONDS, DatePrecision.DAY),
        ("1971", 365 * DAY_SECONDS, DatePrecision.DAY),
        ("1970-01-01T00:00:10Z", 10.0, DatePrecision.SECOND),
        (" 1970-01-01 00:00:10z ", 10.0, DatePrecision.SECOND),
        ("1970-01-02T10:00:10", DAY_SECONDS, DatePrecision.DAY),
        ("1970-01-01T01:00+01:00", 0.0, DatePrecision.SECOND),
        ("1970-01-01T00:00:00.25-0100", 3600.25, DatePrecision.SECOND),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 10.0, DatePrecision.SECOND),
        ("Thursday, 01-Jan-70 00:00:10 GMT", 10.0, DatePrecision.SECOND),
        ("1 January 1970 00:00 EST", 5 * 3600.0, DatePrecision.SECOND),
        ("02 Jan 1970", DAY_SECONDS, DatePrecision.DAY),
        ("01 Jan 49 00:00:00 +0000", 2493072000.0, DatePrecision.SECOND),
        ("1970/01/02", DAY_SECONDS, DatePrecision.DAY),
        ("19700102", DAY_SECONDS, DatePrecision.DAY),
        ("19700101T000010Z", 10.0, DatePrecision.SECOND),
        ("19700102T0000+0100", DAY_SECONDS - 3600, DatePrecision.SECOND),
        ("1970-01-01 00:00:10 +0000 UTC", 10.0, DatePrecision.SECOND),
        ("1970-01-01T00:00:10Z[Etc/UTC]", 10.0, DatePrecision.SECOND),
        ("1970-01-01T24:00:00Z", DAY_SECONDS, DatePrecision.SECOND),
        ("Fri, 2 Jan, 1970 01:00:00 CET", DAY_SECONDS, DatePrecision.SECOND),
        ("Fri, 2 Jan 1970 02:00:00 GMT+02:00", DAY_SECONDS, DatePrecision.SECOND),
        ("Fri Jan 02 1970 02:00:00 GMT+0200 (Central European Summer Time)", DAY_SECONDS, DatePrecision.SECOND),
        ("Fri Jan  2 00:00:00 UTC 1970", DAY_SECONDS, DatePrecision.SECOND),
        ("Fri Jan 02 00:00:00 +0000 1970", DAY_SECONDS, DatePrecision.SECOND),
        ("January 2, 1970", DAY_SECONDS, DatePrecision.DAY),
    ],
)
def test_supported_formats_are_parsed(text: str, timestamp: float, precision: DatePrecision) -> None:
    date = parse_date(text)
    assert date is not None
    assert (date.timestamp, date.precision) == (timestamp, precision)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "blah",
        "0000-01-01",
        "2014-13-01",
        "05 Jan 17 13:34:55",
        "2014-02-30",
        "2014-02-29",
        "29 Feb 2014 10:00 GMT",
        "2014-01-01T24:01Z",
        "2014/01-01",
        "20141301",
        "Sun Jan 4 16:29:06 2004",
        "2014-01-01T25:00Z",
        "2014-01-01T10:00+99:00",
        "٢٠١٤",
        "1" * 999,
    ],
)
def test_invalid_dates_are_rejected(text: str) -> None:
    assert parse_date(text) is None


def test_latest_timestamp_of_a_day_is_its_end() -> None:
    day, second = parse_date("1970-01-01"), parse_date("1970-01-01T00:00:00Z")
    assert day is not None
    assert second is not None
    assert (day.latest_timestamp, second.latest_timestamp) == (DAY_SECONDS - 1, 0.0)


@given(st.text(alphabet="0123456789-:TZ +.,JanFeb", max_size=40))
def test_arbitrary_text_raises_no_exception(text: str) -> None:
    parse_date(text)

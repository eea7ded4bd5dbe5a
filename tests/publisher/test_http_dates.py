"""Tests of parsing LAST_VISIT and formatting times."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.publisher.http_dates import MAX_MILLIS, format_http_date, format_w3c, format_w3c_millis, parse_time

MOMENT = 1_714_557_600_000  # 2024-05-01T10:00:00Z


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01T10:00:00Z",
        "2024-05-01T10:00:00",
        "2024-05-01 10:00:00",
        "2024-05-01T12:00:00+02:00",
        "2024-05-01T12:00:00 02:00",  # the + of a query string that was not escaped
        "20240501T100000Z",
        "Wed, 01 May 2024 10:00:00 GMT",
        "Wednesday, 01-May-24 10:00:00 GMT",
        "Wed May  1 10:00:00 2024",
        "1714557600",
        "1714557600.0",
        " 1714557600 ",
    ],
)
def test_time_formats_are_parsed(text: str) -> None:
    assert parse_time(text) == MOMENT


@pytest.mark.parametrize(
    "text", ["", "yesterday", "-5", "1e9", "nan", "inf", "9" * 30, "2024-13-01", "1969-12-31", "٣", "x" * 10_000, "\0"]
)
def test_invalid_time_is_rejected(text: str) -> None:
    assert parse_time(text) is None


@given(st.text(max_size=40))
def test_arbitrary_text_is_accepted(text: str) -> None:
    millis = parse_time(text)
    assert millis is None or 0 <= millis <= MAX_MILLIS


@given(st.integers(0, MAX_MILLIS))
def test_formatted_time_is_parsed_back(millis: int) -> None:
    assert parse_time(format_w3c_millis(millis)) in (millis, millis - 1)  # a float of seconds may fall short by one
    assert parse_time(format_w3c(millis)) == millis // 1000 * 1000
    assert parse_time(format_http_date(millis)) == millis // 1000 * 1000

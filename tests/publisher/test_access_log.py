"""Tests of parsing access logs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.publisher.access_log import AccessLogEntry, parse_log_line

COMBINED = (
    b'203.0.113.7 - - [10/Oct/2000:13:55:36 -0700] "GET /a.html?x=1 HTTP/1.1" 200 2326 "http://r/" "Mozilla/5.0 (X11)"'
)


def test_combined_format_is_parsed() -> None:
    line = AccessLogEntry("203.0.113.7", "", 971_211_336_000, "GET", "/a.html?x=1", 200, "Mozilla/5.0 (X11)")
    assert parse_log_line(COMBINED) == line
    assert parse_log_line(COMBINED + b' "extra field"') == line


def test_common_format_has_no_user_agent() -> None:
    line = parse_log_line(b'::1 - frank s [10/Oct/2000:13:55:36 +0000] "GET / HTTP/1.0" 401 -')
    assert line == AccessLogEntry("::1", "frank s", 971_186_136_000, "GET", "/", 401, None)


def test_escaped_quotes_in_user_agent() -> None:
    line = parse_log_line(b'h - - [10/Oct/2000:13:55:36 +0000] "GET / HTTP/1.1" 200 5 "-" "a \\"b\\" \\x22c"')
    assert line is not None
    assert line.user_agent == 'a \\"b\\" \\x22c'


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0\0\0",
        b"hello",
        COMBINED[:60],
        b'h - - [99/Xxx/2000:13:55:36 +0000] "GET / HTTP/1.1" 200 5',
        b'h - - [10/Oct/2000:13:55:xx +0000] "GET / HTTP/1.1" 200 5',
        b'h - - [10/Oct/2000:13:55:36 +0000] "\\x16\\x03\\x01" 400 0',
        b'h - - [10/Oct/2000:13:55:36 +0000] "GET /' + b"a" * 70_000 + b' HTTP/1.1" 200 5',
    ],
)
def test_malformed_line_is_rejected(raw: bytes) -> None:
    assert parse_log_line(raw) is None


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_accepted(raw: bytes) -> None:
    parse_log_line(raw)
    parse_log_line(COMBINED[:40] + raw)

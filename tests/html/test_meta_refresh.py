"""Tests of meta refresh parsing."""

import pytest

from sanderling.html.meta_refresh import parse_refresh_target


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("5;url=next", "next"),
        (" 0 , URL = next", "next"),
        ("3 url=next", "next"),
        ("1.5.2;next", "next"),
        (".5;url=next", "next"),
        ("0;url='next'rest", "next"),
        ('0;"next', "next"),
        ("0;url=\"it's", "it's"),
        ("0;;url=x", ";url=x"),
        ("0; urlx", "urlx"),
        ("0; url x", "url x"),
        ("0; up", "up"),
    ],
)
def test_refresh_target_is_parsed_like_browsers(content: str, target: str) -> None:
    assert parse_refresh_target(content) == target


@pytest.mark.parametrize(
    "content", ["", "5", "5;", "0;url=", "next", ";url=x", "-1;url=x", "+1;url=x", "1e1;url=x", "1x;x"]
)
def test_reload_or_invalid_value_has_no_target(content: str) -> None:
    assert parse_refresh_target(content) == ""

"""Tests of the X-Robots-Tag header."""

import pytest

from sanderling.html.robots_meta import parse_robots_tag, parse_unavailable_after


@pytest.mark.parametrize(
    ("value", "directives"),
    [
        ("", (False, False)),
        ("noindex", (True, False)),
        ("NoIndex, NoFollow", (True, True)),
        ("none", (True, True)),
        ("googlebot: noindex, nofollow", (False, False)),
        ("googlebot: noindex\nnofollow", (False, True)),
        ("otherbot: noindex, sanderling: nofollow", (False, True)),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", (True, False)),
        ("max-snippet: 20", (False, False)),
        ("*: noindex", (True, False)),
        ("unavailable_after: Fri, 25 Jun 2030 15:00:00 GMT, noindex", (True, False)),
        ("heron: sanderling: noindex", (True, False)),
        ("sanderling: heron: noindex", (False, False)),
        ("sanderling: max-snippet: 20, nofollow", (False, True)),
        ("color: red, noindex", (False, False)),
        ("noindex;nofollow", (True, True)),
        (", ,nofollow noindex,", (True, True)),
        ("Sanderling/1.0: noindex, heron/2.1: nofollow", (True, False)),
    ],
)
def test_x_robots_tag_applies_to_all_agents_or_this_agent(value: str, directives: tuple[bool, bool]) -> None:
    assert parse_robots_tag(value, "Sanderling") == directives


@pytest.mark.parametrize(
    ("value", "until"),
    [
        ("", ""),
        ("noindex", ""),
        ("unavailable_after: 25 Jun 2020 15:00:00 PST", "25 Jun 2020 15:00:00 PST"),
        ("nofollow, Unavailable_After: Thu, 25 Jun 2020 15:00:00 GMT, noarchive", "Thu, 25 Jun 2020 15:00:00 GMT"),
        ("sanderling: max-snippet: 3, unavailable_after: 2020-06-25", "2020-06-25"),
        ("sanderling/1.0: unavailable_after: 2020-06-25", "2020-06-25"),
        ("heron: unavailable_after: 2020-06-25\n*: unavailable_after: 2021-06-25", "2021-06-25"),
    ],
)
def test_unavailable_after_is_parsed(value: str, until: str) -> None:
    assert parse_unavailable_after(value, "Sanderling") == until

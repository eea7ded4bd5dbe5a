"""Tests of the robots.txt rules for all user agents."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sanderling.publisher.paths import canonicalize_path
from sanderling.publisher.robots_rules import parse_robots_rules


def test_longest_rule_wins_and_allow_wins_a_tie() -> None:
    rules = parse_robots_rules("User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /t\nAllow: /t\n")
    assert rules.is_disallowed("/a/x")
    assert not rules.is_disallowed("/a/b/c")
    assert not rules.is_disallowed("/t")
    assert not rules.is_disallowed("/")


@pytest.mark.parametrize(
    ("pattern", "path", "is_disallowed"),
    [
        ("/*.php$", "/a/b.php", True),
        ("/*.php$", "/a/b.php5", False),
        ("/*.php", "/a/b.php5", True),
        ("/fish*", "/fish", True),
        ("/fish/", "/fish", False),
        ("/a$", "/a", True),
        ("/a$", "/ab", False),
        ("/*a*b$", "/xaab", True),
        ("/*ab*ab$", "/xab", False),  # parts do not overlap
        ("/%7Ejoe", "/~joe", True),
        ("*/x", "/a/x", True),
    ],
)
def test_wildcards_and_anchors(pattern: str, path: str, is_disallowed: bool) -> None:
    assert parse_robots_rules(f"User-agent: *\nDisallow: {pattern}").is_disallowed(path) is is_disallowed


def test_only_wildcard_groups_apply() -> None:
    text = (
        "\ufeffuser-agent: evil\nDisallow: /\n\nUser-Agent: good\nUser-Agent: *\nDisallow: /p # not this\nDisallow:\n"
    )
    rules = parse_robots_rules(text)
    assert rules.is_disallowed("/p")
    assert not rules.is_disallowed("/q")


def test_empty_or_invalid_file_disallows_nothing() -> None:
    assert not parse_robots_rules("").is_disallowed("/")
    assert not parse_robots_rules("\0\xff nonsense\n::::\nDisallow: /\n").is_disallowed("/")


def test_hostile_pattern_takes_linear_time() -> None:
    rules = parse_robots_rules("User-agent: *\nDisallow: /" + "*a" * 1000 + "$")
    assert not rules.is_disallowed("/" + "a" * 1500 + "b")


LEFT_OUT = {
    "RFC9309 2.2.2 /robots.txt is implicitly allowed",  # not a page
    "test_generosity",  # lines without a colon
    "test_line_endings",  # bare carriage returns hide the names of agents from this test
    "test_with_absolute_urls",  # no RFC 9309 pattern
}


@pytest.mark.parametrize("suite", ["robots-rfc9309", "robots-google", "robots-protego"])
def test_published_cases_for_wildcard_groups(suites: Path, suite: str) -> None:
    cases = [
        case for case in json.loads((suites / suite / "cases.json").read_text()) if is_decided_by_wildcard_group(case)
    ]
    wrong = [
        case
        for case in cases
        if parse_robots_rules(case["robots"]).is_disallowed(get_path(case["url"])) is case["allowed"]
    ]
    wrong = [case for case in wrong if case["name"] not in LEFT_OUT]
    assert len(cases) >= 10
    assert wrong == []


def is_decided_by_wildcard_group(case: dict[str, str]) -> bool:
    """Return whether no group names this user agent."""
    agents = re.findall(r"(?im)^[ \t]*user-?agents?[ \t]*:?[ \t]*([^#\s]*)", case.get("robots", ""))
    named = [agent for agent in agents if agent != "*" and agent.lower() in case["agent"].lower()]
    return not case.get("policy") and "robots" in case and not named


def get_path(url: str) -> str:
    parts = urlsplit(url)
    return (canonicalize_path(parts.path or "/") or "/") + (f"?{parts.query}" if parts.query else "")

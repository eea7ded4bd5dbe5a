"""Change frequencies."""

from math import inf

import pytest

from sanderling.discovery.changefreq import (
    CHANGEFREQS,
    DEFAULT_CHANGEFREQ,
    PERIOD_SECONDS,
    classify_interval,
    parse_changefreq,
)

HOUR, DAY = 3600.0, 86400.0


def test_periods_match_the_specification() -> None:
    assert [PERIOD_SECONDS[name] for name in CHANGEFREQS] == [0, 3600, 86400, 604800, 2592000, 31536000, inf]
    assert DEFAULT_CHANGEFREQ in CHANGEFREQS


@pytest.mark.parametrize(
    ("interval", "name"),
    [
        (0.0, "always"),
        (600.0, "always"),
        (HOUR, "hourly"),
        (3 * HOUR, "hourly"),
        (DAY, "daily"),
        (2 * DAY, "daily"),
        (4 * DAY, "weekly"),
        (30 * DAY, "monthly"),
        (300 * DAY, "yearly"),
        (700 * DAY, "yearly"),
        (800 * DAY, "never"),
        (inf, "never"),
    ],
)
def test_interval_gets_the_nearest_change_frequency(interval: float, name: str) -> None:
    assert classify_interval(interval) == name


@pytest.mark.parametrize("name", CHANGEFREQS)
def test_period_is_classified_as_its_own_change_frequency(name: str) -> None:
    assert classify_interval(PERIOD_SECONDS[name]) == name


def test_change_frequency_ignores_case_and_whitespace() -> None:
    assert parse_changefreq(" Daily\n") == "daily"
    assert parse_changefreq("fortnightly") == ""

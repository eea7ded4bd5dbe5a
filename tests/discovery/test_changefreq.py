"""Classes of change frequency."""

from math import inf

import pytest

from sanderling.discovery.changefreq import CLASSES, DEFAULT, class_of, period, read_changefreq

HOUR, DAY = 3600.0, 86400.0


def test_the_periods_are_those_of_the_thesis() -> None:
    assert [period(name) for name in CLASSES] == [0, 3600, 86400, 604800, 2592000, 31536000, inf]
    assert DEFAULT in CLASSES


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
def test_an_observed_interval_has_the_nearest_class(interval: float, name: str) -> None:
    assert class_of(interval) == name


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_the_class_of_its_own_period(name: str) -> None:
    assert class_of(period(name)) == name


def test_a_class_is_read_as_people_write_it() -> None:
    assert read_changefreq(" Daily\n") == "daily"
    assert read_changefreq("fortnightly") == ""

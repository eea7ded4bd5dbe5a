"""Revisits by the sitemap."""

import math

import pytest

from sanderling.revisit.policies.sitemap_driven import PERIODS, Hint, next_visit

DAY = 86_400.0


def test_a_page_never_visited_is_visited_now() -> None:
    assert next_visit(Hint(lastmod=5), None, now=100) == 100


def test_only_a_page_younger_than_our_copy_is_fetched() -> None:
    assert next_visit(Hint(lastmod=50), last=40, now=100) == 100
    assert next_visit(Hint(lastmod=50), last=60, now=100) == math.inf
    assert next_visit(Hint(lastmod=50), last=50, now=100) == math.inf


def test_a_date_without_a_time_means_the_end_of_that_day() -> None:
    noon = 10 * DAY + DAY / 2
    assert next_visit(Hint(lastmod=10 * DAY, day_only=True), last=noon, now=11 * DAY) == 11 * DAY
    assert next_visit(Hint(lastmod=10 * DAY, day_only=True), last=11 * DAY + 1, now=12 * DAY) == math.inf


@pytest.mark.parametrize("name", PERIODS)
def test_without_a_date_the_class_decides(name: str) -> None:
    assert next_visit(Hint(changefreq=name), last=1000, now=2000) == 1000 + PERIODS[name]


def test_an_unknown_class_is_weekly() -> None:
    assert next_visit(Hint(changefreq=" Sometimes"), last=0, now=1) == 7 * DAY

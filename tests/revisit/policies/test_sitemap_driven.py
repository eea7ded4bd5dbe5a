"""Revisits by the sitemap."""

import math

import pytest

from sanderling.revisit.policies.sitemap_driven import CHANGEFREQ_SECONDS, RevisitHint, compute_next_visit

DAY = 86_400.0


def test_a_page_never_visited_is_visited_now() -> None:
    assert compute_next_visit(RevisitHint(lastmod=5), None, now=100) == 100


def test_only_a_page_younger_than_our_copy_is_fetched() -> None:
    assert compute_next_visit(RevisitHint(lastmod=50), last_visit=40, now=100) == 100
    assert compute_next_visit(RevisitHint(lastmod=50), last_visit=60, now=100) == math.inf
    assert compute_next_visit(RevisitHint(lastmod=50), last_visit=50, now=100) == math.inf


def test_a_date_without_a_time_means_the_end_of_that_day() -> None:
    noon = 10 * DAY + DAY / 2
    assert (
        compute_next_visit(RevisitHint(lastmod=10 * DAY, is_date_only=True), last_visit=noon, now=11 * DAY) == 11 * DAY
    )
    assert (
        compute_next_visit(RevisitHint(lastmod=10 * DAY, is_date_only=True), last_visit=11 * DAY + 1, now=12 * DAY)
        == math.inf
    )


@pytest.mark.parametrize("name", CHANGEFREQ_SECONDS)
def test_without_a_date_the_class_decides(name: str) -> None:
    assert (
        compute_next_visit(RevisitHint(changefreq=name), last_visit=1000, now=2000) == 1000 + CHANGEFREQ_SECONDS[name]
    )


def test_an_unknown_class_is_weekly() -> None:
    assert compute_next_visit(RevisitHint(changefreq=" Sometimes"), last_visit=0, now=1) == 7 * DAY

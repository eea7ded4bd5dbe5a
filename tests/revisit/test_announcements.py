"""Announcements: sitemap entries, and the effective time of announced changes."""

import math

import pytest

from sanderling.revisit.announcements import CHANGEFREQ_SECONDS, RevisitHint, compute_next_visit

DAY = 86_400.0


def test_unvisited_page_is_due_now() -> None:
    assert compute_next_visit(RevisitHint(lastmod=5), None, now=100) == 100


def test_only_page_newer_than_copy_is_due() -> None:
    assert compute_next_visit(RevisitHint(lastmod=50), last_visit=40, now=100) == 100
    assert compute_next_visit(RevisitHint(lastmod=50), last_visit=60, now=100) == math.inf
    assert compute_next_visit(RevisitHint(lastmod=50), last_visit=50, now=100) == math.inf


def test_date_without_time_means_end_of_day() -> None:
    noon = 10 * DAY + DAY / 2
    assert (
        compute_next_visit(RevisitHint(lastmod=10 * DAY, is_date_only=True), last_visit=noon, now=11 * DAY) == 11 * DAY
    )
    assert (
        compute_next_visit(RevisitHint(lastmod=10 * DAY, is_date_only=True), last_visit=11 * DAY + 1, now=12 * DAY)
        == math.inf
    )


@pytest.mark.parametrize("name", CHANGEFREQ_SECONDS)
def test_changefreq_applies_without_date(name: str) -> None:
    assert (
        compute_next_visit(RevisitHint(changefreq=name), last_visit=1000, now=2000) == 1000 + CHANGEFREQ_SECONDS[name]
    )


def test_unknown_changefreq_is_weekly() -> None:
    assert compute_next_visit(RevisitHint(changefreq=" Sometimes"), last_visit=0, now=1) == 7 * DAY

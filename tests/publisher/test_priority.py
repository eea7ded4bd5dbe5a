"""The three formulas."""

import pytest
from tests.publisher.conftest import NOW, publish

from sanderling.publisher.change_log import Batch, record
from sanderling.publisher.listings import top_score
from sanderling.publisher.priority import UNKNOWN, priority
from sanderling.publisher.published_site import DAY, Site
from sanderling.publisher.robots import Rules
from sanderling.publisher.state_db import Connection


def test_hits_over_the_most_hits_rounded_to_two_decimals() -> None:
    assert [priority("hits", hits, 300) for hits in (300, 100, 1, 0)] == [1.0, 0.33, 0.0, 0.0]


def test_the_logarithm_damps_a_page_that_runs_away() -> None:
    assert [priority("log", hits, 1_000_000) for hits in (1_000_000, 1000, 0)] == [1.0, 0.5, 0.0]


def test_before_any_view_no_priority_is_known() -> None:
    assert priority("hits", 0, 0) == UNKNOWN


def test_views_fade_by_half_each_half_life(db: Connection, site: Site) -> None:
    fading = Site(site.base, site.state, formula="decay", half_life_days=1)
    publish(db, fading, {"/old": 100, "/new": 0})
    batch = Batch()
    batch.hits["/new"] = 100
    record(db, fading, Rules(), batch, NOW + 2 * DAY)
    scores = dict(db.execute("SELECT path, score FROM pages"))
    assert scores["/old"] / top_score(db) == pytest.approx(0.25)
    assert dict(db.execute("SELECT path, hits FROM pages")) == {"/old": 100, "/new": 100}


def test_fading_views_never_run_out_of_numbers(db: Connection, site: Site) -> None:
    fading = Site(site.base, site.state, formula="decay", half_life_days=1)
    publish(db, fading, {"/": 1})
    for years in range(1, 12):
        batch = Batch()
        batch.hits["/"] = 1
        record(db, fading, Rules(), batch, NOW + years * 365 * DAY)
    assert 1.0 <= top_score(db) < 2.0**300


def test_a_change_of_formula_starts_from_the_views(db: Connection, site: Site) -> None:
    publish(db, Site(site.base, site.state, formula="decay"), {"/a": 3, "/b": 1}, NOW)
    batch = Batch()
    batch.hits["/b"] = 1
    record(db, site, Rules(), batch, NOW + DAY)
    assert dict(db.execute("SELECT path, score FROM pages")) == {"/a": 3, "/b": 2}

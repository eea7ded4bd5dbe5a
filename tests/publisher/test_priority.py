"""Tests of the priority formulas."""

import pytest
from tests.publisher.conftest import NOW, publish

from sanderling.publisher.change_log import ActivityBatch, write_batch
from sanderling.publisher.listings import load_top_score
from sanderling.publisher.priority import DEFAULT_PRIORITY, compute_priority
from sanderling.publisher.published_site import DAY_MS, PublishedSite
from sanderling.publisher.robots_rules import PathRules
from sanderling.publisher.state_db import Connection


def test_hits_priority_is_relative_to_the_most_viewed_page() -> None:
    assert [compute_priority("hits", hits, 300) for hits in (300, 100, 1, 0)] == [1.0, 0.33, 0.0, 0.0]


def test_log_priority_dampens_outliers() -> None:
    assert [compute_priority("log", hits, 1_000_000) for hits in (1_000_000, 1000, 0)] == [1.0, 0.5, 0.0]


def test_default_priority_without_views() -> None:
    assert compute_priority("hits", 0, 0) == DEFAULT_PRIORITY


def test_views_count_half_after_each_half_life(db: Connection, site: PublishedSite) -> None:
    fading = PublishedSite(site.base_url, site.state_file, priority_formula="decay", half_life_days=1)
    publish(db, fading, {"/old": 100, "/new": 0})
    batch = ActivityBatch()
    batch.view_counts["/new"] = 100
    write_batch(db, fading, PathRules(), batch, NOW + 2 * DAY_MS)
    scores = dict(db.execute("SELECT path, score FROM pages"))
    assert scores["/old"] / load_top_score(db) == pytest.approx(0.25)
    assert dict(db.execute("SELECT path, hits FROM pages")) == {"/old": 100, "/new": 100}


def test_decaying_scores_never_overflow(db: Connection, site: PublishedSite) -> None:
    fading = PublishedSite(site.base_url, site.state_file, priority_formula="decay", half_life_days=1)
    publish(db, fading, {"/": 1})
    for years in range(1, 12):
        batch = ActivityBatch()
        batch.view_counts["/"] = 1
        write_batch(db, fading, PathRules(), batch, NOW + years * 365 * DAY_MS)
    assert 1.0 <= load_top_score(db) < 2.0**300


def test_formula_change_resets_scores_to_views(db: Connection, site: PublishedSite) -> None:
    publish(db, PublishedSite(site.base_url, site.state_file, priority_formula="decay"), {"/a": 3, "/b": 1}, NOW)
    batch = ActivityBatch()
    batch.view_counts["/b"] = 1
    write_batch(db, site, PathRules(), batch, NOW + DAY_MS)
    assert dict(db.execute("SELECT path, score FROM pages")) == {"/a": 3, "/b": 2}

"""Fetch intervals of sitemaps and feeds."""

import sqlite3
from collections.abc import Iterator

import pytest

from sanderling.db.schema.revisit import MIGRATIONS
from sanderling.revisit.change_lists import (
    INITIAL_READ_INTERVAL,
    MAX_FAILED_READS,
    MAX_READ_INTERVAL,
    MIN_READ_INTERVAL,
    PROBATION_READS,
    SitemapSchedule,
)

DAY = 86_400.0


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE urls (id INTEGER PRIMARY KEY, host INTEGER, role TEXT, state TEXT)")
    for script in MIGRATIONS:
        db.executescript(script)
    db.executemany("INSERT INTO urls VALUES (?, ?, ?, 'visited')", [(1, 1, "sitemap"), (2, 1, "feed"), (3, 1, "page")])
    yield db
    db.close()


def test_new_sitemap_is_read_by_every_refresh(db: sqlite3.Connection) -> None:
    schedule = SitemapSchedule(db)
    assert schedule.load_due_at_start(0.0) == [1, 2]
    for _ in range(PROBATION_READS):
        schedule.record_read(1, 0.0, has_new_entries=False)
    assert schedule.load_due_at_start(1.0) == [2]
    assert schedule.load_due_at_start(MAX_READ_INTERVAL) == [1, 2]


def test_new_entries_shorten_interval(db: sqlite3.Connection) -> None:
    schedule = SitemapSchedule(db)
    for _ in range(20):
        schedule.record_read(1, 0.0, has_new_entries=True)
        schedule.record_read(2, 0.0, has_new_entries=False)
    assert schedule.load_due(MIN_READ_INTERVAL) == [1]
    assert schedule.load_due(INITIAL_READ_INTERVAL) == [1]
    assert schedule.load_due(MAX_READ_INTERVAL) == [1, 2]


def test_failing_sitemap_is_retired(db: sqlite3.Connection) -> None:
    schedule = SitemapSchedule(db)
    assert [schedule.record_failure(1, n * DAY) for n in range(MAX_FAILED_READS)] == [False] * (
        MAX_FAILED_READS - 1
    ) + [True]
    assert 1 not in schedule.load_due_at_start(100 * DAY)
    assert 1 not in schedule.load_due(100 * DAY)
    schedule.record_read(2, 0.0, has_new_entries=True)
    schedule.record_failure(2, 0.0)
    schedule.record_read(2, 0.0, has_new_entries=True)
    assert not schedule.record_failure(2, 0.0)

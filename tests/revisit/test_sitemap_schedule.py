"""Sitemaps and feeds have a schedule of their own."""

import sqlite3
from collections.abc import Iterator

import pytest

from sanderling.db.schema.revisit import MIGRATIONS
from sanderling.revisit.sitemap_schedule import FIRST, FRUITLESS, LATEST, SOONEST, YOUNG, Maps

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


def test_every_refresh_reads_a_young_one_and_later_it_waits_its_time(db: sqlite3.Connection) -> None:
    maps = Maps(db)
    assert maps.unread(0.0) == [1, 2]
    for _ in range(YOUNG):
        maps.read(1, 0.0, news=False)
    assert maps.unread(1.0) == [2]
    assert maps.unread(LATEST) == [1, 2]


def test_news_brings_us_back_sooner_and_silence_later(db: sqlite3.Connection) -> None:
    maps = Maps(db)
    for _ in range(20):
        maps.read(1, 0.0, news=True)
        maps.read(2, 0.0, news=False)
    assert maps.due(SOONEST) == [1]
    assert maps.due(FIRST) == [1]
    assert maps.due(LATEST) == [1, 2]


def test_one_that_cannot_be_read_any_more_is_retired(db: sqlite3.Connection) -> None:
    maps = Maps(db)
    assert [maps.fail(1, n * DAY) for n in range(FRUITLESS)] == [False] * (FRUITLESS - 1) + [True]
    assert 1 not in maps.unread(100 * DAY)
    assert 1 not in maps.due(100 * DAY)
    maps.read(2, 0.0, news=True)
    maps.fail(2, 0.0)
    maps.read(2, 0.0, news=True)
    assert not maps.fail(2, 0.0)

"""Tests of catalog queries by URL id."""

import sqlite3

from sanderling.storage.queries import SQL_CHUNK_SIZE, load_titles


def test_titles_are_loaded_in_chunks() -> None:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE pages (url INTEGER PRIMARY KEY, title TEXT)")
    db.executemany(
        "INSERT INTO pages VALUES (?, ?)", [(number, f"page {number}") for number in range(3 * SQL_CHUNK_SIZE)]
    )
    url_ids = [*range(SQL_CHUNK_SIZE, 2 * SQL_CHUNK_SIZE + 1), 9 * SQL_CHUNK_SIZE]
    assert load_titles(db, url_ids) == {number: f"page {number}" for number in url_ids[:-1]}
    assert load_titles(db, []) == {}
    db.close()

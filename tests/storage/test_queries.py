"""What is asked for by id is read in parts, and nothing else is."""

import sqlite3

from sanderling.storage.queries import SQL_CHUNK_SIZE, load_titles


def test_titles_are_read_of_the_pages_asked_for_however_many_they_are() -> None:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE pages (url INTEGER PRIMARY KEY, title TEXT)")
    db.executemany(
        "INSERT INTO pages VALUES (?, ?)", [(number, f"page {number}") for number in range(3 * SQL_CHUNK_SIZE)]
    )
    asked = [*range(SQL_CHUNK_SIZE, 2 * SQL_CHUNK_SIZE + 1), 9 * SQL_CHUNK_SIZE]
    assert load_titles(db, asked) == {number: f"page {number}" for number in asked[:-1]}
    assert load_titles(db, []) == {}
    db.close()

"""What is asked for by id is read in parts, and nothing else is."""

import sqlite3

from sanderling.storage.queries import CHUNK, titles_of


def test_titles_are_read_of_the_pages_asked_for_however_many_they_are() -> None:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE pages (url INTEGER PRIMARY KEY, title TEXT)")
    db.executemany("INSERT INTO pages VALUES (?, ?)", [(number, f"page {number}") for number in range(3 * CHUNK)])
    asked = [*range(CHUNK, 2 * CHUNK + 1), 9 * CHUNK]
    assert titles_of(db, asked) == {number: f"page {number}" for number in asked[:-1]}
    assert titles_of(db, []) == {}
    db.close()

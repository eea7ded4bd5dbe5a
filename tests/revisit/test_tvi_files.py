"""Whose turn it is: the side file or the page."""

import sqlite3

from sanderling.db.schema.revisit import MIGRATIONS
from sanderling.revisit.tvi_files import TURNS, Sides


def test_the_side_file_is_asked_some_times_and_then_the_page() -> None:
    db = sqlite3.connect(":memory:")
    for script in MIGRATIONS:
        db.executescript(script)
    sides = Sides(db)
    sides.note(1, 10)
    asked = [sides.instead([1, 2]) for _ in range(TURNS + 2)]
    assert asked == [{1: 10}] * TURNS + [{}, {1: 10}]
    assert sides.asked(10) == [1]
    assert sides.asked(10) == []
    sides.forget([1])
    assert sides.instead([1]) == {}
    db.close()

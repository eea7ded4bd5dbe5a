"""Whose turn it is: the side file or the page."""

import sqlite3

from sanderling.db.schema.revisit import MIGRATIONS
from sanderling.revisit.tvi_files import TVI_VISITS_PER_PAGE_VISIT, TviFiles


def test_the_side_file_is_asked_some_times_and_then_the_page() -> None:
    db = sqlite3.connect(":memory:")
    for script in MIGRATIONS:
        db.executescript(script)
    sides = TviFiles(db)
    sides.record_file(1, 10)
    asked = [sides.select_tvi_visits([1, 2]) for _ in range(TVI_VISITS_PER_PAGE_VISIT + 2)]
    assert asked == [{1: 10}] * TVI_VISITS_PER_PAGE_VISIT + [{}, {1: 10}]
    assert sides.take_requested_pages(10) == [1]
    assert sides.take_requested_pages(10) == []
    sides.delete_pages([1])
    assert sides.select_tvi_visits([1]) == {}
    db.close()

"""The choice between TVI file and page."""

import sqlite3

from sanderling.db.schema.revisit import MIGRATIONS
from sanderling.revisit.tvi_files import TVI_VISITS_PER_PAGE_VISIT, TviFiles


def test_page_is_visited_after_several_tvi_visits() -> None:
    db = sqlite3.connect(":memory:")
    for script in MIGRATIONS:
        db.executescript(script)
    tvi_files = TviFiles(db)
    tvi_files.record_file(1, 10)
    selected = [tvi_files.select_tvi_visits([1, 2]) for _ in range(TVI_VISITS_PER_PAGE_VISIT + 2)]
    assert selected == [{1: 10}] * TVI_VISITS_PER_PAGE_VISIT + [{}, {1: 10}]
    assert tvi_files.take_requested_pages(10) == [1]
    assert tvi_files.take_requested_pages(10) == []
    tvi_files.delete_pages([1])
    assert tvi_files.select_tvi_visits([1]) == {}
    db.close()

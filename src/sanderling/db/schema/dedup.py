"""Tables of the duplicate eliminator: pages that read nearly like another, as of which visit; what the runs counted."""

from sanderling.db.connection import Connection

PAGE_COLUMNS = (("near", "url"), ("near", "twin"))  # table and column: rows that go with a page that is forgotten

MIGRATIONS = [
    """
    CREATE TABLE near (url INTEGER PRIMARY KEY, twin INTEGER NOT NULL, distance INTEGER NOT NULL);
    CREATE INDEX near_twin ON near (twin);
    CREATE TABLE near_until (visit INTEGER NOT NULL);
    CREATE TABLE tally (name TEXT PRIMARY KEY, count INTEGER NOT NULL)
    """,
    "DELETE FROM near; DELETE FROM near_until",  # pairs found by the simhash of earlier versions, most of them wrong
]


def is_dedup_schema_current(db: Connection) -> bool:
    """Return whether all migrations were applied; a collection of an earlier version may be open for reading only."""
    row = db.execute("SELECT applied FROM migrations WHERE room = 'dedupe'").fetchone()
    return row is not None and row[0] >= len(MIGRATIONS)

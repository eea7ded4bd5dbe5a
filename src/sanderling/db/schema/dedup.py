"""Tables of `dedup`."""

from sanderling.db.connection import Connection

PAGE_COLUMNS = (("near", "url"), ("near", "twin"))  # table and column: rows to delete with a page

MIGRATIONS = [
    """
    CREATE TABLE near (url INTEGER PRIMARY KEY, twin INTEGER NOT NULL, distance INTEGER NOT NULL);
    CREATE INDEX near_twin ON near (twin);
    CREATE TABLE near_until (visit INTEGER NOT NULL);
    CREATE TABLE tally (name TEXT PRIMARY KEY, count INTEGER NOT NULL)
    """,
    "DELETE FROM near; DELETE FROM near_until",  # pairs found with the simhash of earlier versions, mostly wrong
]


def is_dedup_schema_current(db: Connection) -> bool:
    """Return False for an older collection opened read-only."""
    row = db.execute("SELECT applied FROM migrations WHERE room = 'dedupe'").fetchone()
    return row is not None and row[0] >= len(MIGRATIONS)

"""Tables of `dedup`."""

PAGE_COLUMNS = (
    ("near_duplicates", "url"),
    ("near_duplicates", "original"),
)  # table and column: rows to delete with a page

MIGRATIONS = [
    """
    CREATE TABLE near (url INTEGER PRIMARY KEY, twin INTEGER NOT NULL, distance INTEGER NOT NULL);
    CREATE INDEX near_twin ON near (twin);
    CREATE TABLE near_until (visit INTEGER NOT NULL);
    CREATE TABLE tally (name TEXT PRIMARY KEY, count INTEGER NOT NULL)
    """,
    "DELETE FROM near; DELETE FROM near_until",  # pairs found with the simhash of earlier versions, mostly wrong
    """
    ALTER TABLE near RENAME TO near_duplicates;
    ALTER TABLE near_duplicates RENAME COLUMN twin TO original;
    DROP INDEX near_twin;
    CREATE INDEX near_duplicates_original ON near_duplicates (original);
    ALTER TABLE near_until RENAME TO near_duplicate_progress;
    ALTER TABLE tally RENAME TO duplicate_counts
    """,
]

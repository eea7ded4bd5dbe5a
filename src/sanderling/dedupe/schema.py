"""Tables of the duplicate eliminator: pages that read nearly like another, as of which visit; what the runs counted."""

MIGRATIONS = [
    """
    CREATE TABLE near (url INTEGER PRIMARY KEY, twin INTEGER NOT NULL, distance INTEGER NOT NULL);
    CREATE INDEX near_twin ON near (twin);
    CREATE TABLE near_until (visit INTEGER NOT NULL);
    CREATE TABLE tally (name TEXT PRIMARY KEY, count INTEGER NOT NULL)
    """,
]

"""Tables of the duplicate eliminator: pages that read nearly like another one, and up to which visit that was asked."""

MIGRATIONS = [
    """
    CREATE TABLE near (url INTEGER PRIMARY KEY, twin INTEGER NOT NULL, distance INTEGER NOT NULL);
    CREATE INDEX near_twin ON near (twin);
    CREATE TABLE near_until (visit INTEGER NOT NULL)
    """,
]

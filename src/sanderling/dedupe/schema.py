"""Tables of the duplicate eliminator: pages that read nearly like another, as of which visit; what the runs counted."""

OF_PAGE = (("near", "url"), ("near", "twin"))  # table and column: rows that go with a page that is forgotten

MIGRATIONS = [
    """
    CREATE TABLE near (url INTEGER PRIMARY KEY, twin INTEGER NOT NULL, distance INTEGER NOT NULL);
    CREATE INDEX near_twin ON near (twin);
    CREATE TABLE near_until (visit INTEGER NOT NULL);
    CREATE TABLE tally (name TEXT PRIMARY KEY, count INTEGER NOT NULL)
    """,
]

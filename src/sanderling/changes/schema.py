"""Tables of the change detector: what differed at each visit, and what is noise on each site."""

MIGRATIONS = [
    """
    CREATE TABLE changes (
        url INTEGER NOT NULL,
        at REAL NOT NULL,
        previous_at REAL NOT NULL,
        site TEXT NOT NULL,
        kinds TEXT NOT NULL,
        significance REAL NOT NULL,
        difference BLOB NOT NULL,
        PRIMARY KEY (url, at)
    );
    CREATE INDEX changes_at ON changes (at);
    CREATE TABLE noise (site TEXT PRIMARY KEY, state BLOB NOT NULL)
    """,
]

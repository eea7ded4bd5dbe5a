"""Tables of `changes`."""

# table and column: rows to delete with a page
PAGE_COLUMNS = (("changes", "url"), ("uses", "page"), ("uses", "resource"))

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
    """
    CREATE TABLE uses (page INTEGER NOT NULL, resource INTEGER NOT NULL, PRIMARY KEY (page, resource));
    CREATE INDEX uses_resource ON uses (resource)
    """,
]

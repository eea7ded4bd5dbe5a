"""Tables of the refresh room: when each page is due, and how far a site's sitemap can be trusted."""

MIGRATIONS = [
    """
    CREATE TABLE due (
        url INTEGER PRIMARY KEY,
        due_at REAL NOT NULL,
        why TEXT NOT NULL,
        state BLOB NOT NULL
    );
    CREATE INDEX due_at ON due (due_at, url);
    CREATE TABLE trust (
        site TEXT PRIMARY KEY,
        announced REAL NOT NULL DEFAULT 0,
        confirmed REAL NOT NULL DEFAULT 0
    );
    CREATE TABLE signals (url INTEGER PRIMARY KEY, at REAL NOT NULL);
    CREATE TABLE policies (name TEXT PRIMARY KEY, state BLOB NOT NULL)
    """,
]

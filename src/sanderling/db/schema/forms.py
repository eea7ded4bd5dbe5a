"""Tables of `forms`."""

PAGE_COLUMNS = (("form_queries", "url"),)  # table and column: rows to delete with a page

MIGRATIONS = [
    """
    CREATE TABLE forms (
        id INTEGER PRIMARY KEY,
        site TEXT NOT NULL,
        page INTEGER NOT NULL,
        action TEXT NOT NULL,
        fields TEXT NOT NULL,
        state TEXT NOT NULL,
        reason TEXT NOT NULL,
        requests INTEGER NOT NULL,
        useful INTEGER NOT NULL,
        found INTEGER NOT NULL
    );
    CREATE TABLE form_queries (
        url INTEGER PRIMARY KEY,
        form INTEGER NOT NULL,
        run INTEGER NOT NULL,
        page INTEGER NOT NULL,
        query TEXT NOT NULL,
        found INTEGER NOT NULL DEFAULT -1
    );
    CREATE TABLE form_sites (site TEXT PRIMARY KEY, state BLOB NOT NULL)
    """,
]

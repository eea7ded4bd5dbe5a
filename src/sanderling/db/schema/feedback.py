"""Tables of the search feedback log, a separate database."""

MIGRATIONS = [
    """
    CREATE TABLE rankings (
        query_id TEXT PRIMARY KEY,
        client_id TEXT NOT NULL,
        query TEXT NOT NULL,
        key TEXT NOT NULL,
        at REAL NOT NULL,
        first_position INTEGER NOT NULL,
        urls TEXT NOT NULL
    );
    CREATE INDEX rankings_at ON rankings (at);
    CREATE INDEX rankings_key ON rankings (key, at);
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        client_id TEXT NOT NULL,
        query_id TEXT NOT NULL,
        object_id TEXT NOT NULL,
        object_id_field TEXT NOT NULL,
        action_name TEXT NOT NULL,
        position INTEGER NOT NULL,
        at REAL NOT NULL,
        count INTEGER NOT NULL,
        value REAL NOT NULL,
        attributes TEXT NOT NULL
    );
    CREATE INDEX events_at ON events (at);
    CREATE INDEX events_client ON events (client_id);
    CREATE TABLE weights (
        key TEXT NOT NULL,
        url TEXT NOT NULL,
        weight REAL NOT NULL,
        clicks REAL NOT NULL,
        examined REAL NOT NULL,
        clients INTEGER NOT NULL,
        pattern TEXT NOT NULL,
        apriori REAL NOT NULL,
        PRIMARY KEY (key, url)
    ) WITHOUT ROWID;
    CREATE TABLE briefs (
        id INTEGER PRIMARY KEY,
        query TEXT NOT NULL,
        key TEXT NOT NULL,
        urls TEXT NOT NULL,
        at REAL NOT NULL,
        state TEXT NOT NULL,
        known INTEGER NOT NULL,
        found INTEGER NOT NULL DEFAULT 0,
        answered_at REAL NOT NULL DEFAULT 0
    );
    CREATE TABLE signals (id INTEGER PRIMARY KEY, at REAL NOT NULL, name TEXT NOT NULL, detail TEXT NOT NULL);
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)
    """,
    "ALTER TABLE briefs RENAME TO unmet_queries",
]

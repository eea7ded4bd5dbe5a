"""Tables of `monitor` in `watch.db`, a database apart from the catalog: watches change while a crawl writes."""

MIGRATIONS = [
    """
    CREATE TABLE watches (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, definition BLOB NOT NULL);
    CREATE TABLE watch_progress (
        id INTEGER PRIMARY KEY, last_visit INTEGER NOT NULL, last_visit_at REAL NOT NULL, webhook_key TEXT NOT NULL
    );
    CREATE TABLE watch_states (
        watch INTEGER NOT NULL, url INTEGER NOT NULL, state BLOB NOT NULL, PRIMARY KEY (watch, url)
    ) WITHOUT ROWID;
    CREATE TABLE watch_values (
        watch INTEGER NOT NULL, url INTEGER NOT NULL, at REAL NOT NULL, value REAL NOT NULL, unit TEXT NOT NULL,
        PRIMARY KEY (watch, url, at)
    ) WITHOUT ROWID;
    CREATE TABLE watch_events (
        id INTEGER PRIMARY KEY, watch INTEGER NOT NULL, url INTEGER NOT NULL, visit INTEGER NOT NULL, at REAL NOT NULL,
        ready_at REAL NOT NULL, is_pending INTEGER NOT NULL, event BLOB NOT NULL, UNIQUE (watch, url, visit)
    );
    CREATE INDEX watch_events_pending ON watch_events (is_pending, watch);
    CREATE TABLE shared_texts (
        watch INTEGER NOT NULL, key TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (watch, key)
    ) WITHOUT ROWID;
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, watch INTEGER NOT NULL, target TEXT NOT NULL,
        created_at REAL NOT NULL, attempts INTEGER NOT NULL, next_attempt_at REAL NOT NULL, sent_at REAL NOT NULL,
        error TEXT NOT NULL, body BLOB NOT NULL
    );
    CREATE INDEX messages_unsent ON messages (sent_at, target, id)
    """,
    "CREATE TABLE watch_digest (id INTEGER PRIMARY KEY, definition BLOB NOT NULL)",
    """
    UPDATE watches SET definition = CAST(replace(CAST(definition AS TEXT), '"behaviour"', '"behavior"') AS BLOB)
    """,
    """
    CREATE TABLE control_fetches (
        url INTEGER PRIMARY KEY, address TEXT NOT NULL, at REAL NOT NULL, is_queued INTEGER NOT NULL
    );
    CREATE TABLE volatile_places (site TEXT PRIMARY KEY, state BLOB NOT NULL)
    """,
]

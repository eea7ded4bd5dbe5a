"""Tables of `revisit`."""

# table and column: rows to delete with a page
PAGE_COLUMNS = (
    ("due", "url"),
    ("lists", "url"),
    ("told", "url"),
    ("maps", "url"),
    ("sides", "page"),
    ("sides", "side"),
    ("turns", "url"),
)

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
    """
    CREATE TABLE lists (
        host INTEGER PRIMARY KEY,
        url INTEGER NOT NULL UNIQUE,
        until TEXT NOT NULL DEFAULT '',
        parts INTEGER NOT NULL DEFAULT 0,
        heard INTEGER NOT NULL DEFAULT 0,
        sure INTEGER NOT NULL DEFAULT 0,
        sampled INTEGER NOT NULL DEFAULT 0,
        asked_at REAL NOT NULL DEFAULT 0,
        looked REAL NOT NULL DEFAULT 0,
        missed REAL NOT NULL DEFAULT 0,
        named REAL NOT NULL DEFAULT 0,
        confirmed REAL NOT NULL DEFAULT 0
    );
    CREATE TABLE told (url INTEGER PRIMARY KEY, priority REAL NOT NULL, sure INTEGER NOT NULL)
    """,
    """
    ALTER TABLE due ADD COLUMN planned_at DOUBLE PRECISION NOT NULL DEFAULT 0;
    ALTER TABLE due ADD COLUMN weight DOUBLE PRECISION NOT NULL DEFAULT 1;
    ALTER TABLE due ADD COLUMN ripe INTEGER NOT NULL DEFAULT 0;
    UPDATE due SET state = '';
    DELETE FROM policies;
    CREATE INDEX due_planned ON due (planned_at);
    CREATE TABLE maps (
        url INTEGER PRIMARY KEY,
        due_at DOUBLE PRECISION NOT NULL,
        every DOUBLE PRECISION NOT NULL,
        quiet INTEGER NOT NULL,
        failures INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE sides (
        page INTEGER PRIMARY KEY,
        side INTEGER NOT NULL,
        turns INTEGER NOT NULL DEFAULT 0,
        asked INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX sides_side ON sides (side)
    """,
    """
    UPDATE due SET state = '';
    DELETE FROM policies;
    CREATE TABLE turns (
        url INTEGER PRIMARY KEY,
        host INTEGER NOT NULL,
        at DOUBLE PRECISION NOT NULL,
        old BLOB NOT NULL,
        new BLOB NOT NULL
    );
    CREATE INDEX turns_host ON turns (host, at)
    """,  # the grid of change rates is different: learned states are reset
    """
    CREATE TABLE intervals (
        owner TEXT NOT NULL,
        pattern TEXT NOT NULL,
        is_exact INTEGER NOT NULL,
        every DOUBLE PRECISION NOT NULL,
        shortest DOUBLE PRECISION NOT NULL,
        longest DOUBLE PRECISION NOT NULL,
        eagerness TEXT NOT NULL,
        objective TEXT NOT NULL
    );
    CREATE INDEX intervals_owner ON intervals (owner)
    """,
    """
    DROP TABLE trust;
    DROP TABLE signals;
    DELETE FROM policies;
    ALTER TABLE due DROP COLUMN ripe
    """,  # statistics of sites are learned again; histories of pages are kept
]

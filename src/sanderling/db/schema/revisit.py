"""Tables of `revisit`."""

# table and column: rows to delete with a page
PAGE_COLUMNS = (
    ("due", "url"),
    ("change_lists", "url"),
    ("announcements", "url"),
    ("sitemap_schedule", "url"),
    ("tvi_files", "page"),
    ("tvi_files", "tvi"),
    ("page_transitions", "url"),
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
    """
    ALTER TABLE lists RENAME TO change_lists;
    ALTER TABLE change_lists RENAME COLUMN heard TO responded;
    ALTER TABLE change_lists RENAME COLUMN sure TO has_baseline;
    ALTER TABLE change_lists RENAME COLUMN asked_at TO requested_at;
    ALTER TABLE change_lists RENAME COLUMN looked TO tested;
    ALTER TABLE told RENAME TO announcements;
    ALTER TABLE announcements RENAME COLUMN sure TO has_baseline;
    ALTER TABLE maps RENAME TO sitemap_schedule;
    ALTER TABLE sitemap_schedule RENAME COLUMN every TO interval_seconds;
    ALTER TABLE sitemap_schedule RENAME COLUMN quiet TO unchanged_reads;
    DROP INDEX sides_side;
    ALTER TABLE sides RENAME TO tvi_files;
    ALTER TABLE tvi_files RENAME COLUMN side TO tvi;
    ALTER TABLE tvi_files RENAME COLUMN turns TO visits;
    ALTER TABLE tvi_files RENAME COLUMN asked TO is_requested;
    CREATE INDEX tvi_files_tvi ON tvi_files (tvi);
    DROP INDEX turns_host;
    ALTER TABLE turns RENAME TO page_transitions;
    CREATE INDEX page_transitions_host ON page_transitions (host, at)
    """,
]

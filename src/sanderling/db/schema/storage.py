"""Tables of `storage`."""

# table and column: rows to delete with a page
PAGE_COLUMNS = (("pages", "url"), ("marks", "url"), ("hints", "url"))

MIGRATIONS = [
    """
    CREATE TABLE pages (
        url INTEGER PRIMARY KEY,
        status INTEGER NOT NULL,
        mime TEXT NOT NULL,
        charset TEXT NOT NULL,
        title TEXT NOT NULL,
        language TEXT NOT NULL,
        first_seen REAL NOT NULL,
        last_visit REAL NOT NULL,
        last_change REAL NOT NULL,
        digest BLOB NOT NULL,
        size INTEGER NOT NULL,
        etag TEXT NOT NULL,
        last_modified TEXT NOT NULL,
        canonical TEXT NOT NULL,
        noindex INTEGER NOT NULL,
        nofollow INTEGER NOT NULL,
        visit INTEGER NOT NULL,
        visits INTEGER NOT NULL,
        changes INTEGER NOT NULL,
        misses INTEGER NOT NULL,
        duplicate_of INTEGER NOT NULL,
        location TEXT NOT NULL,
        link_count INTEGER NOT NULL,
        links BLOB NOT NULL
    );
    CREATE TABLE visits (
        id INTEGER PRIMARY KEY,
        url INTEGER NOT NULL,
        at REAL NOT NULL,
        session INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        reason TEXT NOT NULL,
        status INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        digest BLOB NOT NULL,
        size INTEGER NOT NULL,
        wire_bytes INTEGER NOT NULL,
        seconds REAL NOT NULL,
        file INTEGER NOT NULL,
        start INTEGER NOT NULL,
        length INTEGER NOT NULL,
        record TEXT NOT NULL,
        payload TEXT NOT NULL
    );
    CREATE INDEX visits_url ON visits (url, at);
    CREATE TABLE digests (prefix INTEGER PRIMARY KEY, visit INTEGER NOT NULL);
    CREATE TABLE marks (
        url INTEGER NOT NULL,
        kind TEXT NOT NULL,
        value BLOB NOT NULL,
        PRIMARY KEY (url, kind)
    ) WITHOUT ROWID;
    CREATE TABLE backlinks (
        url INTEGER NOT NULL,
        segment INTEGER NOT NULL,
        sources BLOB NOT NULL,
        PRIMARY KEY (url, segment)
    ) WITHOUT ROWID;
    CREATE TABLE hints (
        url INTEGER PRIMARY KEY,
        map INTEGER NOT NULL,
        lastmod REAL NOT NULL,
        whole_day INTEGER NOT NULL,
        changefreq TEXT NOT NULL,
        priority REAL NOT NULL,
        seen_at REAL NOT NULL
    );
    CREATE INDEX hints_map ON hints (map, seen_at);
    CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, committed INTEGER NOT NULL);
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        started REAL NOT NULL,
        ended REAL NOT NULL DEFAULT 0,
        finish_reason TEXT NOT NULL DEFAULT '',
        command TEXT NOT NULL,
        summary TEXT NOT NULL DEFAULT ''
    );
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE blobs (name TEXT PRIMARY KEY, value BLOB NOT NULL)
    """,
    """
    CREATE TABLE shelves (id INTEGER PRIMARY KEY, shelf INTEGER NOT NULL, packed BLOB NOT NULL);
    CREATE INDEX shelves_shelf ON shelves (shelf)
    """,  # backlinks of new pages; older ones are still read from `backlinks`
    "ALTER TABLE shelves ADD COLUMN form INTEGER NOT NULL DEFAULT 0",
    # An 8-byte simhash stays until the page is fetched again; `minhash.estimate_similarity` treats it as dissimilar.
    "UPDATE marks SET kind = 'minhash' WHERE kind = 'simhash'",
    """
    CREATE TABLE imports (
        id INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        file TEXT NOT NULL,
        start INTEGER NOT NULL,
        length INTEGER NOT NULL
    );
    CREATE INDEX imports_at ON imports (at, id)
    """,  # copied records that are not processed yet
    "CREATE TABLE render_templates (host TEXT PRIMARY KEY, templates BLOB NOT NULL)",
]

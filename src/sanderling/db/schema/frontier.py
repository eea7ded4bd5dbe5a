"""Tables of `frontier`."""

PAGE_COLUMNS = (("queue", "url"), ("leases", "url"))  # table and column: rows to delete with a page

MIGRATIONS = [
    """
    CREATE TABLE hosts (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        verdict TEXT NOT NULL DEFAULT '',
        addresses TEXT NOT NULL DEFAULT '',
        place TEXT NOT NULL DEFAULT '',
        resolved_until REAL NOT NULL DEFAULT 0,
        dns_tries INTEGER NOT NULL DEFAULT 0,
        open_at REAL NOT NULL DEFAULT 0,
        hold TEXT NOT NULL DEFAULT '',
        strikes INTEGER NOT NULL DEFAULT 0,
        robots_status INTEGER NOT NULL DEFAULT -1,
        robots_body BLOB,
        robots_at REAL NOT NULL DEFAULT 0,
        robots_until REAL NOT NULL DEFAULT 0,
        robots_tries INTEGER NOT NULL DEFAULT 0,
        waiting INTEGER NOT NULL DEFAULT 0,
        leased INTEGER NOT NULL DEFAULT 0,
        holder TEXT NOT NULL DEFAULT '',
        etag_lies INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX hosts_open ON hosts (open_at) WHERE waiting > 0;
    CREATE INDEX hosts_place ON hosts (place);
    CREATE TABLE urls (
        id INTEGER PRIMARY KEY,
        host INTEGER NOT NULL,
        path TEXT NOT NULL,
        wire TEXT NOT NULL,
        state TEXT NOT NULL,
        reason TEXT NOT NULL,
        depth INTEGER NOT NULL,
        source TEXT NOT NULL,
        via INTEGER NOT NULL,
        hops INTEGER NOT NULL,
        found_at REAL NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        note TEXT NOT NULL DEFAULT '',
        role TEXT NOT NULL DEFAULT 'page'
    );
    CREATE UNIQUE INDEX urls_key ON urls (host, path);
    CREATE TABLE queue (
        url INTEGER PRIMARY KEY,
        host INTEGER NOT NULL,
        rank REAL NOT NULL,
        ready_at REAL NOT NULL DEFAULT 0
    );
    CREATE INDEX queue_best ON queue (host, rank, url);
    CREATE TABLE leases (
        url INTEGER PRIMARY KEY,
        host INTEGER NOT NULL,
        rank REAL NOT NULL,
        migrant TEXT NOT NULL,
        token INTEGER NOT NULL,
        until REAL NOT NULL
    );
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL)
    """,
    "ALTER TABLE hosts ADD COLUMN visited INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE hosts ADD COLUMN pause REAL NOT NULL DEFAULT 0",  # Crawl-delay of robots.txt in seconds
    "CREATE INDEX hosts_busy ON hosts (place) WHERE leased > 0",  # finds addresses with leased URLs
    # Workers lost while fetching a URL. They were counted as attempts before, so attempts are reset.
    """
    ALTER TABLE urls ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;
    UPDATE urls SET attempts = 0 WHERE id IN (SELECT url FROM queue UNION SELECT url FROM leases)
    """,
    # `pause` becomes the longer of the Crawl-delay (`wish`) and the delay learned from rate limiting (`learned`).
    """
    ALTER TABLE hosts ADD COLUMN wish DOUBLE PRECISION NOT NULL DEFAULT 0;
    ALTER TABLE hosts ADD COLUMN learned DOUBLE PRECISION NOT NULL DEFAULT 0;
    ALTER TABLE hosts ADD COLUMN complained_at DOUBLE PRECISION NOT NULL DEFAULT 0;
    ALTER TABLE hosts ADD COLUMN complaints INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE hosts ADD COLUMN complained_of INTEGER NOT NULL DEFAULT 0;
    UPDATE hosts SET wish = pause
    """,
    "CREATE TABLE patterns (id INTEGER PRIMARY KEY, state BLOB NOT NULL)",  # what pages of a URL pattern contained
    """
    DROP INDEX hosts_open;
    DROP INDEX hosts_place;
    ALTER TABLE hosts RENAME COLUMN verdict TO failure_reason;
    ALTER TABLE hosts RENAME COLUMN place TO shared_address;
    ALTER TABLE hosts RENAME COLUMN open_at TO next_request_at;
    ALTER TABLE hosts RENAME COLUMN hold TO delay_reason;
    ALTER TABLE hosts RENAME COLUMN strikes TO failures;
    ALTER TABLE hosts RENAME COLUMN holder TO worker;
    ALTER TABLE hosts RENAME COLUMN etag_lies TO false_etags;
    ALTER TABLE hosts RENAME COLUMN pause TO crawl_delay;
    ALTER TABLE hosts RENAME COLUMN wish TO robots_delay;
    ALTER TABLE hosts RENAME COLUMN learned TO learned_delay;
    ALTER TABLE hosts RENAME COLUMN complained_at TO rate_limited_at;
    ALTER TABLE hosts RENAME COLUMN complaints TO rate_limits;
    ALTER TABLE hosts RENAME COLUMN complained_of TO rate_limited_url;
    CREATE INDEX hosts_next_request ON hosts (next_request_at) WHERE waiting > 0;
    CREATE INDEX hosts_shared_address ON hosts (shared_address);
    ALTER TABLE urls RENAME COLUMN wire TO request_url;
    ALTER TABLE leases RENAME COLUMN migrant TO worker;
    UPDATE urls SET reason = CASE reason WHEN 'forgotten' THEN 'deleted' WHEN 'not_alike' THEN 'not_similar'
        WHEN 'foreign' THEN 'foreign_sitemap' WHEN 'migrant_lost' THEN 'worker_lost'
        WHEN 'host_refused' THEN 'migrant_refused' WHEN 'host_lied' THEN 'false_unchanged'
        WHEN 'redirect_to_nowhere' THEN 'redirect_without_target' ELSE 'too_slow' END
        WHERE reason IN ('forgotten', 'not_alike', 'foreign', 'migrant_lost', 'host_refused', 'host_lied',
        'redirect_to_nowhere', 'slow');
    UPDATE urls SET role = 'tvi' WHERE role = 'side'
    """,
    # Shards: URLs of other shards that pages link to, batches of them to send, and the last batch applied per sender.
    """
    CREATE TABLE foreign_urls (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, depth INTEGER NOT NULL);
    CREATE TABLE outbox (
        receiver INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        at REAL NOT NULL,
        payload BLOB NOT NULL,
        PRIMARY KEY (receiver, sequence)
    );
    CREATE TABLE inbox (sender INTEGER PRIMARY KEY, sequence INTEGER NOT NULL)
    """,
]

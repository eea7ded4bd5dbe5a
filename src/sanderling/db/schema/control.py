"""Tables of the control database of a shard set: owners, mail between shards, address leases, and quotas."""

MIGRATIONS = [
    """
    CREATE TABLE shards (
        id INTEGER PRIMARY KEY,
        database_url TEXT NOT NULL,
        range_number INTEGER NOT NULL,
        owner TEXT NOT NULL DEFAULT '',
        token INTEGER NOT NULL DEFAULT 0,
        until REAL NOT NULL DEFAULT 0,
        visited INTEGER NOT NULL DEFAULT -1,
        granted INTEGER NOT NULL DEFAULT 0,
        bytes INTEGER NOT NULL DEFAULT 0,
        queued INTEGER NOT NULL DEFAULT 0,
        finish_reason TEXT NOT NULL DEFAULT '',
        progress BLOB NOT NULL,
        summary BLOB NOT NULL
    );
    CREATE TABLE virtual_shards (id INTEGER PRIMARY KEY, shard INTEGER NOT NULL);
    CREATE TABLE mail (
        receiver INTEGER NOT NULL,
        sender INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        payload BLOB NOT NULL,
        PRIMARY KEY (receiver, sender, sequence)
    );
    CREATE TABLE mail_positions (
        receiver INTEGER NOT NULL,
        sender INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        PRIMARY KEY (receiver, sender)
    );
    CREATE TABLE address_leases (address TEXT PRIMARY KEY, shard INTEGER NOT NULL, ready_at REAL NOT NULL);
    CREATE INDEX address_leases_shard ON address_leases (shard);
    CREATE TABLE address_requests (
        address TEXT NOT NULL,
        shard INTEGER NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (address, shard)
    );
    CREATE TABLE crawl_state (name TEXT PRIMARY KEY, value TEXT NOT NULL)
    """
]

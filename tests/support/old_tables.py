"""Rows in tables of November 2026, before tables and columns got the names of the glossary, and the rows after it."""

from sanderling.db.connection import Connection, apply_migrations
from sanderling.db.schema import changes, dedup, frontier, revisit, storage

OLD_VERSIONS = {"frontier": 6, "store": 4, "changes": 2, "dedupe": 2, "refresh": 7}
OLD_ROWS = (
    "INSERT INTO hosts (name, verdict, addresses, place, open_at, hold, strikes, holder, etag_lies, pause, wish,"
    " learned, complained_at, complaints, complained_of, waiting, leased)"
    " VALUES ('http://a', 'dns', '192.0.2.1', '192.0.2.1', 7, 'rate_limited', 2, 'w1', 3, 5, 4, 5, 6, 8, 1, 1, 1)",
    "INSERT INTO urls (host, path, wire, state, reason, depth, source, via, hops, found_at, role)"
    " VALUES (1, '/', 'http://a/index', 'skipped', 'forgotten', 0, 'seed', 0, 0, 1, 'page'),"
    " (1, '/t', '', 'visited', '', 0, 'seed', 0, 0, 1, 'side')",
    "INSERT INTO leases VALUES (1, 1, 0.5, 'w1', 9, 99)",
    "INSERT INTO visits (url, at, session, outcome, reason, status, changed, digest, size, wire_bytes, seconds, file,"
    " start, length, record, payload) VALUES (1, 2, 1, 'failed', 'host_lied', 0, 0, '', 0, 0, 0, 0, 0, 0, '', '')",
    "INSERT INTO marks VALUES (1, 'signature', 'a'), (1, 'sieve', 'b'), (1, 'pretence', 'c'), (1, 'look', 'd'),"
    " (1, 'minhash', 'e')",
    "INSERT INTO hints VALUES (1, 2, 3, 0, 'daily', 0.5, 4)",
    "INSERT INTO shelves (shelf, packed, form) VALUES (3, 'x', 1)",
    "INSERT INTO meta VALUES ('arrivals', '[\"http://b/\"]'), ('forgotten', '[\"c*\"]'), ('finish_reason', 'held')",
    "INSERT INTO near VALUES (2, 1, 3)",
    "INSERT INTO near_until VALUES (5)",
    "INSERT INTO tally VALUES ('links', 6)",
    "INSERT INTO uses VALUES (1, 2)",
    "INSERT INTO lists (host, url, heard, sure, asked_at, looked) VALUES (1, 1, 1, 1, 5, 2)",
    "INSERT INTO told VALUES (1, 0.5, 1)",
    "INSERT INTO maps VALUES (2, 7, 3600, 4, 1)",
    "INSERT INTO sides VALUES (1, 2, 3, 1)",
    "INSERT INTO turns VALUES (1, 1, 5, 'o', 'n')",
)
NEW_ROWS: dict[str, list[tuple[object, ...]]] = {
    "SELECT failure_reason, shared_address, next_request_at, delay_reason, failures, worker, false_etags, crawl_delay,"
    " robots_delay, learned_delay, rate_limited_at, rate_limits, rate_limited_url FROM hosts": [
        ("dns", "192.0.2.1", 7, "rate_limited", 2, "w1", 3, 5, 4, 5, 6, 8, 1)
    ],
    "SELECT request_url, reason, role FROM urls ORDER BY id": [("http://a/index", "deleted", "page"), ("", "", "tvi")],
    "SELECT worker, token FROM leases": [("w1", 9)],
    "SELECT reason FROM visits": [("false_unchanged",)],
    "SELECT kind FROM fingerprints ORDER BY value": [
        ("page",), ("stable_hash",), ("soft_error",), ("image_hash",), ("minhash",)
    ],
    "SELECT sitemap, changefreq FROM sitemap_hints": [(2, "daily")],
    "SELECT bucket, form FROM backlink_buckets": [(3, 1)],
    "SELECT name, value FROM meta WHERE name <> 'scheme' ORDER BY name": [
        ("blocked_patterns", '["c*"]'), ("finish_reason", "backed_off"), ("seed_redirects", '["http://b/"]')
    ],
    "SELECT url, original, distance FROM near_duplicates": [(2, 1, 3)],
    "SELECT visit FROM near_duplicate_progress": [(5,)],
    "SELECT name, count FROM duplicate_counts": [("links", 6)],
    "SELECT page, resource FROM page_resources": [(1, 2)],
    "SELECT responded, has_baseline, requested_at, tested FROM change_lists": [(1, 1, 5, 2)],
    "SELECT has_baseline FROM announcements": [(1,)],
    "SELECT interval_seconds, unchanged_reads, failures FROM sitemap_schedule": [(3600, 4, 1)],
    "SELECT page, tvi, visits, is_requested FROM tvi_files": [(1, 2, 3, 1)],
    "SELECT url, host, at FROM page_transitions": [(1, 1, 5)],
}  # fmt: skip


def create_old_tables(db: Connection) -> None:
    """Create the tables of that time in an empty database, with a row in each."""
    schemas = {"frontier": frontier, "store": storage, "changes": changes, "dedupe": dedup, "refresh": revisit}
    apply_migrations(db, {name: schemas[name].MIGRATIONS[:count] for name, count in OLD_VERSIONS.items()})
    for statement in OLD_ROWS:
        db.execute(statement)
    versions = db.execute("SELECT component, applied FROM schema_versions").fetchall()
    db.execute("CREATE TABLE migrations (room TEXT PRIMARY KEY, applied INTEGER NOT NULL)")
    db.executemany("INSERT INTO migrations VALUES (?, ?)", versions)
    db.execute("DROP TABLE schema_versions")


def check_new_rows(db: Connection) -> None:
    apply_migrations(db, {"revisit": revisit.MIGRATIONS})
    for query, rows in NEW_ROWS.items():
        assert [tuple(row) for row in db.execute(query).fetchall()] == rows, query
    assert dict(db.execute("SELECT component, applied FROM schema_versions").fetchall()).keys() == {
        "frontier", "storage", "changes", "dedup", "forms", "revisit"
    }  # fmt: skip

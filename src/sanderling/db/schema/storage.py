"""Tables of `storage`."""

from msgspec import json

from sanderling.db.connection import Connection, Migration
from sanderling.db.stored_keys import rename_keys, rename_value_keys

RENAMED_BLOB_KEYS = {
    "ordering": {"order": "ordering_name", "until": "last_visit", "tallies": "score_tables"},
    "dust": {"keep": "prefers_longer", "agreed": "support_count", "disagreed": "conflict_count"},
    "pending_deletion": {"elsewhere": "remote_records"},
}
RENAMED_SELECTION_KEYS = {"gone": "gone_since", "unseen": "unseen_since"}

# table and column: rows to delete with a page
PAGE_COLUMNS = (("pages", "url"), ("fingerprints", "url"), ("sitemap_hints", "url"))


def _rename_keys(db: Connection) -> None:
    for name, keys in RENAMED_BLOB_KEYS.items():
        rows = db.execute("SELECT value FROM blobs WHERE name = ?", (name,)).fetchall()
        values = [(rename_value_keys(value, keys), name) for (value,) in rows]
        db.executemany("UPDATE blobs SET value = ? WHERE name = ?", values)
    for (text,) in db.execute("SELECT value FROM meta WHERE name = 'age_selections'").fetchall():
        selections = json.encode(rename_keys(json.decode(text), RENAMED_SELECTION_KEYS)).decode()
        db.execute("UPDATE meta SET value = ? WHERE name = 'age_selections'", (selections,))


MIGRATIONS: list[Migration] = [
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
    """
    ALTER TABLE marks RENAME TO fingerprints;
    UPDATE fingerprints SET kind = CASE kind WHEN 'signature' THEN 'page' WHEN 'sieve' THEN 'stable_hash'
        WHEN 'pretence' THEN 'soft_error' ELSE 'image_hash' END
        WHERE kind IN ('signature', 'sieve', 'pretence', 'look');
    DROP INDEX shelves_shelf;
    ALTER TABLE shelves RENAME TO backlink_buckets;
    ALTER TABLE backlink_buckets RENAME COLUMN shelf TO bucket;
    CREATE INDEX backlink_buckets_bucket ON backlink_buckets (bucket);
    DROP INDEX hints_map;
    ALTER TABLE hints RENAME TO sitemap_hints;
    ALTER TABLE sitemap_hints RENAME COLUMN map TO sitemap;
    CREATE INDEX sitemap_hints_sitemap ON sitemap_hints (sitemap, seen_at);
    UPDATE meta SET name = CASE name WHEN 'arrivals' THEN 'seed_redirects' WHEN 'complete' THEN 'is_complete'
        WHEN 'rules' THEN 'filter_rules' WHEN 'order' THEN 'ordering' WHEN 'unlisted' THEN 'unrecorded_skips'
        WHEN 'refreshed' THEN 'refreshed_at' WHEN 'forgotten' THEN 'blocked_patterns'
        WHEN 'forgetting' THEN 'is_deletion_unfinished' ELSE 'age_selections' END
        WHERE name IN ('arrivals', 'complete', 'rules', 'order', 'unlisted', 'refreshed', 'forgotten', 'forgetting',
        'forgetting_by_age');
    UPDATE blobs SET name = 'pending_deletion' WHERE name = 'forgetting';
    UPDATE meta SET value = 'backed_off' WHERE name = 'finish_reason' AND value = 'held';
    UPDATE runs SET finish_reason = 'backed_off' WHERE finish_reason = 'held';
    UPDATE visits SET reason = CASE reason WHEN 'forgotten' THEN 'deleted' WHEN 'not_alike' THEN 'not_similar'
        WHEN 'foreign' THEN 'foreign_sitemap' WHEN 'migrant_lost' THEN 'worker_lost'
        WHEN 'host_refused' THEN 'migrant_refused' WHEN 'host_lied' THEN 'false_unchanged'
        WHEN 'redirect_to_nowhere' THEN 'redirect_without_target' ELSE 'too_slow' END
        WHERE reason IN ('forgotten', 'not_alike', 'foreign', 'migrant_lost', 'host_refused', 'host_lied',
        'redirect_to_nowhere', 'slow')
    """,
    _rename_keys,
    "ALTER TABLE imports ADD COLUMN url TEXT NOT NULL DEFAULT ''",
]

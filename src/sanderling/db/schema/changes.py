"""Tables of `changes`."""

from sanderling.db.connection import Connection, Migration
from sanderling.db.stored_keys import rename_msgpack_keys

RENAMED_DIFFERENCE_KEYS = {
    "text": "has_text_change", "weight": "main_content_size", "looks": "has_style_change", "worth": "is_price",
    "verdict": "severity", "sort": "resource_type",
}  # fmt: skip
RENAMED_NOISE_KEYS = {
    "seen": "fragment_counts", "restless": "streaks", "turns": "alternations", "again": "reversal_counts",
    "worded": "text_visits", "spans": "visit_spans", "pages": "first_pages",
}  # fmt: skip

# table and column: rows to delete with a page
PAGE_COLUMNS = (("changes", "url"), ("page_resources", "page"), ("page_resources", "resource"))


def _rename_keys(db: Connection) -> None:
    rename_msgpack_keys(db, "changes", ("url", "at"), "difference", RENAMED_DIFFERENCE_KEYS)
    rename_msgpack_keys(db, "noise", ("site",), "state", RENAMED_NOISE_KEYS)


MIGRATIONS: list[Migration] = [
    """
    CREATE TABLE changes (
        url INTEGER NOT NULL,
        at REAL NOT NULL,
        previous_at REAL NOT NULL,
        site TEXT NOT NULL,
        kinds TEXT NOT NULL,
        significance REAL NOT NULL,
        difference BLOB NOT NULL,
        PRIMARY KEY (url, at)
    );
    CREATE INDEX changes_at ON changes (at);
    CREATE TABLE noise (site TEXT PRIMARY KEY, state BLOB NOT NULL)
    """,
    """
    CREATE TABLE uses (page INTEGER NOT NULL, resource INTEGER NOT NULL, PRIMARY KEY (page, resource));
    CREATE INDEX uses_resource ON uses (resource)
    """,
    """
    ALTER TABLE uses RENAME TO page_resources;
    DROP INDEX uses_resource;
    CREATE INDEX page_resources_resource ON page_resources (resource)
    """,
    _rename_keys,
    """
    UPDATE changes SET kinds = replace(kinds, 'behaviour', 'behavior')
    WHERE kinds <> replace(kinds, 'behaviour', 'behavior')
    """,
]

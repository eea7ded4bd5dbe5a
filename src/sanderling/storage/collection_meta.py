"""Facts about a collection as a whole: a typed record of the rows of table `meta`."""

from typing import Any, Generic, TypeVar, cast

import msgspec

from sanderling.db.connection import Connection

T = TypeVar("T")


class MetaField(Generic[T]):
    """A row of the table: a string as it is, any other value as JSON. A missing row has the default value."""

    def __init__(self, name: str, kind: type[T], default: T) -> None:
        self.name = name
        self.kind = kind
        self.default = default

    def __get__(self, meta: "CollectionMeta", _owner: type | None = None) -> T:
        row = meta.db.execute("SELECT value FROM meta WHERE name = ?", (self.name,)).fetchone()
        if row is None:
            return self.default
        if self.kind is str:
            return cast(T, str(row[0]))
        return msgspec.json.decode(row[0], type=self.kind, strict=False)  # not strict: booleans are stored as 0 and 1

    def __set__(self, meta: "CollectionMeta", value: T) -> None:
        text = str(value) if self.kind is str else msgspec.json.encode(int(value) if value in (True, False) else value)
        meta.db.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (self.name, text if isinstance(text, str) else text.decode()),
        )


class CollectionMeta:
    """Reads and writes a row at each access to an attribute."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    seeds = MetaField("seeds", list[str], [])
    seed_redirects = MetaField("arrivals", list[str], [])  # redirect targets of seeds, which are in scope
    watched_pages = MetaField("watched_pages", list[str], [])  # in scope without their sites
    session = MetaField("session", int, 1)
    is_complete = MetaField("complete", bool, False)
    finish_reason = MetaField("finish_reason", str, "")
    settings = MetaField("settings", dict[str, Any], {})  # of the last crawl, without secrets
    filter_rules = MetaField("rules", str, "")  # by which the last crawl skipped URLs
    fields = MetaField("fields", list[str], [])  # definitions of values to extract from pages
    own_hosts = MetaField("own_hosts", list[str], [])  # hosts whose robots.txt the last crawl ignored
    ordering = MetaField("order", str, "")
    topic = MetaField("topic", dict[str, float], {})
    drawn_depths = MetaField("drawn_depths", dict[str, int], {})  # by seed
    unrecorded_skips = MetaField("unlisted", int, 0)
    has_all_requisites = MetaField("has_all_requisites", bool, False)  # a complete pass queued those of every page
    refreshed_at = MetaField("refreshed", float, 0.0)  # end of the last refresh
    revisit_budget = MetaField("revisit_budget", str, "")  # of the last crawl or refresh
    blocked_patterns = MetaField("forgotten", list[str], [])  # of deleted URLs, which are never queued again
    is_deletion_unfinished = MetaField("forgetting", bool, False)
    age_selections = MetaField("forgetting_by_age", list[dict[str, Any]], [])  # of an unfinished deletion
    import_offsets = MetaField("import_offsets", dict[str, int], {})  # by fingerprint of the file; -1: complete

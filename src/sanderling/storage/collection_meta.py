"""Facts about a collection as a whole: a typed record of the rows of table `meta`."""

from typing import Any, Generic, TypeVar, cast

import msgspec

from sanderling.db.connection import Connection

T = TypeVar("T")


class MetaField(Generic[T]):
    """A row named after the attribute: a string as it is, any other value as JSON, the default without a row."""

    def __init__(self, kind: type[T], default: T) -> None:
        self.name = ""
        self.kind = kind
        self.default = default

    def __set_name__(self, _owner: type, name: str) -> None:
        self.name = name

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

    seeds = MetaField(list[str], [])
    seed_redirects = MetaField(list[str], [])  # redirect targets of seeds, which are in scope
    watched_pages = MetaField(list[str], [])  # in scope without their sites
    session = MetaField(int, 1)
    is_complete = MetaField(bool, False)
    finish_reason = MetaField(str, "")
    settings = MetaField(dict[str, Any], {})  # of the last crawl, without secrets
    filter_rules = MetaField(str, "")  # by which the last crawl skipped URLs
    fields = MetaField(list[str], [])  # definitions of values to extract from pages
    own_hosts = MetaField(list[str], [])  # hosts whose robots.txt the last crawl ignored
    ordering = MetaField(str, "")
    topic = MetaField(dict[str, float], {})
    drawn_depths = MetaField(dict[str, int], {})  # by seed
    unrecorded_skips = MetaField(int, 0)
    has_all_requisites = MetaField(bool, False)  # a complete pass queued those of every page
    refreshed_at = MetaField(float, 0.0)  # end of the last refresh
    revisit_budget = MetaField(str, "")  # of the last crawl or refresh
    blocked_patterns = MetaField(list[str], [])  # of deleted URLs, which are never queued again
    is_deletion_unfinished = MetaField(bool, False)
    age_selections = MetaField(list[dict[str, Any]], [])  # of an unfinished deletion
    import_first_pages = MetaField(dict[str, tuple[float, str]], {})  # time and URL of the first one by host
    import_offsets = MetaField(dict[str, int], {})  # by fingerprint of the file; -1: complete

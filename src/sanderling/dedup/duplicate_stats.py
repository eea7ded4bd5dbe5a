"""Duplicates in numbers, at both levels: links that lead to known URLs, and pages that are like another one."""

from collections.abc import Mapping

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.db.schema.dedup import is_dedup_schema_current

COUNT_NEAR_DUPLICATES = (
    "SELECT count(*) FROM near AS n JOIN pages AS p ON p.url = n.url WHERE p.status BETWEEN 200 AND 299"
)
LINK_COUNT, NEW_LINK_COUNT, CACHE_LOOKUP_COUNT, CACHE_HIT_COUNT, CACHE_EVICTION_COUNT = (
    "links",
    "new",
    "asked",
    "hits",
    "evicted",
)


class DuplicateStats(Struct, frozen=True):
    """What a collection knows of duplicates; the cache is that of all runs that ended."""

    links: int  # found on pages, each target once a page
    known_links: int  # of those, how many led to a URL met before
    cache_lookups: int  # URLs looked up, after those of one batch were made one
    cache_hits: int  # of those, how many needed no look at the disk
    cache_evictions: int
    identical_pages: int  # bodies that are those of another URL, to the byte
    near_duplicate_pages: int  # pages that read nearly like one met before
    noncanonical_pages: int  # pages that name another URL as theirs (rel=canonical)

    @property
    def known_link_share(self) -> float:
        """The share of links that led to known URLs."""
        return self.known_links / self.links if self.links else 0.0

    @property
    def cache_hit_ratio(self) -> float:
        """The share of look-ups answered from memory."""
        return self.cache_hits / self.cache_lookups if self.cache_lookups else 0.0


def add_counts(db: Connection, counts: Mapping[str, int]) -> None:
    """Add what was counted, in the transaction that is open."""
    db.executemany(
        "INSERT INTO tally VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET count = tally.count + excluded.count",
        list(counts.items()),
    )


def load_duplicate_stats(db: Connection) -> DuplicateStats:
    """Count what there is; nothing where a collection is older than this table."""
    known = db.execute("SELECT 1 FROM migrations WHERE room = 'dedupe'").fetchone() is not None
    tally = dict(db.execute("SELECT name, count FROM tally").fetchall()) if known else {}
    near = db.execute(COUNT_NEAR_DUPLICATES).fetchone()[0] if is_dedup_schema_current(db) else 0
    same, elsewhere = db.execute(
        "SELECT coalesce(sum(CASE WHEN p.duplicate_of > 0 THEN 1 ELSE 0 END), 0),"
        " coalesce(sum(CASE WHEN p.canonical <> '' AND p.canonical <> h.name || u.path THEN 1 ELSE 0 END), 0)"
        " FROM pages AS p JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host"
        " WHERE p.status BETWEEN 200 AND 299 AND u.role = 'page'"
    ).fetchone()
    links = tally.get(LINK_COUNT, 0)
    return DuplicateStats(
        links,
        max(0, links - tally.get(NEW_LINK_COUNT, 0)),
        tally.get(CACHE_LOOKUP_COUNT, 0),
        tally.get(CACHE_HIT_COUNT, 0),
        tally.get(CACHE_EVICTION_COUNT, 0),
        same,
        near,
        elsewhere,
    )

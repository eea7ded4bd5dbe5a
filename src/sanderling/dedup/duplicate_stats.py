"""Statistics of known links, identical pages and near duplicates."""

from collections.abc import Mapping

from msgspec import Struct

from sanderling.db.connection import Connection

COUNT_NEAR_DUPLICATES = (
    "SELECT count(*) FROM near_duplicates AS n JOIN pages AS p ON p.url = n.url WHERE p.status BETWEEN 200 AND 299"
)
LINK_COUNT, NEW_LINK_COUNT, CACHE_LOOKUP_COUNT, CACHE_HIT_COUNT, CACHE_EVICTION_COUNT = (
    "links",
    "new",
    "asked",
    "hits",
    "evicted",
)


class DuplicateStats(Struct, frozen=True):
    """Duplicate statistics; cache counters cover finished runs."""

    links: int  # links on pages; repeated targets of a page count once
    known_links: int  # links to URLs seen before
    cache_lookups: int  # URL lookups, after deduplication within a batch
    cache_hits: int  # lookups answered from memory
    cache_evictions: int
    identical_pages: int  # same body as another URL
    near_duplicate_pages: int  # near duplicates of an earlier page
    noncanonical_pages: int  # rel=canonical points to another URL

    @property
    def known_link_share(self) -> float:
        return self.known_links / self.links if self.links else 0.0

    @property
    def cache_hit_ratio(self) -> float:
        """Share of lookups answered from memory."""
        return self.cache_hits / self.cache_lookups if self.cache_lookups else 0.0


def add_counts(db: Connection, counts: Mapping[str, int]) -> None:
    """Add counters, in the open transaction."""
    db.executemany(
        "INSERT INTO duplicate_counts VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET count = duplicate_counts.count + excluded.count",
        list(counts.items()),
    )


def load_duplicate_stats(db: Connection) -> DuplicateStats:
    counts = dict(db.execute("SELECT name, count FROM duplicate_counts").fetchall())
    near_duplicates = db.execute(COUNT_NEAR_DUPLICATES).fetchone()[0]
    identical, noncanonical = db.execute(
        "SELECT coalesce(sum(CASE WHEN p.duplicate_of > 0 THEN 1 ELSE 0 END), 0),"
        " coalesce(sum(CASE WHEN p.canonical <> '' AND p.canonical <> h.name || u.path THEN 1 ELSE 0 END), 0)"
        " FROM pages AS p JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host"
        " WHERE p.status BETWEEN 200 AND 299 AND u.role = 'page'"
    ).fetchone()
    links = counts.get(LINK_COUNT, 0)
    return DuplicateStats(
        links,
        max(0, links - counts.get(NEW_LINK_COUNT, 0)),
        counts.get(CACHE_LOOKUP_COUNT, 0),
        counts.get(CACHE_HIT_COUNT, 0),
        counts.get(CACHE_EVICTION_COUNT, 0),
        identical,
        near_duplicates,
        noncanonical,
    )

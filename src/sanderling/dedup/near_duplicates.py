"""Maintain the near-duplicate pairs of stored pages.

New and changed pages are compared with the originals, then with their neighbors. The original is the page stored first.
A small first crawl pairs pages as they arrive, any other at its end.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.dedup.minhash_index import MAX_DISTANCE, MinhashIndex
from sanderling.fingerprint.minhash import SKETCH_SIZE, convert_distance_to_similarity

MAX_FLIP_PAGES = 300_000  # above it only equal bands are looked up, to keep lookups cheap
MAX_INCREMENTAL_PAGES = 20_000  # above it, lookups during the crawl would slow it down
MAX_NEIGHBORS = 32  # indexed neighbors per original; bounds the cost of a million similar pages
FROM_SKETCHES = (
    "FROM fingerprints AS m JOIN pages AS p ON p.url = m.url"
    f" WHERE m.kind = 'minhash' AND length(m.value) = {SKETCH_SIZE}"
    " AND p.status BETWEEN 200 AND 299 AND p.duplicate_of = 0"
)
SELECT_SKETCHES = f"SELECT m.url, m.value, p.visit {FROM_SKETCHES} ORDER BY m.url"
COUNT_SKETCHES = f"SELECT count(*) {FROM_SKETCHES}"
SELECT_PAIRS = (
    "SELECT n.url, n.original, n.distance FROM near_duplicates AS n JOIN pages AS p ON p.url = n.url"
    " JOIN pages AS o ON o.url = n.original"
    " WHERE p.status BETWEEN 200 AND 299 AND o.status BETWEEN 200 AND 299 ORDER BY n.url"
)


class NearDuplicatePair(Struct, frozen=True):
    """A page, the earlier page it duplicates, and their Hamming distance."""

    url: int
    duplicate_of: int
    distance: int

    @property
    def similarity(self) -> float:
        """Estimated Jaccard similarity (standard error 0.05)."""
        return round(convert_distance_to_similarity(self.distance), 2)


class PairUpdate(Struct, frozen=True):
    """New pairs, pages with an obsolete pair, and the last visit included."""

    last_visit_id: int
    lookup_count: int = 0
    obsolete_urls: list[int] = []
    pairs: list[NearDuplicatePair] = []


class OriginalIndex:
    """Originals, and the first near duplicates (neighbors) of each."""

    def __init__(self, max_distance: int = MAX_DISTANCE) -> None:
        self._max_distance = max_distance  # bits
        self._originals, self._neighbors = MinhashIndex(), MinhashIndex()
        self._neighbor_originals = array("I", [0])  # slot of the original, by slot of the neighbor
        self._neighbor_counts = bytearray(1)  # by slot of the original

    def add_original(self, url: int, sketch: int) -> int:
        """Add an original and return its slot (0: empty page)."""
        slot = self._originals.add(url, sketch)
        self._neighbor_counts += bytes(slot > 0)
        return slot

    def add_neighbor(self, url: int, sketch: int, original: int) -> None:
        """Add a neighbor of an original (slot), up to `MAX_NEIGHBORS`."""
        if self._neighbor_counts[original] < MAX_NEIGHBORS and self._neighbors.add(url, sketch):
            self._neighbor_counts[original] += 1
            self._neighbor_originals.append(original)

    def pair_page(self, url: int, sketch: int) -> NearDuplicatePair | None:
        """Index a page and return its pair, or None for an original."""
        flip_bits = len(self._originals) <= MAX_FLIP_PAGES
        if found := self._originals.find_nearest(sketch, self._max_distance, flip_bits):
            nearest, original = found
        elif found := self._neighbors.find_nearest(sketch, self._max_distance, flip_bits):
            nearest, original = found[0], self._neighbor_originals[found[1]]
        else:
            self.add_original(url, sketch)
            return None
        self.add_neighbor(url, sketch, original)
        return NearDuplicatePair(url, nearest.page, nearest.distance)


class IncrementalPairing:
    """Pairs pages during a first crawl."""

    def __init__(self, db: Connection) -> None:
        self._is_deferred = db.execute("SELECT 1 FROM pages LIMIT 1").fetchone() is not None
        self._index: OriginalIndex | None = None  # takes 6 MB; made with the first page
        self._pairs: list[NearDuplicatePair] = []
        self._lookup_count = 0

    def add(self, sketches: Sequence[tuple[int, bytes]]) -> None:
        """Pair new pages (page, sketch). A large crawl is deferred to `find_pairs`."""
        if self._lookup_count > MAX_INCREMENTAL_PAGES:
            self.defer()
        if not self._is_deferred:
            self._index = self._index or OriginalIndex()
            self._lookup_count += len(sketches)
            self._pairs += _pair_pages(
                self._index, [(url, int.from_bytes(sketch, "little")) for url, sketch in sketches]
            )

    def defer(self) -> None:
        """Leave pairing to `find_pairs`, e.g. if a page was fetched again."""
        self._is_deferred, self._index, self._pairs = True, None, []

    def get_update(self, db: Connection) -> PairUpdate | None:
        """Return the pairs. None: call `find_pairs`."""
        if self._is_deferred or db.execute(COUNT_SKETCHES).fetchone() != (self._lookup_count,):
            return None
        (last_visit_id,) = db.execute("SELECT coalesce(max(visit), 0) FROM pages").fetchone()
        return PairUpdate(last_visit_id, self._lookup_count, [], self._pairs)


def find_pairs(db: Connection, unchanged_since: Mapping[int, int] | None = None) -> PairUpdate:
    """Pair pages that are new or changed since the last update.

    `unchanged_since`: visit since which a page has the same text.
    """
    (last_visit_id,) = db.execute("SELECT coalesce(max(visit), 0) FROM near_duplicate_progress").fetchone()
    visited = dict(db.execute("SELECT url, visit FROM pages WHERE visit > ?", (last_visit_id,)).fetchall())
    if not visited:
        return PairUpdate(last_visit_id)
    changed = visited.keys() - {url for url, visit in (unchanged_since or {}).items() if visit <= last_visit_id}
    duplicate_of = dict(db.execute("SELECT url, original FROM near_duplicates").fetchall())
    obsolete = {url for url in duplicate_of if not changed.isdisjoint(_follow_pairs(url, duplicate_of))}
    index, pending, slots = OriginalIndex(), list[tuple[int, int, int]](), dict[int, int]()
    paired_originals = set(duplicate_of.values())
    for url, sketch, visit in db.execute(SELECT_SKETCHES):
        if url in changed or url in obsolete:
            pending.append((visit, url, int.from_bytes(sketch, "little")))
        elif url not in duplicate_of:
            slot = index.add_original(url, int.from_bytes(sketch, "little"))
            slots |= {url: slot} if url in paired_originals else {}
    for url, sketch, _ in db.execute(SELECT_SKETCHES) if slots else ():
        *_, original = _follow_pairs(url, duplicate_of)
        if original != url and original in slots and url not in changed and url not in obsolete:
            index.add_neighbor(url, int.from_bytes(sketch, "little"), slots[original])
    sketches = [(url, sketch) for _, url, sketch in sorted(pending)]
    return PairUpdate(max(visited.values()), len(pending), list(obsolete), list(_pair_pages(index, sketches)))


def _follow_pairs(url: int, pairs: Mapping[int, int]) -> Iterator[int]:
    """Yield a page and the pages it duplicates, up to the original."""
    yield url
    while url in pairs:
        url = pairs[url]
        yield url


def store_pairs(db: Connection, update: PairUpdate) -> None:
    """Store an update, in the open transaction."""
    db.executemany("DELETE FROM near_duplicates WHERE url = ?", [(url,) for url in update.obsolete_urls])
    db.executemany(
        "INSERT INTO near_duplicates VALUES (?, ?, ?)",
        [(pair.url, pair.duplicate_of, pair.distance) for pair in update.pairs],
    )
    db.execute("DELETE FROM near_duplicate_progress")
    db.execute("INSERT INTO near_duplicate_progress VALUES (?)", (update.last_visit_id,))


def _pair_pages(index: OriginalIndex, sketches: Iterable[tuple[int, int]]) -> Iterator[NearDuplicatePair]:
    return filter(None, (index.pair_page(url, sketch) for url, sketch in sketches))


def load_pairs(db: Connection) -> Iterator[NearDuplicatePair]:
    return (NearDuplicatePair(*row) for row in db.execute(SELECT_PAIRS))

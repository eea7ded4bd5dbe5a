"""Which stored pages read nearly like another one.

Workers compute the sketches (fingerprint/minhash.py). Pages that are new or changed since the last time are looked up
among the originals: pages that did not read like any before them. One that reads like an original is paired with it,
one that reads like none but like a page that does, with that. A first crawl does so while pages come, as long as they
are few; any other when it ends: only then is known what changed. Either way the original is the page that came first,
as it reads now.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.db.schema.dedup import is_dedup_schema_current
from sanderling.dedup.minhash_index import MAX_DISTANCE, MinhashIndex
from sanderling.fingerprint.minhash import SKETCH_SIZE, convert_distance_to_similarity

MAX_FLIP_PAGES = 300_000  # pages from which only equal bands are looked up: look-ups must stay cheap
MAX_INCREMENTAL_PAGES = 20_000  # pages that are looked up while they come; among more it would slow the crawl down
MAX_NEIGHBORS = (
    32  # pages around an original by which others are known: a million that read alike cost no more than others
)
SELECT_SKETCHES = (
    "SELECT m.url, m.value, p.visit FROM marks AS m JOIN pages AS p ON p.url = m.url"
    f" WHERE m.kind = 'minhash' AND length(m.value) = {SKETCH_SIZE} AND p.status BETWEEN 200 AND 299 AND p.duplicate_of = 0"
    " ORDER BY m.url"
)
COUNT_SKETCHES = (
    "SELECT count(*) FROM marks AS m JOIN pages AS p ON p.url = m.url"
    f" WHERE m.kind = 'minhash' AND length(m.value) = {SKETCH_SIZE} AND p.status BETWEEN 200 AND 299 AND p.duplicate_of = 0"
)
SELECT_PAIRS = (
    "SELECT n.url, n.twin, n.distance FROM near AS n JOIN pages AS p ON p.url = n.url"
    " JOIN pages AS t ON t.url = n.twin"
    " WHERE p.status BETWEEN 200 AND 299 AND t.status BETWEEN 200 AND 299 ORDER BY n.url"
)


class NearDuplicatePair(Struct, frozen=True):
    """A page, the one before it that it reads like, and in how many bits their sketches differ."""

    url: int
    duplicate_of: int
    distance: int

    @property
    def similarity(self) -> float:
        """Return the estimated Jaccard similarity of the two texts, to two decimals: its standard error is .05."""
        return round(convert_distance_to_similarity(self.distance), 2)


class PairUpdate(Struct, frozen=True):
    """What a look-up found: pairs, whom an older pair is no longer said of, and up to which visit it knows."""

    last_visit_id: int
    lookup_count: int = 0
    obsolete_urls: list[int] = []
    pairs: list[NearDuplicatePair] = []


class OriginalIndex:
    """The pages by which others are known: originals, and around each the first that read like it."""

    def __init__(self, max_distance: int = MAX_DISTANCE) -> None:
        self._max_distance = max_distance  # bits by which the sketches of near duplicates differ at most
        self._originals, self._neighbors = MinhashIndex(), MinhashIndex()
        self._neighbor_originals = array("I", [0])  # by the slot of a page beside an original: the slot of that
        self._neighbor_counts = bytearray(1)  # by the slot of an original: how many pages are around it

    def add_original(self, url: int, sketch: int) -> int:
        """Note a page that reads like none before it; give the slot by which it is known."""
        slot = self._originals.add(url, sketch)
        self._neighbor_counts += bytes(slot > 0)
        return slot

    def add_neighbor(self, url: int, sketch: int, original: int) -> None:
        """Note a page around an original, which is named by its slot, unless there are enough."""
        if self._neighbor_counts[original] < MAX_NEIGHBORS and self._neighbors.add(url, sketch):
            self._neighbor_counts[original] += 1
            self._neighbor_originals.append(original)

    def pair_page(self, url: int, sketch: int) -> NearDuplicatePair | None:
        """Pair a page with the nearest original, else with the nearest page beside one, and note it."""
        is_wide = len(self._originals) <= MAX_FLIP_PAGES
        if found := self._originals.find_nearest(sketch, self._max_distance, is_wide):
            twin, original = found
        elif found := self._neighbors.find_nearest(sketch, self._max_distance, is_wide):
            twin, original = found[0], self._neighbor_originals[found[1]]
        else:
            self.add_original(url, sketch)
            return None
        self.add_neighbor(url, sketch, original)
        return NearDuplicatePair(url, twin.page, twin.distance)


class IncrementalPairing:
    """Pairs the pages of a first crawl while they come: at its end nothing else is done meanwhile."""

    def __init__(self, db: Connection) -> None:
        is_first = db.execute("SELECT 1 FROM pages LIMIT 1").fetchone() is None
        self._index = OriginalIndex() if is_first else None
        self._pairs: list[NearDuplicatePair] = []
        self._lookup_count = 0

    def add(self, sketches: Sequence[tuple[int, bytes]]) -> None:
        """Look new pages up, each with its mark; a crawl that grows large leaves it to its end after all."""
        if self._lookup_count > MAX_INCREMENTAL_PAGES:
            self.defer()
        if self._index is not None:
            self._lookup_count += len(sketches)
            self._pairs += _pair_pages(self._index, [(url, int.from_bytes(mark, "little")) for url, mark in sketches])

    def defer(self) -> None:
        """Leave all to a look-up at the end, as where a page came again: what was said of it may no longer hold."""
        self._index, self._pairs = None, []

    def get_update(self, db: Connection) -> PairUpdate | None:
        """What was found; None if all must be looked up, as where pages came that were not stored after all."""
        if self._index is None or db.execute(COUNT_SKETCHES).fetchone() != (self._lookup_count,):
            return None
        (until,) = db.execute("SELECT coalesce(max(visit), 0) FROM pages").fetchone()
        return PairUpdate(until, self._lookup_count, [], self._pairs)


def find_pairs(db: Connection, unchanged_since: Mapping[int, int] | None = None) -> PairUpdate:
    """Look up the pages that came or changed since the last time.

    `rereads` are pages that read as at the visit it names: what was said of them then still holds.
    """
    (until,) = db.execute("SELECT coalesce(max(visit), 0) FROM near_until").fetchone()
    came = dict(db.execute("SELECT url, visit FROM pages WHERE visit > ?", (until,)).fetchall())
    if not came:
        return PairUpdate(until)
    touched = came.keys() - {url for url, visit in (unchanged_since or {}).items() if visit <= until}
    said = dict(db.execute("SELECT url, twin FROM near").fetchall())
    apart = {url for url in said if not touched.isdisjoint(_follow_pairs(url, said))}
    known, asked, slots = OriginalIndex(), list[tuple[int, int, int]](), dict[int, int]()
    followed = set(said.values())
    for url, mark, visit in db.execute(SELECT_SKETCHES):
        if url in touched or url in apart:
            asked.append((visit, url, int.from_bytes(mark, "little")))
        elif url not in said:
            slot = known.add_original(url, int.from_bytes(mark, "little"))
            slots |= {url: slot} if url in followed else {}
    for url, mark, _ in db.execute(SELECT_SKETCHES) if slots else ():
        *_, original = _follow_pairs(url, said)
        if original != url and original in slots and url not in touched and url not in apart:
            known.add_neighbor(url, int.from_bytes(mark, "little"), slots[original])
    arrived = [(url, mark) for _, url, mark in sorted(asked)]
    return PairUpdate(max(came.values()), len(asked), list(apart), list(_pair_pages(known, arrived)))


def _follow_pairs(url: int, pairs: Mapping[int, int]) -> Iterator[int]:
    """Go from a page to the one it reads like, and on to the original."""
    yield url
    while url in pairs:
        url = pairs[url]
        yield url


def store_pairs(db: Connection, update: PairUpdate) -> None:
    """Keep what a look-up found, in the transaction that is open."""
    db.executemany("DELETE FROM near WHERE url = ?", [(url,) for url in update.obsolete_urls])
    db.executemany(
        "INSERT INTO near VALUES (?, ?, ?)", [(pair.url, pair.duplicate_of, pair.distance) for pair in update.pairs]
    )
    db.execute("DELETE FROM near_until")
    db.execute("INSERT INTO near_until VALUES (?)", (update.last_visit_id,))


def _pair_pages(index: OriginalIndex, sketches: Iterable[tuple[int, int]]) -> Iterator[NearDuplicatePair]:
    """Pair pages in the order in which they came."""
    return filter(None, (index.pair_page(url, mark) for url, mark in sketches))


def load_pairs(db: Connection) -> Iterator[NearDuplicatePair]:
    """All pages known to read nearly like another one; none where nobody looked yet."""
    if is_dedup_schema_current(db):
        for row in db.execute(SELECT_PAIRS):
            yield NearDuplicatePair(*row)

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
from sanderling.db.schema.dedup import is_current
from sanderling.dedup.minhash_index import NEAR, NearIndex
from sanderling.fingerprint.minhash import SIZE, similarity_of_distance

MANY = 300_000  # pages from which only equal bands are looked up: look-ups must stay cheap
SMALL = 20_000  # pages that are looked up while they come; among more it would slow the crawl down
BESIDE = 32  # pages around an original by which others are known: a million that read alike cost no more than others
MARKS = (
    "SELECT m.url, m.value, p.visit FROM marks AS m JOIN pages AS p ON p.url = m.url"
    f" WHERE m.kind = 'minhash' AND length(m.value) = {SIZE} AND p.status BETWEEN 200 AND 299 AND p.duplicate_of = 0"
    " ORDER BY m.url"
)
MARKED = (
    "SELECT count(*) FROM marks AS m JOIN pages AS p ON p.url = m.url"
    f" WHERE m.kind = 'minhash' AND length(m.value) = {SIZE} AND p.status BETWEEN 200 AND 299 AND p.duplicate_of = 0"
)
NEAR_NOW = (
    "SELECT n.url, n.twin, n.distance FROM near AS n JOIN pages AS p ON p.url = n.url"
    " JOIN pages AS t ON t.url = n.twin"
    " WHERE p.status BETWEEN 200 AND 299 AND t.status BETWEEN 200 AND 299 ORDER BY n.url"
)


class Pair(Struct, frozen=True):
    """A page, the one before it that it reads like, and in how many bits their sketches differ."""

    url: int
    twin: int
    distance: int

    @property
    def similarity(self) -> float:
        """Return the estimated Jaccard similarity of the two texts, to two decimals: its standard error is .05."""
        return round(similarity_of_distance(self.distance), 2)


class News(Struct, frozen=True):
    """What a look-up found: pairs, whom an older pair is no longer said of, and up to which visit it knows."""

    until: int
    asked: int = 0
    apart: list[int] = []
    pairs: list[Pair] = []


class Known:
    """The pages by which others are known: originals, and around each the first that read like it."""

    def __init__(self, limit: int = NEAR) -> None:
        self._limit = limit  # bits by which the sketches of near duplicates differ at most
        self._originals, self._beside = NearIndex(), NearIndex()
        self._around = array("I", [0])  # by the slot of a page beside an original: the slot of that
        self._counts = bytearray(1)  # by the slot of an original: how many pages are around it

    def add_original(self, url: int, mark: int) -> int:
        """Note a page that reads like none before it; give the slot by which it is known."""
        slot = self._originals.add(url, mark)
        self._counts += bytes(slot > 0)
        return slot

    def add_beside(self, url: int, mark: int, original: int) -> None:
        """Note a page around an original, which is named by its slot, unless there are enough."""
        if self._counts[original] < BESIDE and self._beside.add(url, mark):
            self._counts[original] += 1
            self._around.append(original)

    def pair(self, url: int, mark: int) -> Pair | None:
        """Pair a page with the nearest original, else with the nearest page beside one, and note it."""
        is_wide = len(self._originals) <= MANY
        if found := self._originals.nearest(mark, self._limit, is_wide):
            twin, original = found
        elif found := self._beside.nearest(mark, self._limit, is_wide):
            twin, original = found[0], self._around[found[1]]
        else:
            self.add_original(url, mark)
            return None
        self.add_beside(url, mark, original)
        return Pair(url, twin.page, twin.distance)


class Pairing:
    """Pairs the pages of a first crawl while they come: at its end nothing else is done meanwhile."""

    def __init__(self, db: Connection) -> None:
        is_first = db.execute("SELECT 1 FROM pages LIMIT 1").fetchone() is None
        self._known = Known() if is_first else None
        self._pairs: list[Pair] = []
        self._asked = 0

    def take(self, marks: Sequence[tuple[int, bytes]]) -> None:
        """Look new pages up, each with its mark; a crawl that grows large leaves it to its end after all."""
        if self._asked > SMALL:
            self.give_up()
        if self._known is not None:
            self._asked += len(marks)
            self._pairs += _pairs(self._known, [(url, int.from_bytes(mark, "little")) for url, mark in marks])

    def give_up(self) -> None:
        """Leave all to a look-up at the end, as where a page came again: what was said of it may no longer hold."""
        self._known, self._pairs = None, []

    def found(self, db: Connection) -> News | None:
        """What was found; None if all must be looked up, as where pages came that were not stored after all."""
        if self._known is None or db.execute(MARKED).fetchone() != (self._asked,):
            return None
        (until,) = db.execute("SELECT coalesce(max(visit), 0) FROM pages").fetchone()
        return News(until, self._asked, [], self._pairs)


def look_up(db: Connection, rereads: Mapping[int, int] | None = None) -> News:
    """Look up the pages that came or changed since the last time.

    `rereads` are pages that read as at the visit it names: what was said of them then still holds.
    """
    (until,) = db.execute("SELECT coalesce(max(visit), 0) FROM near_until").fetchone()
    came = dict(db.execute("SELECT url, visit FROM pages WHERE visit > ?", (until,)).fetchall())
    if not came:
        return News(until)
    touched = came.keys() - {url for url, visit in (rereads or {}).items() if visit <= until}
    said = dict(db.execute("SELECT url, twin FROM near").fetchall())
    apart = {url for url in said if not touched.isdisjoint(_way(url, said))}
    known, asked, slots = Known(), list[tuple[int, int, int]](), dict[int, int]()
    followed = set(said.values())
    for url, mark, visit in db.execute(MARKS):
        if url in touched or url in apart:
            asked.append((visit, url, int.from_bytes(mark, "little")))
        elif url not in said:
            slot = known.add_original(url, int.from_bytes(mark, "little"))
            slots |= {url: slot} if url in followed else {}
    for url, mark, _ in db.execute(MARKS) if slots else ():
        *_, original = _way(url, said)
        if original != url and original in slots and url not in touched and url not in apart:
            known.add_beside(url, int.from_bytes(mark, "little"), slots[original])
    arrived = [(url, mark) for _, url, mark in sorted(asked)]
    return News(max(came.values()), len(asked), list(apart), list(_pairs(known, arrived)))


def _way(url: int, said: Mapping[int, int]) -> Iterator[int]:
    """Go from a page to the one it reads like, and on to the original."""
    yield url
    while url in said:
        url = said[url]
        yield url


def write_down(db: Connection, news: News) -> None:
    """Keep what a look-up found, in the transaction that is open."""
    db.executemany("DELETE FROM near WHERE url = ?", [(url,) for url in news.apart])
    db.executemany("INSERT INTO near VALUES (?, ?, ?)", [(pair.url, pair.twin, pair.distance) for pair in news.pairs])
    db.execute("DELETE FROM near_until")
    db.execute("INSERT INTO near_until VALUES (?)", (news.until,))


def _pairs(known: Known, asked: Iterable[tuple[int, int]]) -> Iterator[Pair]:
    """Pair pages in the order in which they came."""
    return filter(None, (known.pair(url, mark) for url, mark in asked))


def near(db: Connection) -> Iterator[Pair]:
    """All pages known to read nearly like another one; none where nobody looked yet."""
    if is_current(db):
        for row in db.execute(NEAR_NOW):
            yield Pair(*row)

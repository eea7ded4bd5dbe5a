"""Which stored pages read nearly like another one.

The migrants left the marks (simhash). Pages that are new or changed since the last time are looked up among the
originals: pages that did not read like any before them. One that reads like an original is paired with it. A first
crawl does so while pages come, as long as they are few; any other when it ends: only then is known what changed. Either
way the original is the page that came first, as it reads now.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from sanderling.database import Connection
from sanderling.dedupe.near import BANDS, NEAR, NearIndex

MANY = 300_000  # pages from which only those at most three bits apart are sure to be found: look-ups must stay cheap
SMALL = 20_000  # pages that are looked up while they come; among more it would slow the crawl down
MARKS = (
    "SELECT m.url, m.value, p.visit FROM marks AS m JOIN pages AS p ON p.url = m.url"
    " WHERE m.kind = 'simhash' AND p.status BETWEEN 200 AND 299 AND p.duplicate_of = 0 ORDER BY m.url"
)
MARKED = (
    "SELECT count(*) FROM marks AS m JOIN pages AS p ON p.url = m.url"
    " WHERE m.kind = 'simhash' AND p.status BETWEEN 200 AND 299 AND p.duplicate_of = 0"
)
NEAR_NOW = (
    "SELECT n.url, n.twin, n.distance FROM near AS n JOIN pages AS p ON p.url = n.url"
    " JOIN pages AS t ON t.url = n.twin"
    " WHERE p.status BETWEEN 200 AND 299 AND t.status BETWEEN 200 AND 299 ORDER BY n.url"
)


class Pair(Struct, frozen=True):
    """A page, the original it reads like, and in how many bits their marks differ."""

    url: int
    twin: int
    distance: int


class News(Struct, frozen=True):
    """What a look-up found: pairs, whom an older pair is no longer said of, and up to which visit it knows."""

    until: int
    asked: int = 0
    apart: list[int] = []
    pairs: list[Pair] = []


class Pairing:
    """Pairs the pages of a first crawl while they come: at its end nothing else is done meanwhile."""

    def __init__(self, db: Connection) -> None:
        is_first = db.execute("SELECT 1 FROM pages LIMIT 1").fetchone() is None
        self._index = NearIndex() if is_first else None
        self._pairs: list[Pair] = []
        self._asked = 0

    def take(self, marks: Sequence[tuple[int, bytes]]) -> None:
        """Look new pages up, each with its mark; a crawl that grows large leaves it to its end after all."""
        if self._asked > SMALL:
            self.give_up()
        if self._index is not None:
            self._asked += len(marks)
            self._pairs += _pairs(self._index, [(url, int.from_bytes(mark, "big")) for url, mark in marks])

    def give_up(self) -> None:
        """Leave all to a look-up at the end, as where a page came again: what was said of it may no longer hold."""
        self._index, self._pairs = None, []

    def found(self, db: Connection) -> News | None:
        """What was found; None if all must be looked up, as where pages came that were not stored after all."""
        if self._index is None or db.execute(MARKED).fetchone() != (self._asked,):
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
    said = db.execute("SELECT url, twin FROM near").fetchall()
    apart = {url for url, twin in said if url in touched or twin in touched}
    paired = {url for url, _ in said} - apart
    index, asked = NearIndex(), list[tuple[int, int, int]]()
    for url, mark, visit in db.execute(MARKS):
        if url in touched or url in apart:
            asked.append((visit, url, int.from_bytes(mark, "big")))
        elif url not in paired:
            index.add(url, int.from_bytes(mark, "big"))
    arrived = [(url, mark) for _, url, mark in sorted(asked)]
    return News(max(came.values()), len(asked), list(apart), list(_pairs(index, arrived)))


def write_down(db: Connection, news: News) -> None:
    """Keep what a look-up found, in the transaction that is open."""
    db.executemany("DELETE FROM near WHERE url = ?", [(url,) for url in news.apart])
    db.executemany("INSERT INTO near VALUES (?, ?, ?)", [(pair.url, pair.twin, pair.distance) for pair in news.pairs])
    db.execute("DELETE FROM near_until")
    db.execute("INSERT INTO near_until VALUES (?)", (news.until,))


def _pairs(index: NearIndex, asked: Iterable[tuple[int, int]]) -> Iterator[Pair]:
    """Pair each page with the nearest original; one that has none is an original itself from now on.

    Only originals are in the index, so a million pages that read alike cost no more than others.
    """
    for url, mark in asked:
        twins = index.find(mark, NEAR if len(index) <= MANY else BANDS - 1)
        if twins:
            yield Pair(url, twins[0].page, twins[0].distance)
        else:
            index.add(url, mark)


def near(db: Connection) -> Iterator[Pair]:
    """All pages known to read nearly like another one; none where nobody looked yet."""
    if db.execute("SELECT 1 FROM migrations WHERE room = 'dedupe'").fetchone():
        for row in db.execute(NEAR_NOW):
            yield Pair(*row)

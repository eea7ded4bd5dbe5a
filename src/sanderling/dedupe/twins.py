"""Which stored pages read nearly like another one: brought up to date when a run ends, not while it fetches.

The migrants left the marks (simhash). Pages that are new or changed since the last time are looked up among the
originals: pages that did not read like any before them. One that reads like an original is paired with it.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from sanderling.database import Connection
from sanderling.dedupe.near import BANDS, NEAR, NearIndex

MANY = 300_000  # pages from which only those at most three bits apart are sure to be found: look-ups must stay cheap
MARKS = (
    "SELECT m.url, m.value FROM marks AS m JOIN pages AS p ON p.url = m.url"
    " WHERE m.kind = 'simhash' AND p.status = 200 AND p.duplicate_of = 0 ORDER BY m.url"
)
NEAR_NOW = (
    "SELECT n.url, n.twin, n.distance FROM near AS n JOIN pages AS p ON p.url = n.url"
    " WHERE p.status = 200 ORDER BY n.url"
)
CHUNK = 400


class Pair(Struct, frozen=True):
    """A page, the original it reads like, and in how many bits their marks differ."""

    url: int
    twin: int
    distance: int


def catch_up(db: Connection, rereads: Mapping[int, int] | None = None) -> int:
    """Look up the pages that came or changed since the last time; say how many. Call it in a transaction.

    `rereads` are pages that read as at the visit it names: what was said of them then still holds.
    """
    (until,) = db.execute("SELECT coalesce(max(visit), 0) FROM near_until").fetchone()
    (last,) = db.execute("SELECT coalesce(max(visit), 0) FROM pages").fetchone()
    if last <= until:
        return 0
    same = {url for url, visit in (rereads or {}).items() if visit <= until}
    touched = {url for (url,) in db.execute("SELECT url FROM pages WHERE visit > ?", (until,))} - same
    lonely = _forget(db, touched)
    paired = {url for (url,) in db.execute("SELECT url FROM near")}
    index, asked = NearIndex(), list[tuple[int, int]]()
    for url, mark in db.execute(MARKS):
        number = int.from_bytes(mark, "big")
        if url in touched or url in lonely:
            asked.append((url, number))
        elif url not in paired:
            index.add(url, number)
    found = [(pair.url, pair.twin, pair.distance) for pair in _pairs(index, asked)]
    db.executemany("INSERT INTO near VALUES (?, ?, ?)", found)
    db.execute("DELETE FROM near_until")
    db.execute("INSERT INTO near_until VALUES (?)", (last,))
    return len(asked)


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


def _forget(db: Connection, pages: Iterable[int]) -> set[int]:
    """Take back what was said of these pages; give those that were said to read like them."""
    lonely: set[int] = set()
    wanted = sorted(pages)
    for start in range(0, len(wanted), CHUNK):
        part = wanted[start : start + CHUNK]
        places = ",".join("?" * len(part))
        lonely.update(url for (url,) in db.execute(f"SELECT url FROM near WHERE twin IN ({places})", part))
        db.execute(f"DELETE FROM near WHERE url IN ({places}) OR twin IN ({places})", (*part, *part))
    return lonely


def near(db: Connection) -> Iterator[Pair]:
    """All pages known to read nearly like another one; none where nobody looked yet."""
    if db.execute("SELECT 1 FROM migrations WHERE room = 'dedupe'").fetchone():
        for row in db.execute(NEAR_NOW):
            yield Pair(*row)

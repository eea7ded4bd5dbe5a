"""Which stored pages read nearly like another one: brought up to date when a run ends, not while it fetches.

The migrants left the marks (simhash). All go into the index, and only pages that are new or changed since the last time
are looked up. Of two pages that read nearly the same, the one met first is the original.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from sanderling.database import Connection
from sanderling.dedupe.near import BANDS, NEAR, NearIndex

MANY = 300_000  # pages from which only those at most three bits apart are sure to be found: look-ups must stay cheap
MARKS = (
    "SELECT m.url, m.value, p.visit FROM marks AS m JOIN pages AS p ON p.url = m.url"
    " WHERE m.kind = 'simhash' AND p.status = 200 AND p.duplicate_of = 0 ORDER BY m.url"
)
CHUNK = 400


class Pair(Struct, frozen=True):
    """A page, the one met earlier that it reads like, and in how many bits their marks differ."""

    url: int
    twin: int
    distance: int


def catch_up(db: Connection) -> int:
    """Look up the pages that came or changed since the last time; say how many. Call it in a transaction."""
    (until,) = db.execute("SELECT coalesce(max(visit), 0) FROM near_until").fetchone()
    (last,) = db.execute("SELECT coalesce(max(visit), 0) FROM pages").fetchone()
    if last <= until:
        return 0
    rows = [(url, int.from_bytes(mark, "big"), visit) for url, mark, visit in db.execute(MARKS)]
    fresh = {url for url, _, visit in rows if visit > until}
    asked = fresh | _forget(db, fresh) if until else fresh
    found = _pairs([(url, mark) for url, mark, _ in rows], asked)
    db.executemany(
        "INSERT INTO near VALUES (?, ?, ?) ON CONFLICT (url) DO UPDATE SET twin = excluded.twin,"
        " distance = excluded.distance",
        [(pair.url, pair.twin, pair.distance) for pair in found],
    )
    db.execute("DELETE FROM near_until")
    db.execute("INSERT INTO near_until VALUES (?)", (last,))
    return len(asked)


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


def _pairs(marks: list[tuple[int, int]], asked: set[int]) -> list[Pair]:
    """The nearest earlier page of each that has one; pages asked for may be the earlier ones too."""
    index, first = NearIndex(), dict[int, int]()
    for url, mark in marks:
        if first.setdefault(mark, url) == url:
            index.add(url, mark)
    same = [Pair(url, first[mark], 0) for url, mark in marks if mark and url != first[mark]]
    within = NEAR if len(first) <= MANY else BANDS - 1
    best: dict[int, Pair] = {}
    for mark, url in first.items():
        if url in asked:
            for twin in index.find(mark, within):
                later, earlier = max(url, twin.page), min(url, twin.page)
                known = best.get(later)
                if later != earlier and (known is None or (twin.distance, earlier) < (known.distance, known.twin)):
                    best[later] = Pair(later, earlier, twin.distance)
    return [*same, *best.values()]


def near(db: Connection) -> Iterator[Pair]:
    """All pages known to read nearly like another one; none where nobody looked yet."""
    if db.execute("SELECT 1 FROM migrations WHERE room = 'dedupe'").fetchone():
        for row in db.execute("SELECT url, twin, distance FROM near ORDER BY url"):
            yield Pair(*row)

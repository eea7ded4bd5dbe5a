"""What a crawler is shown: rows of the store in the right order, a page at a time (DPS-3, DPS-4).

The list of changes is ordered by live priority, highest first, deletions last. Priorities move while a crawler pages
through, so a page that climbs past the place reached so far would be missed: after the ordered part comes a part with
all that was viewed since the first answer. A page may thus be named twice, but never not at all.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from sanderling.publisher.priority import priority
from sanderling.publisher.state_db import Connection, Facts

PART = 50_000  # entries of one file of a large sitemap: the most the protocol allows
FEW = 20_000  # up to here it is cheaper to sort what changed than to walk all pages by priority

LIVE = "deleted = 0 AND hidden = 0"
COLUMNS = "id, path, modified, created, noticed, score, deleted"
CHANGED = "noticed > :since AND noticed <= :until"


@dataclass(frozen=True, slots=True)
class Entry:
    """One page as it is listed."""

    path: str
    modified: int
    priority: float
    change: str = ""  # created, updated or deleted; empty in the plain sitemap


@dataclass(frozen=True, slots=True)
class Place:
    """Where the next page of a list of changes begins; also what its link carries."""

    phase: str = "ordered"  # then "climbed", then "deleted"
    score: float = 0.0
    id: int = 0
    until: int = 0  # stamp of the first answer; 0 before there was one

    def __str__(self) -> str:
        return f"{self.phase},{self.score!r},{self.id},{self.until}"


def read_place(text: str) -> Place | None:
    """Read the place in a link; None if it is none of ours."""
    parts = text.split(",")
    if len(parts) != 4 or parts[0] not in ("ordered", "climbed", "deleted"):
        return None
    try:
        place = Place(parts[0], float(parts[1]), int(parts[2][:18]), int(parts[3][:18]))  # SQLite counts to 2^63
    except ValueError:
        return None
    return place if place.until > 0 else None


@dataclass(frozen=True, slots=True)
class Wish:
    """What a crawler asks for."""

    since: int
    threshold: float = -1.0  # pages must have a priority above this
    limit: int = 10_000
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Page:
    """One page of changes, and where the next begins (None: this was the last)."""

    entries: list[Entry]
    until: int
    next: Place | None


def top_score(db: Connection) -> float:
    """Find the highest score of any listed page."""
    row = db.execute(
        f"SELECT score FROM pages INDEXED BY pages_live WHERE {LIVE} ORDER BY score DESC LIMIT 1"
    ).fetchone()
    return float(row[0]) if row else 0.0


def changes(db: Connection, known: Facts, wish: Wish) -> Page:
    """Give what changed after `since`, from the wished place on."""
    place = wish.place if 0 < wish.place.until <= known.stamp else replace(wish.place, until=known.stamp)
    entries: list[Entry] = []
    walk = _walk(db, known, wish, place)
    for entry, here in islice(walk, wish.limit):
        entries.append(entry)
        place = here
    more = next(walk, None) is not None
    return Page(entries, place.until, place if more else None)


def _walk(db: Connection, known: Facts, wish: Wish, start: Place) -> Iterator[tuple[Entry, Place]]:
    """Go through the three phases from a place on."""
    top = top_score(db)
    bounds = {"since": wish.since, "until": start.until, "score": start.score, "id": start.id}
    phases = ("ordered", "climbed", "deleted")
    for phase in phases[phases.index(start.phase) :]:
        if phase != start.phase:
            bounds |= {"score": 0.0, "id": 0}
        elif phase == "ordered" and start.id == 0:
            bounds["score"] = float("inf")
        if phase == "climbed" and start.until == known.stamp:
            continue  # nothing was written since the first answer
        for row in db.execute(_query(db, phase, bounds), bounds):
            entry = _entry(row, wish.since, known.formula, top)
            if phase != "deleted" and entry.priority <= wish.threshold:
                if phase == "ordered":
                    break  # all that follow are lower
                continue
            yield entry, Place(phase, row[5], row[0], start.until)


def _query(db: Connection, phase: str, bounds: dict[str, float]) -> str:
    rows = f"SELECT {COLUMNS} FROM pages INDEXED BY"
    if phase == "climbed":
        return f"{rows} pages_noticed WHERE {CHANGED} AND {LIVE} AND hit_at > :until AND id > :id ORDER BY id"
    if phase == "deleted":
        return f"{rows} pages_gone WHERE {CHANGED} AND deleted = 1 AND hidden = 0 AND id > :id ORDER BY id"
    few = db.execute(f"SELECT count(*) FROM (SELECT 1 FROM pages WHERE {CHANGED} LIMIT {FEW})", bounds).fetchone()[0]
    index = "pages_noticed" if few < FEW else "pages_live"
    after = "(score < :score OR (score = :score AND id > :id))"
    return f"{rows} {index} WHERE {CHANGED} AND {LIVE} AND {after} ORDER BY score DESC, id"


def _entry(row: tuple[int, str, int, int, int, float, int], since: int, formula: str, top: float) -> Entry:
    _, path, modified, created, _, score, deleted = row
    if deleted:
        return Entry(path, modified, 0.0, "deleted")
    return Entry(path, modified, priority(formula, score, top), "created" if created > since else "updated")


def parts(db: Connection) -> list[tuple[int, int]]:
    """Number the files of the sitemap, each with the time its newest page changed."""
    (last,) = db.execute("SELECT max(id) FROM pages").fetchone()
    newest = "SELECT max(modified) FROM pages INDEXED BY pages_part WHERE id / 50000 = ? AND " + LIVE
    found = ((part, db.execute(newest, (part,)).fetchone()[0]) for part in range((last or 0) // PART + 1))
    return [(part, modified) for part, modified in found if modified is not None]


def sitemap(db: Connection, known: Facts, part: int) -> Iterator[Entry]:
    """Give the pages of one file of the sitemap with their live priorities."""
    top = top_score(db)
    rows = db.execute(
        f"SELECT path, modified, score FROM pages WHERE id >= ? AND id < ? AND {LIVE} ORDER BY id",
        (part * PART, (part + 1) * PART),
    )
    for path, modified, score in rows:
        yield Entry(path, modified, priority(known.formula, score, top))

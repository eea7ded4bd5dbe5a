"""Pages whose stored records are lost: forget their digests and validators, so that they can be fetched again.

A page keeps its row, its history and its fingerprints. Without a digest and validators the next request for it is
unconditional, and its body is stored in full.
"""

from collections.abc import Iterable

from sanderling.db.connection import Connection
from sanderling.warc.records import Place
from sanderling.warc.repair import Repair

BEHIND = "SELECT v.id FROM visits AS v JOIN files AS f ON f.id = v.file WHERE f.name = ? AND v.length > 0"


def visits_beyond(db: Connection, file: str, end: int) -> list[int]:
    """Return the visits whose records end behind this offset of a WARC file."""
    return [id_ for (id_,) in db.execute(f"{BEHIND} AND v.start + v.length > ?", (file, end))]


def visits_at(db: Connection, places: Iterable[Place]) -> list[int]:
    """Return the visits whose records overlap these stretches of WARC files; a length of 0 means up to the end."""
    found: list[int] = []
    for place in places:
        end = place.offset + place.length if place.length else 2**62
        rows = db.execute(f"{BEHIND} AND v.start < ? AND v.start + v.length > ?", (place.file, end, place.offset))
        found += [id_ for (id_,) in rows]
    return found


def pages_of(db: Connection, visits: Iterable[int]) -> list[int]:
    """Return the pages whose last version is in the records of these visits, or repeats a body stored in them."""
    lost = set(visits)
    bodies = {
        digest
        for visit, digest in db.execute("SELECT v.id, v.digest FROM digests AS d JOIN visits AS v ON v.id = d.visit")
        if visit in lost
    }
    rows = db.execute("SELECT url, visit, digest FROM pages WHERE digest <> ?", (b"",))
    return [url for url, visit, digest in rows if visit in lost or digest in bodies]


def forget_records(db: Connection, visits: list[int]) -> list[int]:
    """Forget digests and validators of the pages in these lost records; return the pages, to be queued."""
    pages = pages_of(db, visits)
    db.executemany("DELETE FROM digests WHERE visit = ?", [(visit,) for visit in visits])
    db.executemany(
        "UPDATE pages SET digest = ?, etag = '', last_modified = '' WHERE url = ?", [(b"", url) for url in pages]
    )
    db.executemany("UPDATE visits SET file = 0, start = 0, length = 0 WHERE id = ?", [(visit,) for visit in visits])
    return pages


def forget_missing(db: Connection, repairs: Iterable[Repair]) -> dict[str, list[int]]:
    """Forget the pages of WARC files that are shorter than was committed; return the pages by file."""
    lost: dict[str, list[int]] = {}
    for repair in repairs:
        if repair.missing:
            lost[repair.file] = forget_records(db, visits_beyond(db, repair.file, repair.now))
            db.execute("UPDATE files SET committed = ? WHERE name = ?", (repair.now, repair.file))
    return lost


def describe_lost(file: str, pages: int) -> str:
    """Return the sentence for a person about the pages that a damaged WARC file has lost."""
    return f"{file} is shorter than was stored: {pages:,} pages in it are lost and will be fetched again"

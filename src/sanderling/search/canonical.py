"""Which of several pages that read alike stands in the index for all of them.

A copy to the byte gives way to its original; where that is away, to the first of the other copies. A page that names
another as the one to show (rel=canonical) gives way to that if it is there, names no third, and reads nearly the same:
a declaration that a site copied onto all its pages hides none of them.
"""

from collections.abc import Iterable, Mapping, Sequence

from sanderling.db.connection import Connection, transaction
from sanderling.dedup.minhash_index import MIN_SIMILARITY
from sanderling.fingerprint.minhash import estimate_similarity
from sanderling.search.pending_visits import PendingVisit
from sanderling.storage.queries import find_url_id

CANONICAL_SQL = """
    SELECT a.value, b.value FROM pages AS p JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host
         JOIN marks AS a ON a.url = p.url AND a.kind = 'minhash' JOIN marks AS b ON b.url = ? AND b.kind = 'minhash'
    WHERE p.url = ? AND p.noindex = 0 AND p.misses = 0 AND p.status BETWEEN 200 AND 299
          AND p.canonical IN ('', h.name || u.path)
"""


def find_originals(db: Connection, rows: Iterable[PendingVisit], urls: Mapping[int, str]) -> dict[int, int]:
    """For each page that is a copy, or says so: the page it is a copy of."""
    found: dict[int, int] = {}
    for row in rows:
        if row.original_id:
            found[row.url_id] = row.original_id
        elif row.canonical not in ("", urls[row.url_id]) and (named := find_url_id(db, row.canonical)):
            found[row.url_id] = named
    return found


def find_non_canonical(db: Connection, rows: Sequence[PendingVisit], urls: Mapping[int, str]) -> set[int]:
    """Say for which of these pages another one stands; the copies of one page must be among them together."""
    named, first, away = find_originals(db, rows, urls), dict[tuple[int, bytes], int](), set[int]()
    for row in sorted(rows, key=lambda row: (row.canonical != urls[row.url_id], row.url_id)):
        if row.is_excluded:
            away.add(row.url_id)
        elif row.original_id:
            if first.setdefault((row.original_id, row.digest), row.url_id) != row.url_id:
                away.add(row.url_id)
        elif row.url_id in named and _is_canonical(db, named[row.url_id], row.url_id):
            away.add(row.url_id)
    return away


def _is_canonical(db: Connection, original_id: int, copy_id: int) -> bool:
    """Is this page there, does it stand for itself, and does it read like the other?"""
    marks = db.execute(CANONICAL_SQL, (copy_id, original_id)).fetchone()
    return marks is not None and estimate_similarity(*marks) >= MIN_SIMILARITY


CHUNK_SIZE = 400
WATCH_SCHEMA = """
    CREATE TABLE watched (url INTEGER PRIMARY KEY, original INTEGER NOT NULL);
    CREATE INDEX watched_original ON watched (original) WHERE original <> 0
"""


def watch_duplicates(db: Connection, pages: Iterable[tuple[int, int]]) -> None:
    """Remember pages, each with the one whose copy it is (0: of none)."""
    with transaction(db):
        db.executemany(
            "INSERT INTO watched VALUES (?, ?) ON CONFLICT (url) DO UPDATE SET original = excluded.original", pages
        )


def find_affected(db: Connection, url_ids: Sequence[int]) -> list[int]:
    """Watched pages that visits to these may put in or out: they themselves, their copies, and copies beside them."""
    found: set[int] = set()
    for start in range(0, len(url_ids), CHUNK_SIZE):
        part = list(url_ids[start : start + CHUNK_SIZE])
        marks = ",".join("?" * len(part))
        beside = f"SELECT original FROM watched WHERE url IN ({marks}) AND original <> 0"
        for wanted in (f"url IN ({marks})", f"original IN ({marks})", f"original IN ({beside})"):
            found.update(id_ for (id_,) in db.execute(f"SELECT url FROM watched WHERE {wanted}", part))
    return sorted(found)

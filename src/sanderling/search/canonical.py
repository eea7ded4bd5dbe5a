"""Choose the page that represents its duplicates in the index.

A copy yields to its original. A page with rel=canonical yields only to an indexable near duplicate that names no third
page, so that a canonical link on every page does not hide a site.
"""

from collections.abc import Iterable, Mapping, Sequence

from sanderling.db.connection import Connection, transaction
from sanderling.dedup.minhash_index import MIN_SIMILARITY
from sanderling.fingerprint.minhash import estimate_similarity
from sanderling.search.pending_visits import PendingVisit
from sanderling.storage.queries import find_url_id, load_sketches


def find_originals(db: Connection, rows: Iterable[PendingVisit], urls: Mapping[int, str]) -> dict[int, int]:
    """Return the original of each copy, by content or by canonical link."""
    originals: dict[int, int] = {}
    for row in rows:
        if row.original_id:
            originals[row.url_id] = row.original_id
        elif row.canonical not in ("", urls[row.url_id]) and (canonical_id := find_url_id(db, row.canonical)):
            originals[row.url_id] = canonical_id
    return originals


def find_non_canonical(db: Connection, rows: Sequence[PendingVisit], urls: Mapping[int, str]) -> set[int]:
    """Return the pages to leave out. `rows` must hold all copies of a page."""
    originals, first, left_out = find_originals(db, rows, urls), dict[tuple[int, bytes], int](), set[int]()
    for row in sorted(rows, key=lambda row: (row.canonical != urls[row.url_id], row.url_id)):
        if row.is_excluded:
            left_out.add(row.url_id)
        elif row.original_id:
            if first.setdefault((row.original_id, row.digest), row.url_id) != row.url_id:
                left_out.add(row.url_id)
        elif row.url_id in originals and _is_canonical(db, originals[row.url_id], row.url_id):
            left_out.add(row.url_id)
    return left_out


def _is_canonical(db: Connection, original_id: int, copy_id: int) -> bool:
    """Return whether a page can represent its near duplicate."""
    minhashes = load_sketches(db, original_id, copy_id)
    return minhashes is not None and estimate_similarity(*minhashes) >= MIN_SIMILARITY


CHUNK_SIZE = 400
WATCH_SCHEMA = """
    CREATE TABLE watched (url INTEGER PRIMARY KEY, original INTEGER NOT NULL);
    CREATE INDEX watched_original ON watched (original) WHERE original <> 0
"""


def watch_duplicates(db: Connection, pages: Iterable[tuple[int, int]]) -> None:
    """Store pages with their original (0: not a copy)."""
    with transaction(db):
        db.executemany(
            "INSERT INTO watched VALUES (?, ?) ON CONFLICT (url) DO UPDATE SET original = excluded.original", pages
        )


def find_affected(db: Connection, url_ids: Sequence[int]) -> list[int]:
    """Return watched pages that visits may include or exclude."""
    found: set[int] = set()
    for start in range(0, len(url_ids), CHUNK_SIZE):
        part = list(url_ids[start : start + CHUNK_SIZE])
        marks = ",".join("?" * len(part))
        same_original = f"SELECT original FROM watched WHERE url IN ({marks}) AND original <> 0"
        for condition in (f"url IN ({marks})", f"original IN ({marks})", f"original IN ({same_original})"):
            found.update(id_ for (id_,) in db.execute(f"SELECT url FROM watched WHERE {condition}", part))
    return sorted(found)

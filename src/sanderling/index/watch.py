"""Pages that are not simply in the index: left out once, or copies of another; every visit may change where they stand.

Written before the commit of the batch that it comes from: a crash between the two repeats the batch, and it again.
"""

from collections.abc import Iterable, Sequence

from sanderling.database import Connection, transaction

CHUNK = 400
SCHEMA = """
    CREATE TABLE watched (url INTEGER PRIMARY KEY, original INTEGER NOT NULL);
    CREATE INDEX watched_original ON watched (original) WHERE original <> 0
"""


def watch(db: Connection, pages: Iterable[tuple[int, int]]) -> None:
    """Remember pages, each with the one whose copy it is (0: of none)."""
    with transaction(db):
        db.executemany(
            "INSERT INTO watched VALUES (?, ?) ON CONFLICT (url) DO UPDATE SET original = excluded.original", pages
        )


def concerned(db: Connection, urls: Sequence[int]) -> list[int]:
    """Watched pages that visits to these may put in or out: they themselves, their copies, and copies beside them."""
    found: set[int] = set()
    for start in range(0, len(urls), CHUNK):
        part = list(urls[start : start + CHUNK])
        marks = ",".join("?" * len(part))
        beside = f"SELECT original FROM watched WHERE url IN ({marks}) AND original <> 0"
        for wanted in (f"url IN ({marks})", f"original IN ({marks})", f"original IN ({beside})"):
            found.update(id_ for (id_,) in db.execute(f"SELECT url FROM watched WHERE {wanted}", part))
    return sorted(found)

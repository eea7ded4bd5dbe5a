"""Reset pages whose WARC records are lost, so that they are fetched again.

Rows, history, and fingerprints stay. Without digest and validators, the next request is unconditional and its body is
stored in full.
"""

from collections.abc import Iterable

from sanderling.db.connection import Connection
from sanderling.warc.records import RecordLocation
from sanderling.warc.repair import FileRepair

SELECT_STORED_VISITS = "SELECT v.id FROM visits AS v JOIN files AS f ON f.id = v.file WHERE f.name = ? AND v.length > 0"


def find_visits_beyond(db: Connection, file: str, end_offset: int) -> list[int]:
    """Return the visits whose records end after this offset of a WARC file."""
    return [id_ for (id_,) in db.execute(f"{SELECT_STORED_VISITS} AND v.start + v.length > ?", (file, end_offset))]


def find_visits_at(db: Connection, locations: Iterable[RecordLocation]) -> list[int]:
    """Return the visits whose records overlap these byte ranges. Length 0: up to the end."""
    visit_ids: list[int] = []
    for location in locations:
        end = location.offset + location.length if location.length else 2**62
        rows = db.execute(
            f"{SELECT_STORED_VISITS} AND v.start < ? AND v.start + v.length > ?", (location.file, end, location.offset)
        )
        visit_ids += [id_ for (id_,) in rows]
    return visit_ids


def find_affected_pages(db: Connection, visit_ids: Iterable[int]) -> list[int]:
    """Return the pages whose last version is, or refers to, a record of these visits."""
    lost = set(visit_ids)
    bodies = {
        digest
        for visit, digest in db.execute("SELECT v.id, v.digest FROM digests AS d JOIN visits AS v ON v.id = d.visit")
        if visit in lost
    }
    rows = db.execute("SELECT url, visit, digest FROM pages WHERE digest <> ?", (b"",))
    return [url for url, visit, digest in rows if visit in lost or digest in bodies]


def reset_lost_pages(db: Connection, visit_ids: list[int]) -> list[int]:
    """Clear digests and validators of pages in lost records. Returns these pages, to be queued."""
    pages = find_affected_pages(db, visit_ids)
    db.executemany("DELETE FROM digests WHERE visit = ?", [(visit,) for visit in visit_ids])
    db.executemany(
        "UPDATE pages SET digest = ?, etag = '', last_modified = '' WHERE url = ?", [(b"", url) for url in pages]
    )
    db.executemany("UPDATE visits SET file = 0, start = 0, length = 0 WHERE id = ?", [(visit,) for visit in visit_ids])
    return pages


def reset_pages_of_short_files(db: Connection, repairs: Iterable[FileRepair]) -> dict[str, list[int]]:
    """Reset the pages of WARC files shorter than their committed length. Returns pages by file."""
    lost: dict[str, list[int]] = {}
    for repair in repairs:
        if repair.missing_bytes:
            lost[repair.file] = reset_lost_pages(db, find_visits_beyond(db, repair.file, repair.new_length))
            db.execute("UPDATE files SET committed = ? WHERE name = ?", (repair.new_length, repair.file))
    return lost


def describe_lost_pages(file: str, page_count: int) -> str:
    return f"{file} is shorter than its committed length: {page_count:,} pages in it are lost and will be fetched again"

"""Check a whole collection: WARC records by their digests, the databases, the search index."""

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.storage.collection import DATABASE_FILE
from sanderling.storage.lost_records import find_affected_pages, find_visits_at
from sanderling.warc.erase import erase_records
from sanderling.warc.records import RecordLocation
from sanderling.warc.remote import has_warc_file
from sanderling.warc.warc_reader import DamagedRegion, iterate_records

SEARCH_INDEX_FOLDER = "index"  # folder of the search index, which is built from the archive
MIN_FILLER_BYTES = 32  # bytes that an empty gzip member needs
REBUILD_REMEDY = "delete the folder `index`, or use --repair: it is built again from the archive"


class CollectionFault(Struct, frozen=True):
    """Something in a collection that is not as it was written."""

    file: str
    problem: str
    remedy: str = ""
    location: RecordLocation | None = None  # the stretch of a WARC file that cannot be read
    lost_pages: int = 0  # pages whose last version is lost with it


class ArchiveCheck(Struct, frozen=True):
    """What was checked and what was found."""

    intact_records: int
    faults: list[CollectionFault]


def check_archive(folder: Path, db: Connection, committed: Mapping[str, int]) -> ArchiveCheck:
    """Read all WARC files and compare every record with its digests."""
    records, faults = 0, list[CollectionFault]()
    for name, length in sorted(committed.items()):
        count, found = _check_warc_file(folder, name, length) if length else (0, [])
        records += count
        faults += [_add_lost_pages(db, fault) for fault in found]
    return ArchiveCheck(records, faults)


def _check_warc_file(folder: Path, file_name: str, committed_length: int) -> tuple[int, list[CollectionFault]]:
    if not has_warc_file(folder, file_name):
        return 0, [CollectionFault(file_name, "the file is missing", location=RecordLocation(file_name, 0, 0))]
    records, end, faults = 0, 0, list[CollectionFault]()
    for item in iterate_records(folder / file_name, verify=True):
        end = item.location.offset + item.location.length
        if isinstance(item, DamagedRegion):
            faults.append(CollectionFault(file_name, item.problem, location=item.location))
        elif item.is_intact is False:
            faults.append(
                CollectionFault(file_name, f"the digest of {item.url} does not match", location=item.location)
            )
        else:
            records += 1
    path = folder / file_name
    if (
        path.is_file()
        and path.stat().st_size < committed_length
        and not any(fault.location == RecordLocation(file_name, end, 0) for fault in faults)
    ):
        faults.append(
            CollectionFault(
                file_name,
                f"{committed_length - end:,} bytes are missing at the end",
                location=RecordLocation(file_name, end, 0),
            )
        )
    return records, faults


def _add_lost_pages(db: Connection, fault: CollectionFault) -> CollectionFault:
    assert fault.location is not None
    pages = len(find_affected_pages(db, find_visits_at(db, [fault.location])))
    remedy = "use --repair, then crawl or refresh: the pages are fetched again"
    return CollectionFault(fault.file, fault.problem, remedy, fault.location, pages)


def repair_files(folder: Path, db: Connection, locations: Iterable[RecordLocation]) -> None:
    """Make WARC files readable to their end: overwrite damaged stretches with an empty record, cut a damaged tail."""
    for place in locations:
        path = folder / place.file
        if place.length >= MIN_FILLER_BYTES and path.is_file():
            erase_records(folder, [place], time.time())
        elif not place.length:
            if path.is_file():
                os.truncate(path, place.offset)
            db.execute("UPDATE files SET committed = ? WHERE name = ?", (place.offset, place.file))


def check_databases(folder: Path) -> Iterator[CollectionFault]:
    """Check every SQLite file of a collection."""
    for path in sorted([*folder.glob("*.db"), *(folder / SEARCH_INDEX_FOLDER).glob("**/*.db")]):
        problem = _find_integrity_problem(path)
        if problem:
            name = str(path.relative_to(folder))
            remedy = "take it from a backup" if name == DATABASE_FILE else f"delete {name}"
            yield CollectionFault(
                name, problem, REBUILD_REMEDY if path.is_relative_to(folder / SEARCH_INDEX_FOLDER) else remedy
            )


def _find_integrity_problem(path: Path) -> str:
    """Return what SQLite finds wrong with a file, in one line; empty if nothing is."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
            return "" if found == "ok" else " ".join(str(found).split())
    except sqlite3.DatabaseError as error:
        return str(error)

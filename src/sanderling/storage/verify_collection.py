"""Check a whole collection: WARC records by their digests, the databases, the search index."""

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.storage.collection import DATABASE
from sanderling.storage.lost_records import pages_of, visits_at
from sanderling.warc.erase import erase
from sanderling.warc.reader import Damage, walk
from sanderling.warc.records import Place
from sanderling.warc.remote import is_there

INDEX = "index"  # folder of the search index, which is built from the archive
LEAST_FILLER = 32  # bytes that an empty gzip member needs
REBUILT = "delete the folder `index`, or use --repair: it is built again from the archive"


class Fault(Struct, frozen=True):
    """Something in a collection that is not as it was written."""

    file: str
    what: str
    remedy: str = ""
    place: Place | None = None  # the stretch of a WARC file that cannot be read
    pages: int = 0  # pages whose last version is lost with it


class Verified(Struct, frozen=True):
    """What was checked and what was found."""

    records: int
    faults: list[Fault]


def check_archive(folder: Path, db: Connection, committed: Mapping[str, int]) -> Verified:
    """Read all WARC files and compare every record with its digests."""
    records, faults = 0, list[Fault]()
    for name, length in sorted(committed.items()):
        count, found = _check_warc(folder, name, length) if length else (0, [])
        records += count
        faults += [_with_pages(db, fault) for fault in found]
    return Verified(records, faults)


def _check_warc(folder: Path, name: str, length: int) -> tuple[int, list[Fault]]:
    if not is_there(folder, name):
        return 0, [Fault(name, "the file is missing", place=Place(name, 0, 0))]
    records, end, faults = 0, 0, list[Fault]()
    for item in walk(folder / name, verify=True):
        end = item.place.offset + item.place.length
        if isinstance(item, Damage):
            faults.append(Fault(name, item.what, place=item.place))
        elif item.intact is False:
            faults.append(Fault(name, f"the digest of {item.url} does not match", place=item.place))
        else:
            records += 1
    path = folder / name
    if (
        path.is_file()
        and path.stat().st_size < length
        and not any(fault.place == Place(name, end, 0) for fault in faults)
    ):
        faults.append(Fault(name, f"{length - end:,} bytes are missing at the end", place=Place(name, end, 0)))
    return records, faults


def _with_pages(db: Connection, fault: Fault) -> Fault:
    assert fault.place is not None
    pages = len(pages_of(db, visits_at(db, [fault.place])))
    remedy = "use --repair, then crawl or refresh: the pages are fetched again"
    return Fault(fault.file, fault.what, remedy, fault.place, pages)


def mend_files(folder: Path, db: Connection, places: Iterable[Place]) -> None:
    """Make WARC files readable to their end: overwrite damaged stretches with an empty record, cut a damaged tail."""
    for place in places:
        path = folder / place.file
        if place.length >= LEAST_FILLER and path.is_file():
            erase(folder, [place], time.time())
        elif not place.length:
            if path.is_file():
                os.truncate(path, place.offset)
            db.execute("UPDATE files SET committed = ? WHERE name = ?", (place.offset, place.file))


def check_databases(folder: Path) -> Iterator[Fault]:
    """Check every SQLite file of a collection."""
    for path in sorted([*folder.glob("*.db"), *(folder / INDEX).glob("**/*.db")]):
        problem = _integrity(path)
        if problem:
            name = str(path.relative_to(folder))
            remedy = "take it from a backup" if name == DATABASE else f"delete {name}"
            yield Fault(name, problem, REBUILT if path.is_relative_to(folder / INDEX) else remedy)


def _integrity(path: Path) -> str:
    """Return what SQLite finds wrong with a file, in one line; empty if nothing is."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
            return "" if found == "ok" else " ".join(str(found).split())
    except sqlite3.DatabaseError as error:
        return str(error)

"""Verify a collection: digests of WARC records, databases, and checksums of the indexes."""

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from zlib import crc32

from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.storage.collection import DATABASE_FILE
from sanderling.storage.lost_records import find_affected_pages, find_visits_at
from sanderling.warc.cdxj_index import find_damaged_files
from sanderling.warc.erase import erase_records
from sanderling.warc.records import RecordLocation
from sanderling.warc.remote import has_warc_file
from sanderling.warc.warc_reader import DamagedRegion, iterate_records

SEARCH_INDEX_FOLDER = "index"  # built from the archive
REPLAY_INDEX_FOLDER = "indexes"  # likewise
SEGMENT_SUFFIXES = ("idx", "pos", "term", "store", "fast", "fieldnorm")  # files of a tantivy segment
FOOTER_MAGIC = 1337  # ends every file of tantivy: JSON with the CRC, its length, this number (both 4 bytes)
READ_BYTES = 1 << 20
MIN_FILLER_BYTES = 32  # size of an empty gzip member
REBUILD_REMEDY = "delete the folder `index`, or use --repair: the index is rebuilt from the archive"


class CollectionFault(Struct, frozen=True):
    """A damaged part of a collection."""

    file: str
    problem: str
    remedy: str = ""
    location: RecordLocation | None = None  # the unreadable range of a WARC file
    lost_pages: int = 0  # pages whose last version is in it


class ArchiveCheck(Struct, frozen=True):
    intact_records: int
    faults: list[CollectionFault]


def check_archive(folder: Path, db: Connection, committed: Mapping[str, int]) -> ArchiveCheck:
    """Verify the digests of all records in all WARC files."""
    records, faults = 0, list[CollectionFault]()
    for name, length in sorted(committed.items()):
        count, file_faults = _check_warc_file(folder, name, length) if length else (0, [])
        records += count
        faults += [_add_lost_pages(db, fault) for fault in file_faults]
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
    """Make WARC files readable: overwrite damaged ranges with filler, and truncate damaged tails."""
    for location in locations:
        path = folder / location.file
        if location.length >= MIN_FILLER_BYTES and path.is_file():
            erase_records(folder, [location], time.time())
        elif not location.length:
            if path.is_file():
                os.truncate(path, location.offset)
            db.execute("UPDATE files SET committed = ? WHERE name = ?", (location.offset, location.file))


def check_untracked_files(folder: Path, committed: Mapping[str, int]) -> Iterator[CollectionFault]:
    """Yield WARC files that the database does not know: it was replaced or lost."""
    for path in sorted(folder.glob("*.warc.gz")):
        if path.name not in committed and _has_captures(path):
            yield CollectionFault(
                path.name,
                "the database does not know this file",
                f"restore {DATABASE_FILE} from a backup; other tools can read the file",
            )


def _has_captures(path: Path) -> bool:
    """Return whether a file has more than the `warcinfo` record with which a killed process left it."""
    return any(
        isinstance(item, DamagedRegion) or item.record_type != "warcinfo"
        for item in islice(iterate_records(path, 0), 2)
    )


def check_indexes(folder: Path) -> Iterator[CollectionFault]:
    """Compare the files of the search index and of the replay index with their checksums."""
    for meta_file in sorted((folder / SEARCH_INDEX_FOLDER).glob("v*/*/meta.json")):
        before = meta_file.read_bytes()
        problem = _find_segment_problem(meta_file.parent, before)
        while problem and meta_file.exists() and (now := meta_file.read_bytes()) != before:  # committed meanwhile
            before, problem = now, _find_segment_problem(meta_file.parent, now)
        if problem:
            yield CollectionFault(str(meta_file.parent.relative_to(folder)), problem, REBUILD_REMEDY)
    for name in find_damaged_files(folder / REPLAY_INDEX_FOLDER):
        yield CollectionFault(
            f"{REPLAY_INDEX_FOLDER}/{name}",
            "the checksum does not match",
            "the next crawl rebuilds it from the archive",
        )


def _find_segment_problem(folder: Path, meta: bytes) -> str:
    """Return the first problem of the files of a tantivy index; empty if there is none."""
    try:
        segments = [segment["segment_id"].replace("-", "") for segment in json.loads(meta)["segments"]]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        return f"meta.json: {error}"
    for name in (f"{segment}.{suffix}" for segment in segments for suffix in SEGMENT_SUFFIXES):
        try:
            if not _has_valid_footer(folder / name):
                return f"{name}: the checksum does not match"
        except OSError as error:
            return f"{name}: {error.strerror}"
    return ""


def _has_valid_footer(path: Path) -> bool:
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - 8))
        tail = file.read(8)
        footer_size, magic = int.from_bytes(tail[:4], "little"), int.from_bytes(tail[4:], "little")
        body_size = size - 8 - footer_size
        if magic != FOOTER_MAGIC or body_size < 0:
            return False
        file.seek(body_size)
        footer = file.read(footer_size)
        file.seek(0)
        checksum, left = 0, body_size
        while left and (piece := file.read(min(READ_BYTES, left))):
            checksum, left = crc32(piece, checksum), left - len(piece)
    try:
        return bool(json.loads(footer)["crc"] == checksum)
    except (ValueError, LookupError, TypeError):
        return False


def check_databases(folder: Path) -> Iterator[CollectionFault]:
    built = [path for name in (SEARCH_INDEX_FOLDER, REPLAY_INDEX_FOLDER) for path in (folder / name).glob("**/*.db")]
    for path in sorted([*folder.glob("*.db"), *built]):
        problem = _find_integrity_problem(path)
        if problem:
            name = str(path.relative_to(folder))
            remedy = "restore it from a backup" if name == DATABASE_FILE else f"delete {name}"
            yield CollectionFault(
                name, problem, REBUILD_REMEDY if path.is_relative_to(folder / SEARCH_INDEX_FOLDER) else remedy
            )


def _find_integrity_problem(path: Path) -> str:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
            return "" if found == "ok" else " ".join(str(found).split())
    except sqlite3.DatabaseError as error:
        return str(error)

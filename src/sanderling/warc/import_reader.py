"""Read WARC, ARC, and WACZ files of other programs for import, bounded in bytes and time.

Nothing in such a file is trusted: not its lengths, digests, names, or compression. Every record becomes an
`ImportableRecord` or a `RejectedRecord`; no file raises anything but `UsageError`, if it cannot be read at all.
"""

import gzip
import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import IO, BinaryIO

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.warc.gzip_members import GZIP_MAGIC, GZIP_WINDOW_BITS
from sanderling.warc.packer import HttpExchange, pack_response
from sanderling.warc.warc_reader import SEVERAL_RECORDS, DamagedRegion, StoredRecord, iterate_records

MAX_RECORD_BYTES = 500_000_000  # compressed; a larger record is rejected
MAX_INFLATED_BYTES = 8_000_000_000  # of one record, as protection against decompression bombs
MAX_EXPANSION = 100  # of a WARC file inside a WACZ file; WARC files in ZIP are stored, or text of other tools
MAX_PAGE_LIST_BYTES = 20_000_000
MAX_WACZ_FILES = 100_000
COPY_BYTES = 1 << 20
SAMPLE_BYTES = 1 << 20
WARC_SUFFIXES = (".warc", ".warc.gz", ".arc", ".arc.gz")
WACZ_SUFFIX = ".wacz"
ZIP_MAGIC = b"PK"
LINE_END = b"\r\n\r\n"


class ImportableRecord(Struct, frozen=True):
    """A record, as a gzip member that may be appended to an archive."""

    member: bytes
    record: StoredRecord  # without body; its location is in the file that is read
    captured_at: float
    end_offset: int  # where the next record of the file that is read starts


class RejectedRecord(Struct, frozen=True):
    """A range of a file without a usable record."""

    offset: int
    reason: str
    end_offset: int


class SourceFile(Struct, frozen=True):
    """A WARC file to import."""

    name: str  # as the user knows it; for messages only
    path: Path
    fingerprint: str  # identifies the contents, under whatever name


@contextmanager
def open_source(path: Path, scratch: Path) -> Iterator[tuple[Iterator[SourceFile], list[str]]]:
    """Open a file. Yields its WARC files, one at a time for a WACZ file, and the seeds that it names."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if start.startswith(ZIP_MAGIC):
        try:
            with zipfile.ZipFile(path) as package:
                _check_directory(path, package)
                yield _extract_warc_files(path, package, scratch), _read_seeds(package)
        except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError) as error:
            raise UsageError(f"{path} is not a readable WACZ file: {error}") from None
        return
    if not (start.startswith((GZIP_MAGIC, b"WARC", b"file")) or path.name.endswith(WARC_SUFFIXES)):
        raise UsageError(f"{path} is neither a WARC, ARC, nor WACZ file")
    fingerprint, source = compute_fingerprint(path), path
    if _is_compressed_as_a_whole(path):
        source = scratch / "inflated.warc"
        with gzip.open(path) as stream:
            _copy_bounded(stream, source, path.name, MAX_EXPANSION * path.stat().st_size)
    yield iter([SourceFile(path.name, source, fingerprint)]), []


def _is_compressed_as_a_whole(path: Path) -> bool:
    """Return whether the first gzip member contains several records, so that none can be read by its offset."""
    first = list(islice(iterate_records(path, 0, max_inflated_bytes=MAX_INFLATED_BYTES), 2))
    return any(isinstance(item, DamagedRegion) and item.problem.startswith(SEVERAL_RECORDS) for item in first)


def compute_fingerprint(path: Path) -> str:
    """Return a digest of size, start, and end of a file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        digest = sha256(b"%d " % size + file.read(SAMPLE_BYTES))
        file.seek(max(0, size - SAMPLE_BYTES))
        digest.update(file.read(SAMPLE_BYTES))
    return digest.hexdigest()[:32]


def iterate_importable(path: Path, start_offset: int = 0) -> Iterator[ImportableRecord | RejectedRecord]:
    """Yield the records of a file from an offset, in file order."""
    with path.open("rb") as file:
        is_compressed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        items = iterate_records(path, 0, verify=True, start_offset=start_offset, max_inflated_bytes=MAX_INFLATED_BYTES)
        for item in items:
            location = item.location
            end = location.offset + location.length if location.length else path.stat().st_size
            if isinstance(item, DamagedRegion):
                yield RejectedRecord(location.offset, item.problem, end)
            elif reason := _find_rejection(item):
                yield RejectedRecord(location.offset, reason, end)
            else:
                member = _read_member(file, item, is_compressed=is_compressed)
                yield ImportableRecord(member, item, parse_warc_time(item.get_field("WARC-Date")), end)


def parse_warc_time(text: str) -> float:
    """Parse a WARC-Date; returns 0 if it is missing or invalid."""
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _find_rejection(record: StoredRecord) -> str:
    if record.location.length > MAX_RECORD_BYTES:
        return f"the record has {record.location.length:,} bytes"
    if record.body_problem.startswith("the record ends"):  # it would make the rest of our file unreadable
        return record.body_problem
    if record.is_intact is False:
        return f"the digest of {record.url} does not match"
    if record.record_type == "arc_header":
        return "the header of an ARC file"
    return ""


def _read_member(file: BinaryIO, record: StoredRecord, *, is_compressed: bool) -> bytes:
    """Return the bytes of a record as a gzip member; those of a compressed WARC record are unchanged."""
    file.seek(record.location.offset)
    stored = file.read(record.location.length)
    start = zlib.decompressobj(GZIP_WINDOW_BITS).decompress(stored, 64) if is_compressed else stored[:64]
    if start.lstrip()[:5] == b"WARC/":
        return stored if is_compressed else _compress(stored + LINE_END)
    block = zlib.decompressobj(GZIP_WINDOW_BITS).decompress(stored, MAX_RECORD_BYTES) if is_compressed else stored
    _, _, content = block.lstrip().partition(b"\n")  # ARC: readers expect all records of a file in one format
    head, separator, body = content.partition(LINE_END)
    if not separator:
        head, _, body = content.partition(b"\n\n")
    exchange = HttpExchange(
        record.url,
        parse_warc_time(record.get_field("WARC-Date")),
        head + LINE_END,
        body,
        record.get_field("WARC-IP-Address"),
    )
    return pack_response(exchange).member


def _compress(data: bytes) -> bytes:
    compressor = zlib.compressobj(1, zlib.DEFLATED, GZIP_WINDOW_BITS)
    return compressor.compress(data) + compressor.flush()


def _check_directory(path: Path, package: zipfile.ZipFile) -> None:
    """Reject ZIP files whose entries overlap or are too many."""
    entries = package.infolist()
    if len(entries) > MAX_WACZ_FILES:
        raise UsageError(f"{path} has more than {MAX_WACZ_FILES:,} files")
    if sum(entry.compress_size for entry in entries) > path.stat().st_size:
        raise UsageError(f"{path} is damaged: its files overlap")


def _extract_warc_files(path: Path, package: zipfile.ZipFile, scratch: Path) -> Iterator[SourceFile]:
    """Yield the WARC files, each extracted under a name of ours, so that no name leads out of the folder."""
    for entry in package.infolist():
        if not entry.filename.startswith("archive/") or not entry.filename.endswith(WARC_SUFFIXES):
            continue
        target = scratch / "extracted.warc"
        try:
            _extract(package, entry, target)
            yield SourceFile(f"{path.name}: {entry.filename[8:]}", target, compute_fingerprint(target))
        except (RuntimeError, zlib.error) as error:  # encrypted, or damaged
            raise UsageError(f"{path}: {entry.filename} cannot be read: {error}") from None
        finally:
            target.unlink(missing_ok=True)


def _extract(package: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    with package.open(entry) as source:
        _copy_bounded(source, target, entry.filename, MAX_EXPANSION * entry.compress_size)


def _copy_bounded(source: IO[bytes] | gzip.GzipFile, target: Path, name: str, limit: int) -> None:
    """Copy a decompressed stream. Raises UsageError if it is longer than any WARC file of this size."""
    try:
        with target.open("wb") as file:
            while data := source.read(COPY_BYTES):
                limit -= len(data)
                if limit < 0:
                    raise UsageError(f"{name} expands more than {MAX_EXPANSION} times: not a WARC file")
                file.write(data)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return  # what was read so far is imported; the records that are cut off are rejected


def _read_seeds(package: zipfile.ZipFile) -> list[str]:
    """Return the pages marked as seeds; none if the list of pages is missing, damaged, or too long."""
    seeds: list[str] = []
    try:
        with package.open("pages/pages.jsonl") as file:
            for line in file.read(MAX_PAGE_LIST_BYTES).splitlines():
                page = json.loads(line)
                if isinstance(page, dict) and page.get("seed") is True and isinstance(page.get("url"), str):
                    seeds.append(page["url"])
    except (KeyError, ValueError, RuntimeError, RecursionError, zlib.error):
        pass
    return seeds

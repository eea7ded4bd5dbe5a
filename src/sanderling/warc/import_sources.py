"""Open files for import: WARC, ARC, WACZ, packages of WACZ files, and CDX or CDXJ indexes of WARC files.

Nothing in such a file is trusted: not its lengths, names, or compression. A file that cannot be read raises
`UsageError`.
"""

import gzip
import json
import zipfile
import zlib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import IO

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.warc.cdxj_lines import parse_record_place
from sanderling.warc.gzip_members import GZIP_MAGIC
from sanderling.warc.import_reader import MAX_INFLATED_BYTES
from sanderling.warc.warc_reader import SEVERAL_RECORDS, DamagedRegion, iterate_records

MAX_EXPANSION = 100  # of a WARC file inside a WACZ file; WARC files in ZIP are stored, or text of other tools
MAX_LIST_BYTES = 20_000_000  # of a list of pages or packages
MAX_WACZ_FILES = 100_000
MAX_NESTING = 2  # WACZ files in WACZ files
COPY_BYTES = 1 << 20
SAMPLE_BYTES = 1 << 20
WARC_SUFFIXES = (".warc", ".warc.gz", ".arc", ".arc.gz")
INDEX_SUFFIXES = (".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz")
WACZ_SUFFIX = ".wacz"
ZIP_MAGIC = b"PK"
MULTI_WACZ_PROFILE = "multi-wacz-package"
ARCHIVE_FOLDERS = (".", "../archive")  # where the WARC files of an index are, seen from it


class FileKind(Enum):
    """Kinds of files that can be imported."""

    WARC, WACZ, INDEX, LIST = range(4)  # LIST: a multi-WACZ package


class SourceFile(Struct, frozen=True):
    """A WARC file to import."""

    name: str  # as the user knows it; for messages only
    path: Path
    fingerprint: str  # identifies the contents, under whatever name
    offsets: Sequence[int] | None = None  # of the records to import, ascending; None: all


class ImportSource(Struct, frozen=True):
    """The WARC files of a file, opened in turn, and the seeds that it names, complete at the end."""

    files: Iterator[SourceFile]
    seeds: list[str]


def open_source(path: Path, scratch: Path) -> ImportSource:
    """Open a file. WARC files inside another file are extracted to `scratch` in turn."""
    seeds: list[str] = []
    return ImportSource(_iterate_files(path, path.name, scratch, seeds), seeds)


def check_source(path: Path) -> None:
    """Raise UsageError if a file cannot be imported, before a collection is created for it."""
    kind = _find_kind(path)
    if kind is FileKind.WACZ:
        with _open_package(path, path.name):
            return
    if kind is FileKind.LIST:
        _list_packages(path)


def _find_kind(path: Path) -> FileKind:
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if start.startswith(ZIP_MAGIC):
        return FileKind.WACZ
    if path.name.endswith(INDEX_SUFFIXES):
        return FileKind.INDEX
    if start.startswith(b"{") and not path.name.endswith(WARC_SUFFIXES):
        return FileKind.LIST
    if start.startswith((GZIP_MAGIC, b"WARC", b"file")) or path.name.endswith(WARC_SUFFIXES):
        return FileKind.WARC
    raise UsageError(f"{path} is neither a WARC, ARC, WACZ, CDX, nor CDXJ file")


def _iterate_files(path: Path, name: str, scratch: Path, seeds: list[str], nesting: int = 0) -> Iterator[SourceFile]:
    kind = _find_kind(path)
    if kind is FileKind.WACZ:
        yield from _iterate_package(path, name, scratch, seeds, nesting)
    elif kind is FileKind.INDEX:
        yield from _iterate_indexed_files(path)
    elif kind is FileKind.LIST:
        for part in _list_packages(path):
            yield from _iterate_files(part, part.name, scratch, seeds, nesting + 1)
    else:
        yield from _open_warc_file(path, scratch)


def _open_warc_file(path: Path, scratch: Path) -> Iterator[SourceFile]:
    fingerprint, source = compute_fingerprint(path), path
    if _is_compressed_as_a_whole(path):
        source = scratch / "inflated.warc"
        with gzip.open(path) as stream:
            _copy_bounded(stream, source, path.name, MAX_EXPANSION * path.stat().st_size)
    yield SourceFile(path.name, source, fingerprint)
    if source != path:
        source.unlink()


def _is_compressed_as_a_whole(path: Path) -> bool:
    """Return whether the first gzip member contains several records, so that they have no offsets."""
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


def _iterate_package(path: Path, name: str, scratch: Path, seeds: list[str], nesting: int) -> Iterator[SourceFile]:
    """Yield the WARC files of a WACZ file and of the WACZ files in it."""
    if nesting > MAX_NESTING:
        raise UsageError(f"{name} is a WACZ file in too many others")
    with _open_package(path, name) as package:
        seeds += _read_seeds(package)
        for entry in package.infolist():
            yield from _extract_entry(package, entry, (name, scratch, seeds, nesting))


@contextmanager
def _open_package(path: Path, name: str) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as package:
            _check_directory(name, path, package)
            yield package
    except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError) as error:
        raise UsageError(f"{name} is not a readable WACZ file: {error}") from None


def _check_directory(name: str, path: Path, package: zipfile.ZipFile) -> None:
    """Reject ZIP files whose entries overlap or are too many."""
    entries = package.infolist()
    if len(entries) > MAX_WACZ_FILES:
        raise UsageError(f"{name} has more than {MAX_WACZ_FILES:,} files")
    if sum(entry.compress_size for entry in entries) > path.stat().st_size:
        raise UsageError(f"{name} is damaged: its files overlap")


def _extract_entry(
    package: zipfile.ZipFile, entry: zipfile.ZipInfo, place: tuple[str, Path, list[str], int]
) -> Iterator[SourceFile]:
    """Extract a WARC or WACZ file under a name of ours, so that no name leads out of the folder."""
    name, scratch, seeds, nesting = place
    is_warc = entry.filename.startswith("archive/") and entry.filename.endswith(WARC_SUFFIXES)
    if not is_warc and not entry.filename.endswith(WACZ_SUFFIX):
        return
    target = scratch / f"extracted-{nesting}{'.warc' if is_warc else WACZ_SUFFIX}"
    entry_name = f"{name}: {entry.filename.removeprefix('archive/')}"
    try:
        with package.open(entry) as stream:
            _copy_bounded(stream, target, entry.filename, MAX_EXPANSION * entry.compress_size)
        if is_warc:
            yield SourceFile(entry_name, target, compute_fingerprint(target))
        else:
            yield from _iterate_files(target, entry_name, scratch, seeds, nesting + 1)
    except (RuntimeError, zlib.error) as error:  # encrypted, or damaged
        raise UsageError(f"{entry_name} cannot be read: {error}") from None
    finally:
        target.unlink(missing_ok=True)


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
    """Return the pages marked as seeds; empty if the list of pages is missing, damaged, or too long."""
    seeds: list[str] = []
    try:
        with package.open("pages/pages.jsonl") as file:
            for line in file.read(MAX_LIST_BYTES).splitlines():
                page = json.loads(line)
                if isinstance(page, dict) and page.get("seed") is True and isinstance(page.get("url"), str):
                    seeds.append(page["url"])
    except (KeyError, ValueError, RuntimeError, RecursionError, zlib.error):
        pass
    return seeds


def _list_packages(path: Path) -> list[Path]:
    """Return the WACZ files that a multi-WACZ package lists. They must be in its folder."""
    try:
        with path.open("rb") as file:
            package = json.loads(file.read(MAX_LIST_BYTES))
        if package["profile"] != MULTI_WACZ_PROFILE:
            raise ValueError
        listed = [(str(resource["path"]), str(resource.get("hash", ""))) for resource in package["resources"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UsageError(f"{path} is not a multi-WACZ package") from None
    parts = [_find_inside(path.parent, (".",), name) for name, _ in listed]
    for (name, digest), part in zip(listed, parts, strict=True):
        if part is None or not name.endswith(WACZ_SUFFIX):
            raise UsageError(f"{path} lists {name[:200]}, which is no WACZ file in its folder")
        if digest.startswith("sha256:") and digest != f"sha256:{_hash_file(part)}":
            raise UsageError(f"{part} does not have the digest that {path.name} lists")
    return [part for part in parts if part is not None]


def _hash_file(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while data := file.read(COPY_BYTES):
            digest.update(data)
    return digest.hexdigest()


def _find_inside(folder: Path, places: Sequence[str], name: str) -> Path | None:
    """Return the file with this name in one of the places; None if it is missing or outside of them."""
    for place in places:
        root = (folder / place).resolve()
        try:
            found = (root / name).resolve()
            if found.is_relative_to(root) and found.is_file():
                return found
        except (OSError, ValueError):  # too long, or with a null byte
            return None
    return None


def _iterate_indexed_files(path: Path) -> Iterator[SourceFile]:
    """Yield the WARC files that an index names, with the places of the records that it lists."""
    places: dict[str, array[int]] = {}
    digest = sha256()
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            header = b""
            for line in file:
                digest.update(line)
                header = line if line.lstrip().startswith(b"CDX ") else header
                if (place := parse_record_place(line, header)) is not None:
                    places.setdefault(place[0], array("Q")).append(place[1])
    except (OSError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    if not places:
        raise UsageError(f"{path} lists no records of WARC files")
    files = {name: _find_inside(path.parent, ARCHIVE_FOLDERS, name) for name in places}
    for name, file_path in sorted(files.items()):
        if file_path is None:
            raise UsageError(f"{path} names {name[:200]}, which is neither in its folder nor in ../archive")
        fingerprint = sha256(f"{digest.hexdigest()} {name}".encode()).hexdigest()[:32]
        yield SourceFile(file_path.name, file_path, fingerprint, array("Q", sorted(set(places[name]))))

"""Maintain the CDXJ index of a collection: sorted runs during a crawl, merged into a single file at its end.

`covered.json` stores how far into each WARC file the index reaches, with size and CRC of each index file. Entries lost
in a crash are read again from the WARC files. If a listed file was modified, the index is rebuilt. The coverage of a
merged file is written first, so that either state is valid after a crash.
"""

import contextlib
import heapq
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from zlib import crc32

import msgspec
from msgspec import Struct

from sanderling.warc.cdxj import (
    STATUS_NOT_MODIFIED,
    CdxjEntry,
    build_entry,
    build_not_modified_entry,
    format_entry,
    parse_entry,
    read_captures,
)
from sanderling.warc.record_parser import is_offset
from sanderling.warc.remote import has_warc_file
from sanderling.warc.surt import build_surt
from sanderling.warc.warc_reader import StoredRecord, iterate_records

RUN_LINES = 20_000
LINES_PER_WRITE, CHECKSUM_READ_BYTES = 1_000, 1 << 20
INDEX_FILE = "index.cdxj"
COVERAGE_FILE = "covered.json"


class FileChecksum(Struct, frozen=True, array_like=True):
    """Size and CRC-32 of an index file as written."""

    size: int = 0
    crc32_value: int = 0


class IndexCoverage(Struct):
    """How far into each WARC file the index reaches, and checksums of its files."""

    lengths: dict[str, int] = {}
    files: dict[str, FileChecksum] = {}
    pending: "IndexCoverage | None" = None  # valid once its files are in place


class CdxjIndex:
    """An index opened for writing by `open_cdxj_index`."""

    def __init__(self, folder: Path, coverage: IndexCoverage | None = None, run_lines: int = RUN_LINES) -> None:
        self.folder = folder
        self._coverage = coverage or IndexCoverage()
        self._run_lines = run_lines
        self._buffered_lines: list[bytes] = []

    def add(self, entries: Iterable[CdxjEntry], lengths: Mapping[str, int]) -> None:
        """Add the entries of a committed batch, and its committed WARC lengths."""
        self._buffered_lines += [format_entry(entry) for entry in entries if entry.status != STATUS_NOT_MODIFIED]
        self._coverage.lengths.update(lengths)
        if len(self._buffered_lines) >= self._run_lines:
            self.write_run()

    def write_run(self) -> None:
        if self._buffered_lines:
            number = 1 + max((int(path.stem[4:]) for path in _list_runs(self.folder)), default=0)
            name = f"run-{number:06d}.cdxj"
            self._coverage.files[name] = _write_atomically(self.folder / name, sorted(self._buffered_lines))
            self._buffered_lines.clear()
        _write_coverage(self.folder, self._coverage)

    def close(self) -> None:
        """Merge runs and buffered entries into a single sorted file."""
        runs, buffered = _list_runs(self.folder), sorted(self._buffered_lines)
        if runs or buffered:
            with contextlib.ExitStack() as stack:
                parts = [stack.enter_context(path.open("rb")) for path in [*_list_merged_file(self.folder), *runs]]
                merged = heapq.merge(buffered, *parts) if parts else buffered
                self._coverage.files = {INDEX_FILE: _write_draft(self.folder / INDEX_FILE, merged)}
            previous = read_coverage(self.folder)
            _write_coverage(self.folder, IndexCoverage(previous.lengths, previous.files, self._coverage))
            _replace_with_draft(self.folder / INDEX_FILE)
            self._buffered_lines.clear()
        _write_coverage(self.folder, self._coverage)
        for run in runs:
            run.unlink()

    def find_captures(self, url: str) -> list[CdxjEntry]:
        key = build_surt(url).encode() + b" "
        buffered = [parse_entry(line) for line in self._buffered_lines if line.startswith(key)]
        stored = [entry for path in list_index_files(self.folder) for entry in read_captures(path, url)]
        return sorted(
            (entry for entry in [*stored, *buffered] if entry.url == url),
            key=lambda entry: (entry.captured_at, entry.location.offset),
        )


def open_cdxj_index(
    folder: Path, archive_folder: Path, committed: Mapping[str, int], run_lines: int = RUN_LINES
) -> CdxjIndex:
    """Open the index and align it with the committed WARC lengths."""
    folder.mkdir(parents=True, exist_ok=True)
    coverage = _load_valid_coverage(folder)
    if any(length > committed.get(name, 0) for name, length in coverage.lengths.items()):
        delete_index(folder)
        coverage = IndexCoverage()
    index = CdxjIndex(folder, coverage, run_lines)
    for name, length in sorted(committed.items()):
        for batch in split_into_batches(read_entries(archive_folder / name, coverage.lengths.get(name, 0), length)):
            index.add([entry for entry, _ in batch], {name: batch[-1][1]})
        index.add([], {name: length})
    return index


def remove_entries(folder: Path, should_remove: Callable[[CdxjEntry], bool]) -> None:
    """Delete entries from a closed index."""
    coverage = _load_valid_coverage(folder)
    for name in coverage.files:
        with (folder / name).open("rb") as file:
            lines = (line for line in file if not should_remove(parse_entry(line)))
            coverage.files[name] = _write_atomically(folder / name, lines)
    if coverage.files:
        _write_coverage(folder, coverage)


def delete_index(folder: Path) -> None:
    """Delete the index files. The next opening rebuilds them."""
    (folder / COVERAGE_FILE).unlink(missing_ok=True)
    for path in list_index_files(folder):
        path.unlink()


def find_captures(folder: Path, url: str) -> list[CdxjEntry]:
    """Return the captures of a URL, oldest first, without those buffered by a running crawl."""
    return CdxjIndex(folder).find_captures(url)


def read_entries(path: Path, start_offset: int, end_offset: int) -> Iterator[tuple[CdxjEntry, int]]:
    """Yield entries between two offsets, each with its record's end offset."""
    if start_offset >= end_offset or not has_warc_file(path.parent, path.name):
        return
    for record in iterate_records(path, max_body_bytes=0, start_offset=start_offset):
        if record.location.offset >= end_offset:
            return
        entry = _build_record_entry(path.parent, record) if isinstance(record, StoredRecord) else None
        if entry:
            yield entry, record.location.offset + record.location.length


def _build_record_entry(archive_folder: Path, record: StoredRecord) -> CdxjEntry | None:
    """Return None for a 304 whose original is missing."""
    if record.record_type != "revisit" or record.status != STATUS_NOT_MODIFIED:
        return build_entry(record)
    name, offset = record.get_field("WARC-Refers-To-Filename"), record.get_field("WARC-Refers-To-File-Offset")
    if "/" in name or not is_offset(offset) or not has_warc_file(archive_folder, name):
        return None
    original = next(iterate_records(archive_folder / name, max_body_bytes=0, start_offset=int(offset)), None)
    if not isinstance(original, StoredRecord):
        return None
    if original.get_field("WARC-Record-ID") != record.get_field("WARC-Refers-To"):
        return None  # the file belongs to another archive, from which the record was imported
    return build_not_modified_entry(record, original)


def split_into_batches(
    entries: Iterator[tuple[CdxjEntry, int]], size: int = 1000
) -> Iterator[list[tuple[CdxjEntry, int]]]:
    batch: list[tuple[CdxjEntry, int]] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _list_runs(folder: Path) -> list[Path]:
    return sorted(folder.glob("run-*.cdxj"))


def _list_merged_file(folder: Path) -> list[Path]:
    return [path for path in [folder / INDEX_FILE] if path.exists()]


def list_index_files(folder: Path) -> list[Path]:
    """Return the merged file and the runs of a crawl that is running or was killed."""
    return [*_list_merged_file(folder), *_list_runs(folder)]


def _load_valid_coverage(folder: Path) -> IndexCoverage:
    """Load the coverage whose files are unmodified. Deletes unlisted files."""
    stored = read_coverage(folder)
    valid = [
        coverage
        for coverage in (stored.pending, stored)
        if coverage is not None and _is_coverage_valid(folder, coverage)
    ]
    result = IndexCoverage(valid[0].lengths, valid[0].files) if valid else IndexCoverage()
    for path in list_index_files(folder):
        if path.name not in result.files:
            path.unlink()
    return result


def find_damaged_files(folder: Path) -> list[str]:
    """Return the index files that are missing or differ from their checksums. Changes nothing."""
    stored = read_coverage(folder)
    if stored.pending is not None and _is_coverage_valid(folder, stored.pending):
        return []
    return [name for name, checksum in stored.files.items() if not _is_file_unmodified(folder / name, checksum)]


def _is_coverage_valid(folder: Path, coverage: IndexCoverage) -> bool:
    return all(_is_file_unmodified(folder / name, checksum) for name, checksum in coverage.files.items())


def _is_file_unmodified(path: Path, expected: FileChecksum) -> bool:
    if not path.is_file() or path.stat().st_size != expected.size:
        return False
    checksum = 0
    with path.open("rb") as file:
        while piece := file.read(CHECKSUM_READ_BYTES):
            checksum = crc32(piece, checksum)
    return checksum == expected.crc32_value


def read_coverage(folder: Path) -> IndexCoverage:
    """Return the coverage as stored; empty if the file is missing or damaged."""
    try:
        return msgspec.json.decode((folder / COVERAGE_FILE).read_bytes(), type=IndexCoverage)
    except (FileNotFoundError, msgspec.DecodeError):
        return IndexCoverage()


def _write_coverage(folder: Path, coverage: IndexCoverage) -> None:
    _write_atomically(folder / COVERAGE_FILE, [msgspec.json.encode(coverage)])


def _write_atomically(path: Path, lines: Iterable[bytes]) -> FileChecksum:
    checksum = _write_draft(path, lines)
    _replace_with_draft(path)
    return checksum


def _write_draft(path: Path, lines: Iterable[bytes]) -> FileChecksum:
    remaining = iter(lines)
    size = checksum = 0
    with path.with_suffix(".draft").open("wb") as file:
        while piece := b"".join(islice(remaining, LINES_PER_WRITE)):
            size, checksum = size + file.write(piece), crc32(piece, checksum)
        file.flush()
        os.fsync(file.fileno())
    return FileChecksum(size, checksum)


def _replace_with_draft(path: Path) -> None:
    path.with_suffix(".draft").replace(path)

"""The index of a collection while it grows: sorted runs now, one sorted file at the end, rebuilt where a crash cut.

Entries are added after their batch is committed and wait in memory. Every so often they become a sorted run on the
disk; `covered.json` says up to where in each WARC file the runs speak, and how each looked when it was written. What a
crash loses is read again from the WARC files, so the index never needs a place in the transaction. A file that
`covered.json` does not name goes, for a crash cut in; where one that it names looks otherwise, all is made anew. How
the merged file will look is written down before it takes its place: whichever of both a crash leaves is known.
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
from sanderling.warc.remote import has_warc_file
from sanderling.warc.surt import build_surt
from sanderling.warc.warc_reader import StoredRecord, iterate_records

RUN_LINES = 20_000
LINES_PER_WRITE, CHECKSUM_READ_BYTES = 1_000, 1 << 20  # written, and bytes read, at once
INDEX_FILE = "index.cdxj"
COVERAGE_FILE = "covered.json"


class FileChecksum(Struct, frozen=True, array_like=True):
    """How a file looked when it was written."""

    size: int = 0
    crc32_value: int = 0  # CRC-32


class IndexCoverage(Struct):
    """What the files on the disk hold: up to where in each WARC file they speak, and the files by name."""

    lengths: dict[str, int] = {}
    files: dict[str, FileChecksum] = {}
    pending: "IndexCoverage | None" = None  # what holds as soon as its files are there


class CdxjIndex:
    """The open index; make one with `open_index`."""

    def __init__(self, folder: Path, coverage: IndexCoverage | None = None, run_lines: int = RUN_LINES) -> None:
        self.folder = folder
        self._coverage = coverage or IndexCoverage()
        self._run_lines = run_lines
        self._buffered_lines: list[bytes] = []

    def add(self, entries: Iterable[CdxjEntry], lengths: Mapping[str, int]) -> None:
        """Take the entries of a committed batch, and the lengths that were committed with it."""
        self._buffered_lines += [format_entry(entry) for entry in entries if entry.status != STATUS_NOT_MODIFIED]
        self._coverage.lengths.update(lengths)
        if len(self._buffered_lines) >= self._run_lines:
            self.write_run()

    def write_run(self) -> None:
        """Put what waits on the disk, sorted."""
        if self._buffered_lines:
            number = 1 + max((int(path.stem[4:]) for path in _list_runs(self.folder)), default=0)
            name = f"run-{number:06d}.cdxj"
            self._coverage.files[name] = _write_atomically(self.folder / name, sorted(self._buffered_lines))
            self._buffered_lines.clear()
        _write_coverage(self.folder, self._coverage)

    def close(self) -> None:
        """Merge everything into one sorted file."""
        runs, waiting = _list_runs(self.folder), sorted(self._buffered_lines)
        if runs or waiting:
            with contextlib.ExitStack() as stack:
                parts = [stack.enter_context(path.open("rb")) for path in [*_list_merged_file(self.folder), *runs]]
                merged = heapq.merge(waiting, *parts) if parts else waiting
                self._coverage.files = {INDEX_FILE: _write_draft(self.folder / INDEX_FILE, merged)}
            before = _read_coverage(self.folder)
            _write_coverage(self.folder, IndexCoverage(before.lengths, before.files, self._coverage))
            _replace_with_draft(self.folder / INDEX_FILE)
            self._buffered_lines.clear()
        _write_coverage(self.folder, self._coverage)
        for run in runs:
            run.unlink()

    def find_captures(self, url: str) -> list[CdxjEntry]:
        """All captures of a URL, oldest first."""
        key = build_surt(url).encode() + b" "
        waiting = [parse_entry(line) for line in self._buffered_lines if line.startswith(key)]
        stored = [entry for path in _list_index_files(self.folder) for entry in read_captures(path, url)]
        return sorted(
            (one for one in [*stored, *waiting] if one.url == url),
            key=lambda one: (one.captured_at, one.location.offset),
        )


def open_cdxj_index(
    folder: Path, archive_folder: Path, committed: Mapping[str, int], run_lines: int = RUN_LINES
) -> CdxjIndex:
    """Open the index and bring it to what is committed: no capture missing, none that is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    covered = _load_valid_coverage(folder)
    if any(length > committed.get(name, 0) for name, length in covered.lengths.items()):
        delete_index(folder)
        covered = IndexCoverage()
    index = CdxjIndex(folder, covered, run_lines)
    for name, length in sorted(committed.items()):
        for batch in _split_into_batches(_read_entries(archive_folder / name, covered.lengths.get(name, 0), length)):
            index.add([entry for entry, _ in batch], {name: batch[-1][1]})
        index.add([], {name: length})
    return index


def remove_entries(folder: Path, should_remove: Callable[[CdxjEntry], bool]) -> None:
    """Take lines out of a closed index; one that is damaged is left to the next opening."""
    covered = _load_valid_coverage(folder)
    for name in covered.files:
        with (folder / name).open("rb") as file:
            lines = (line for line in file if not should_remove(parse_entry(line)))
            covered.files[name] = _write_atomically(folder / name, lines)
    if covered.files:
        _write_coverage(folder, covered)


def delete_index(folder: Path) -> None:
    """Let the next opening read it anew from the WARC files."""
    (folder / COVERAGE_FILE).unlink(missing_ok=True)
    for path in _list_index_files(folder):
        path.unlink()


def find_captures(folder: Path, url: str) -> list[CdxjEntry]:
    """All captures of a URL in a closed index, or as far as the runs of an open one reach; oldest first."""
    return CdxjIndex(folder).find_captures(url)


def find_nearest(entries: Iterable[CdxjEntry], target_time: float) -> CdxjEntry | None:
    """The capture closest in time; None if there is none."""
    return min(entries, key=lambda entry: abs(entry.captured_at - target_time), default=None)


def _read_entries(path: Path, start_offset: int, end_offset: int) -> Iterator[tuple[CdxjEntry, int]]:
    """The captures of a WARC file between two offsets, and where the record of each ends; bodies are not kept."""
    if start_offset >= end_offset or not has_warc_file(path.parent, path.name):
        return
    for record in iterate_records(path, max_body_bytes=0, start_offset=start_offset):
        if record.location.offset >= end_offset:
            return
        entry = _build_record_entry(path.parent, record) if isinstance(record, StoredRecord) else None
        if entry:
            yield entry, record.location.offset + record.location.length


def _build_record_entry(archive_folder: Path, record: StoredRecord) -> CdxjEntry | None:
    """Return the line of a record; that of a 304 needs the original, and is None if that is not here."""
    if record.record_type != "revisit" or record.status != STATUS_NOT_MODIFIED:
        return build_entry(record)
    name, offset = record.get_field("WARC-Refers-To-Filename"), record.get_field("WARC-Refers-To-File-Offset")
    if "/" in name or not offset.isdecimal() or not has_warc_file(archive_folder, name):
        return None
    original = next(iterate_records(archive_folder / name, max_body_bytes=0, start_offset=int(offset)), None)
    return build_not_modified_entry(record, original) if isinstance(original, StoredRecord) else None


def _split_into_batches(
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


def _list_index_files(folder: Path) -> list[Path]:
    return [*_list_merged_file(folder), *_list_runs(folder)]


def _load_valid_coverage(folder: Path) -> IndexCoverage:
    """What the files hold, if they are as they were written; files that do not count go."""
    said = _read_coverage(folder)
    held = [one for one in (said.pending, said) if one is not None and _is_coverage_valid(folder, one)]
    covered = IndexCoverage(held[0].lengths, held[0].files) if held else IndexCoverage()
    for path in _list_index_files(folder):
        if path.name not in covered.files:
            path.unlink()
    return covered


def _is_coverage_valid(folder: Path, coverage: IndexCoverage) -> bool:
    return all(_is_file_unmodified(folder / name, seal) for name, seal in coverage.files.items())


def _is_file_unmodified(path: Path, expected: FileChecksum) -> bool:
    """Is a file there, and nobody cut it or wrote into it?"""
    if not path.is_file() or path.stat().st_size != expected.size:
        return False
    checksum = 0
    with path.open("rb") as file:
        while piece := file.read(CHECKSUM_READ_BYTES):
            checksum = crc32(piece, checksum)
    return checksum == expected.crc32_value


def _read_coverage(folder: Path) -> IndexCoverage:
    try:
        return msgspec.json.decode((folder / COVERAGE_FILE).read_bytes(), type=IndexCoverage)
    except (FileNotFoundError, msgspec.DecodeError):
        return IndexCoverage()


def _write_coverage(folder: Path, coverage: IndexCoverage) -> None:
    _write_atomically(folder / COVERAGE_FILE, [msgspec.json.encode(coverage)])


def _write_atomically(path: Path, lines: Iterable[bytes]) -> FileChecksum:
    """Write a file whole or not at all."""
    seal = _write_draft(path, lines)
    _replace_with_draft(path)
    return seal


def _write_draft(path: Path, lines: Iterable[bytes]) -> FileChecksum:
    """Put what a file is to hold on the disk, beside it."""
    rest = iter(lines)
    size = checksum = 0
    with path.with_suffix(".draft").open("wb") as file:
        while piece := b"".join(islice(rest, LINES_PER_WRITE)):
            size, checksum = size + file.write(piece), crc32(piece, checksum)
        file.flush()
        os.fsync(file.fileno())
    return FileChecksum(size, checksum)


def _replace_with_draft(path: Path) -> None:
    """Let the draft take the place of the file."""
    path.with_suffix(".draft").replace(path)

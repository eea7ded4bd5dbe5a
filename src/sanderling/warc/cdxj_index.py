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

from sanderling.warc.cdxj import NOT_MODIFIED, Entry, captures, confirmed_entry, entry_for, entry_of, line_of
from sanderling.warc.reader import StoredRecord, walk
from sanderling.warc.remote import is_there
from sanderling.warc.surt import surt

RUN_LINES = 20_000
LINES, PIECE = 1_000, 1 << 20  # written, and bytes read, at once
INDEX = "index.cdxj"
COVERED = "covered.json"


class Seal(Struct, frozen=True, array_like=True):
    """How a file looked when it was written."""

    size: int = 0
    checksum: int = 0  # CRC-32


class Covered(Struct):
    """What the files on the disk hold: up to where in each WARC file they speak, and the files by name."""

    lengths: dict[str, int] = {}
    files: dict[str, Seal] = {}
    coming: "Covered | None" = None  # what holds as soon as its files are there


class Index:
    """The open index; make one with `open_index`."""

    def __init__(self, folder: Path, covered: Covered | None = None, run_lines: int = RUN_LINES) -> None:
        self.folder = folder
        self._covered = covered or Covered()
        self._run_lines = run_lines
        self._waiting: list[bytes] = []

    def add(self, entries: Iterable[Entry], lengths: Mapping[str, int]) -> None:
        """Take the entries of a committed batch, and the lengths that were committed with it."""
        self._waiting += [line_of(entry) for entry in entries if entry.status != NOT_MODIFIED]
        self._covered.lengths.update(lengths)
        if len(self._waiting) >= self._run_lines:
            self.write_run()

    def write_run(self) -> None:
        """Put what waits on the disk, sorted."""
        if self._waiting:
            number = 1 + max((int(path.stem[4:]) for path in _runs(self.folder)), default=0)
            name = f"run-{number:06d}.cdxj"
            self._covered.files[name] = _write(self.folder / name, sorted(self._waiting))
            self._waiting.clear()
        _write_covered(self.folder, self._covered)

    def close(self) -> None:
        """Merge everything into one sorted file."""
        runs, waiting = _runs(self.folder), sorted(self._waiting)
        if runs or waiting:
            with contextlib.ExitStack() as stack:
                parts = [stack.enter_context(path.open("rb")) for path in [*_index(self.folder), *runs]]
                merged = heapq.merge(waiting, *parts) if parts else waiting
                self._covered.files = {INDEX: _draft(self.folder / INDEX, merged)}
            before = _read_covered(self.folder)
            _write_covered(self.folder, Covered(before.lengths, before.files, self._covered))
            _settle(self.folder / INDEX)
            self._waiting.clear()
        _write_covered(self.folder, self._covered)
        for run in runs:
            run.unlink()

    def captures(self, url: str) -> list[Entry]:
        """All captures of a URL, oldest first."""
        key = surt(url).encode() + b" "
        waiting = [entry_of(line) for line in self._waiting if line.startswith(key)]
        stored = [entry for path in _files(self.folder) for entry in captures(path, url)]
        return sorted(
            (one for one in [*stored, *waiting] if one.url == url), key=lambda one: (one.at, one.place.offset)
        )


def open_index(folder: Path, archive: Path, committed: Mapping[str, int], run_lines: int = RUN_LINES) -> Index:
    """Open the index and bring it to what is committed: no capture missing, none that is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    covered = _sound(folder)
    if any(length > committed.get(name, 0) for name, length in covered.lengths.items()):
        wipe(folder)
        covered = Covered()
    index = Index(folder, covered, run_lines)
    for name, length in sorted(committed.items()):
        for batch in _batches(_entries(archive / name, covered.lengths.get(name, 0), length)):
            index.add([entry for entry, _ in batch], {name: batch[-1][1]})
        index.add([], {name: length})
    return index


def drop(folder: Path, is_unwanted: Callable[[Entry], bool]) -> None:
    """Take lines out of a closed index; one that is damaged is left to the next opening."""
    covered = _sound(folder)
    for name in covered.files:
        with (folder / name).open("rb") as file:
            lines = (line for line in file if not is_unwanted(entry_of(line)))
            covered.files[name] = _write(folder / name, lines)
    if covered.files:
        _write_covered(folder, covered)


def wipe(folder: Path) -> None:
    """Let the next opening read it anew from the WARC files."""
    (folder / COVERED).unlink(missing_ok=True)
    for path in _files(folder):
        path.unlink()


def look_up(folder: Path, url: str) -> list[Entry]:
    """All captures of a URL in a closed index, or as far as the runs of an open one reach; oldest first."""
    return Index(folder).captures(url)


def nearest(entries: Iterable[Entry], at: float) -> Entry | None:
    """The capture closest in time; None if there is none."""
    return min(entries, key=lambda entry: abs(entry.at - at), default=None)


def _entries(path: Path, start: int, end: int) -> Iterator[tuple[Entry, int]]:
    """The captures of a WARC file between two offsets, and where the record of each ends; bodies are not kept."""
    if start >= end or not is_there(path.parent, path.name):
        return
    for record in walk(path, cap=0, start=start):
        if record.place.offset >= end:
            return
        entry = _entry(path.parent, record) if isinstance(record, StoredRecord) else None
        if entry:
            yield entry, record.place.offset + record.place.length


def _entry(archive: Path, record: StoredRecord) -> Entry | None:
    """Return the line of a record; that of a 304 needs the original, and is None if that is not here."""
    if record.kind != "revisit" or record.status != NOT_MODIFIED:
        return entry_for(record)
    name, offset = record.field("WARC-Refers-To-Filename"), record.field("WARC-Refers-To-File-Offset")
    if "/" in name or not offset.isdecimal() or not is_there(archive, name):
        return None
    original = next(walk(archive / name, cap=0, start=int(offset)), None)
    return confirmed_entry(record, original) if isinstance(original, StoredRecord) else None


def _batches(entries: Iterator[tuple[Entry, int]], size: int = 1000) -> Iterator[list[tuple[Entry, int]]]:
    batch: list[tuple[Entry, int]] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _runs(folder: Path) -> list[Path]:
    return sorted(folder.glob("run-*.cdxj"))


def _index(folder: Path) -> list[Path]:
    return [path for path in [folder / INDEX] if path.exists()]


def _files(folder: Path) -> list[Path]:
    return [*_index(folder), *_runs(folder)]


def _sound(folder: Path) -> Covered:
    """What the files hold, if they are as they were written; files that do not count go."""
    said = _read_covered(folder)
    held = [one for one in (said.coming, said) if one is not None and _is_there(folder, one)]
    covered = Covered(held[0].lengths, held[0].files) if held else Covered()
    for path in _files(folder):
        if path.name not in covered.files:
            path.unlink()
    return covered


def _is_there(folder: Path, covered: Covered) -> bool:
    return all(_is_as_written(folder / name, seal) for name, seal in covered.files.items())


def _is_as_written(path: Path, seal: Seal) -> bool:
    """Is a file there, and nobody cut it or wrote into it?"""
    if not path.is_file() or path.stat().st_size != seal.size:
        return False
    checksum = 0
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            checksum = crc32(piece, checksum)
    return checksum == seal.checksum


def _read_covered(folder: Path) -> Covered:
    try:
        return msgspec.json.decode((folder / COVERED).read_bytes(), type=Covered)
    except (FileNotFoundError, msgspec.DecodeError):
        return Covered()


def _write_covered(folder: Path, covered: Covered) -> None:
    _write(folder / COVERED, [msgspec.json.encode(covered)])


def _write(path: Path, lines: Iterable[bytes]) -> Seal:
    """Write a file whole or not at all."""
    seal = _draft(path, lines)
    _settle(path)
    return seal


def _draft(path: Path, lines: Iterable[bytes]) -> Seal:
    """Put what a file is to hold on the disk, beside it."""
    rest = iter(lines)
    size = checksum = 0
    with path.with_suffix(".draft").open("wb") as file:
        while piece := b"".join(islice(rest, LINES)):
            size, checksum = size + file.write(piece), crc32(piece, checksum)
        file.flush()
        os.fsync(file.fileno())
    return Seal(size, checksum)


def _settle(path: Path) -> None:
    """Let the draft take the place of the file."""
    path.with_suffix(".draft").replace(path)

"""The index of a collection while it grows: sorted runs now, one sorted file at the end, rebuilt where a crash cut.

Entries are added after their batch is committed and wait in memory. Every so often they become a sorted run on the
disk; `covered.json` says up to where in each WARC file the runs speak. What a crash loses is read again from the WARC
files, so the index never needs a place in the transaction.
"""

import contextlib
import heapq
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

import msgspec

from sanderling.store.cdxj import NOT_MODIFIED, Entry, captures, entry_for, entry_of, line_of
from sanderling.store.offsite import is_there
from sanderling.store.read import StoredRecord, walk
from sanderling.store.surt import surt

RUN_LINES = 20_000
INDEX = "index.cdxj"
COVERED = "covered.json"


class Index:
    """The open index; make one with `open_index`."""

    def __init__(self, folder: Path, covered: Mapping[str, int], run_lines: int = RUN_LINES) -> None:
        self.folder = folder
        self._covered = dict(covered)
        self._run_lines = run_lines
        self._waiting: list[bytes] = []

    def add(self, entries: Iterable[Entry], lengths: Mapping[str, int]) -> None:
        """Take the entries of a committed batch, and the lengths that were committed with it."""
        self._waiting += [line_of(entry) for entry in entries if entry.status != NOT_MODIFIED]
        self._covered.update(lengths)
        if len(self._waiting) >= self._run_lines:
            self.write_run()

    def write_run(self) -> None:
        """Put what waits on the disk, sorted."""
        if self._waiting:
            number = 1 + max((int(path.stem[4:]) for path in _runs(self.folder)), default=0)
            _write(self.folder / f"run-{number:06d}.cdxj", sorted(self._waiting))
            self._waiting.clear()
        self._write_covered()

    def _write_covered(self) -> None:
        _write(self.folder / COVERED, [msgspec.json.encode(self._covered)])

    def close(self) -> None:
        """Merge everything into one sorted file."""
        runs, waiting = _runs(self.folder), sorted(self._waiting)
        if runs or waiting:
            with contextlib.ExitStack() as stack:
                parts = [stack.enter_context(path.open("rb")) for path in [*_index(self.folder), *runs]]
                _write(self.folder / INDEX, _without_twins(heapq.merge(waiting, *parts)) if parts else waiting)
            self._waiting.clear()
        self._write_covered()
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
    covered = _read_covered(folder)
    too_much = any(length > committed.get(name, 0) for name, length in covered.items())
    if too_much or not all(map(_is_whole, _files(folder))):
        covered = {}
        for path in _files(folder):
            path.unlink()
    index = Index(folder, covered, run_lines)
    for name, length in sorted(committed.items()):
        for batch in _batches(_entries(archive / name, covered.get(name, 0), length)):
            index.add(batch, {name: batch[-1].place.offset + batch[-1].place.length})
        index.add([], {name: length})
    return index


def drop(folder: Path, is_unwanted: Callable[[Entry], bool]) -> None:
    """Take lines out of a closed index."""
    for path in _files(folder):
        with path.open("rb") as file:
            _write(path, (line for line in file if not is_unwanted(entry_of(line))))


def wipe(folder: Path) -> None:
    """Let the next opening read it anew from the WARC files."""
    for path in _files(folder):
        path.unlink()


def look_up(folder: Path, url: str) -> list[Entry]:
    """All captures of a URL in a closed index, or as far as the runs of an open one reach; oldest first."""
    return Index(folder, {}).captures(url)


def nearest(entries: Iterable[Entry], at: float) -> Entry | None:
    """The capture closest in time; None if there is none."""
    return min(entries, key=lambda entry: abs(entry.at - at), default=None)


def _entries(path: Path, start: int, end: int) -> Iterator[Entry]:
    """The captures of a WARC file between two offsets; bodies are not kept."""
    if start >= end or not is_there(path.parent, path.name):
        return
    for record in walk(path, cap=0, start=start):
        if record.place.offset >= end:
            return
        entry = entry_for(record) if isinstance(record, StoredRecord) else None
        if entry:
            yield entry


def _batches(entries: Iterator[Entry], size: int = 1000) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _without_twins(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Drop a line that speaks of the same record as another: a crash may have let a run be written twice."""
    for _, group in groupby(lines, key=_key):
        same = list(group)
        yield from same if len(same) == 1 else {entry_of(line).place: line for line in same}.values()


def _key(line: bytes) -> bytes:
    """URL key and time; all of a line that is none of ours."""
    end = line.find(b" ", line.find(b" ") + 1)
    return line[:end] if end >= 0 else line


def _is_whole(path: Path) -> bool:
    """Does a file end as we end it, and begin with a line of ours? Others may have cut it, or written into it."""
    with path.open("rb") as file:
        first, size = file.readline(), file.seek(0, os.SEEK_END)
        if not size:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n" and first.count(b" ") >= 2


def _runs(folder: Path) -> list[Path]:
    return sorted(folder.glob("run-*.cdxj"))


def _index(folder: Path) -> list[Path]:
    return [path for path in [folder / INDEX] if path.exists()]


def _files(folder: Path) -> list[Path]:
    return [*_index(folder), *_runs(folder)]


def _read_covered(folder: Path) -> dict[str, int]:
    """Up to where the files on the disk speak; nothing, if they are gone."""
    if not _files(folder):
        return {}
    try:
        return msgspec.json.decode((folder / COVERED).read_bytes(), type=dict[str, int])
    except (FileNotFoundError, msgspec.DecodeError):
        return {}


def _write(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file whole or not at all."""
    draft = path.with_suffix(".draft")
    with draft.open("wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)

"""After a crash: cut every WARC file back to what was committed, so that no place points into nothing."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from sanderling.warc.gzip_members import whole_members

OURS = "sanderling-*.warc.gz"  # files of another name are somebody else's, and are left alone


class Repair(Struct, frozen=True):
    """What was done to one file."""

    file: str
    was: int
    now: int
    missing: int = 0  # committed bytes that are not there: places at `now` and beyond cannot be read

    @property
    def told(self) -> str:
        """In one line, for the log."""
        if self.missing:
            return f"{self.file} lacks {self.missing:,} bytes that were stored in it: records at its end cannot be read"
        return f"{self.file} was cut from {self.was:,} to {self.now:,} bytes: the rest was never committed"


def repair(folder: Path, committed: Mapping[str, int]) -> list[Repair]:
    """Cut files to their committed length, and files nobody committed to their last whole member."""
    names = sorted({path.name for path in folder.glob(OURS)} | set(committed))
    done = [_repair_one(folder / name, committed.get(name)) for name in names]
    return [one for one in done if one.was != one.now or one.missing]


def _repair_one(path: Path, committed: int | None) -> Repair:
    was = path.stat().st_size if path.exists() else 0
    keep = committed if committed is not None and committed <= was else _end_of_last_member(path)
    if keep < was:
        _cut(path, keep)
    if keep == 0:  # not even its warcinfo is whole
        path.unlink(missing_ok=True)
    return Repair(path.name, was, keep, max(0, (committed or 0) - keep))


def _end_of_last_member(path: Path) -> int:
    """Where the last whole member ends; damage before it is not a tail, and stays."""
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return max((offset + length for offset, length in whole_members(file)), default=0)


def _cut(path: Path, length: int) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.ftruncate(fd, length)
        os.fsync(fd)
    finally:
        os.close(fd)

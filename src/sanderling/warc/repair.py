"""After a crash: cut every WARC file back to what was committed, so that no place points into nothing."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from sanderling.warc.gzip_members import find_intact_members

ARCHIVE_FILE_GLOB = "sanderling-*.warc.gz"  # files of another name are somebody else's, and are left alone


class FileRepair(Struct, frozen=True):
    """What was done to one file."""

    file: str
    old_length: int
    new_length: int
    missing_bytes: int = 0  # committed bytes that are not there: places at `now` and beyond cannot be read

    @property
    def description(self) -> str:
        """In one line, for the log."""
        if self.missing_bytes:
            return f"{self.file} lacks {self.missing_bytes:,} bytes that were stored in it: records at its end cannot be read"
        return (
            f"{self.file} was cut from {self.old_length:,} to {self.new_length:,} bytes: the rest was never committed"
        )


def repair_archive(folder: Path, committed: Mapping[str, int]) -> list[FileRepair]:
    """Cut files to their committed length, and files nobody committed to their last whole member."""
    names = sorted({path.name for path in folder.glob(ARCHIVE_FILE_GLOB)} | set(committed))
    done = [_repair_file(folder / name, committed.get(name)) for name in names]
    return [one for one in done if one.old_length != one.new_length or one.missing_bytes]


def _repair_file(path: Path, committed_length: int | None) -> FileRepair:
    was = path.stat().st_size if path.exists() else 0
    keep = committed_length if committed_length is not None and committed_length <= was else _find_last_member_end(path)
    if keep < was:
        _truncate_file(path, keep)
    if keep == 0:  # not even its warcinfo is whole
        path.unlink(missing_ok=True)
    return FileRepair(path.name, was, keep, max(0, (committed_length or 0) - keep))


def _find_last_member_end(path: Path) -> int:
    """Where the last whole member ends; damage before it is not a tail, and stays."""
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return max((offset + length for offset, length in find_intact_members(file)), default=0)


def _truncate_file(path: Path, length: int) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.ftruncate(fd, length)
        os.fsync(fd)
    finally:
        os.close(fd)

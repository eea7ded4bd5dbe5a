"""Truncate WARC files to their committed length after a crash."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from sanderling.warc.gzip_members import find_intact_members

ARCHIVE_FILE_GLOB = "sanderling-*.warc.gz"  # files with other names are never touched


class FileRepair(Struct, frozen=True):
    file: str
    old_length: int
    new_length: int
    missing_bytes: int = 0  # committed bytes that are missing: records beyond `new_length` are lost

    @property
    def description(self) -> str:
        if self.missing_bytes:
            return f"{self.file} lacks {self.missing_bytes:,} committed bytes: records at its end cannot be read"
        return (
            f"{self.file} was truncated from {self.old_length:,} to {self.new_length:,} bytes:"
            " the rest was never committed"
        )


def repair_archive(folder: Path, committed: Mapping[str, int]) -> list[FileRepair]:
    """Truncate files to their committed length or last intact member."""
    names = sorted({path.name for path in folder.glob(ARCHIVE_FILE_GLOB)} | set(committed))
    repairs = [_repair_file(folder / name, committed.get(name)) for name in names]
    return [repair for repair in repairs if repair.old_length != repair.new_length or repair.missing_bytes]


def _repair_file(path: Path, committed_length: int | None) -> FileRepair:
    old_length = path.stat().st_size if path.exists() else 0
    new_length = (
        committed_length
        if committed_length is not None and committed_length <= old_length
        else _find_last_member_end(path)
    )
    if new_length < old_length:
        _truncate_file(path, new_length)
    if new_length == 0:  # not even the warcinfo record is complete
        path.unlink(missing_ok=True)
    return FileRepair(path.name, old_length, new_length, max(0, (committed_length or 0) - new_length))


def _find_last_member_end(path: Path) -> int:
    """Return the end of the last intact member. Earlier damage stays."""
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

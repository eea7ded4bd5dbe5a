"""Follow an access log through rotation, reading each line once.

The position is committed together with the lines. A file is identified by its first bytes instead of its name, so that
it is found after renaming, compression, or copytruncate.
"""

import gzip
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, cast

HEAD_BYTES = 512  # identify a file
READ_BYTES = 1 << 20
MAX_LINE_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class LogPosition:
    """The position in a log: the file (identified by its first bytes), and an offset."""

    head_digest: str = ""
    head_size: int = 0
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.head_digest} {self.head_size} {self.offset}"


def parse_position(text: str) -> LogPosition:
    """Parse a stored position. Invalid text gives the start."""
    parts = text.split()
    return LogPosition(parts[0], int(parts[1]), int(parts[2])) if len(parts) == 3 else LogPosition()


def open_log(path: Path) -> IO[bytes]:
    """Open a log, compressed or not."""
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def list_rotated_logs(path: Path) -> list[Path]:
    """Return rotated files, oldest first: access.log.2.gz, access.log.1, access.log-20240501."""
    candidates = [entry for entry in path.parent.glob(_escape_glob(path.name) + "[.-]*") if entry.is_file()]
    rotated = [
        entry for entry in candidates if entry.suffix in (".gz", "") or entry.suffix[1:].isdigit() or "-" in entry.name
    ]
    return sorted(rotated, key=lambda entry: (entry.stat().st_mtime, entry.name))


def _escape_glob(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def is_same_log(path: Path, position: LogPosition) -> bool:
    """Return whether a file starts with the bytes of this position."""
    try:
        with open_log(path) as file:
            return _digest_head(file.read(position.head_size)) == position.head_digest
    except (OSError, EOFError, zlib.error):
        return False


def _digest_head(head: bytes) -> str:
    return sha256(head).hexdigest()[:32]


def list_unread_files(path: Path, position: LogPosition) -> list[tuple[Path, int]]:
    """Return the unread files with start offsets: the file of the position, then all newer files."""
    current = [path] if path.is_file() else []
    if not position.head_size:
        return [(file, 0) for file in [*list_rotated_logs(path), *current]]
    newer: list[tuple[Path, int]] = []
    for file in (*current, *reversed(list_rotated_logs(path))):
        if is_same_log(file, position):
            return [(file, position.offset), *newer]
        newer.insert(0, (file, 0))
    return [(file, 0) for file in current]  # the file is gone: rereading older files would count lines twice


def read_lines(path: Path, offset: int) -> Iterator[tuple[list[bytes], LogPosition]]:
    """Yield complete lines in chunks, with the position after each chunk."""
    try:
        with open_log(path) as file:
            head = file.read(HEAD_BYTES)
            if offset > _get_log_size(path, file):
                offset = 0  # the file was truncated
            file.seek(offset)
            yield from _read_chunks(file, offset, head)
    except (OSError, EOFError, zlib.error):
        return  # deleted or damaged: earlier chunks are kept


def _get_log_size(path: Path, file: IO[bytes]) -> int:
    return file.seek(0, os.SEEK_END) if path.suffix != ".gz" else 1 << 62


def _read_chunks(file: IO[bytes], offset: int, head: bytes) -> Iterator[tuple[list[bytes], LogPosition]]:
    remainder = b""
    start = LogPosition(_digest_head(head), len(head))
    while block := file.read(READ_BYTES):
        lines, newline, remainder = (remainder + block).rpartition(b"\n")
        if newline:
            offset += len(lines) + 1
            yield lines.split(b"\n"), LogPosition(start.head_digest, start.head_size, offset)
        elif len(remainder) > MAX_LINE_BYTES:
            offset += len(remainder)  # skip an overlong line
            remainder = b""
            yield [], LogPosition(start.head_digest, start.head_size, offset)

"""Following an access log: from where we stopped, through rotated files, to the live end; each line counted once.

The place reached is kept with what was read, in one commit. A file is known again by its first bytes, not by its
name: so it is found after it was renamed, compressed, or copied and cut.
"""

import gzip
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, cast

HEAD_BYTES = 512  # bytes by which a file is known again
READ_BYTES = 1 << 20
MAX_LINE_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class LogPosition:
    """How far a log was read: which file (by its first bytes), and how many bytes of it."""

    head_digest: str = ""
    head_size: int = 0
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.head_digest} {self.head_size} {self.offset}"


def parse_position(text: str) -> LogPosition:
    """Read a stored position."""
    parts = text.split()
    return LogPosition(parts[0], int(parts[1]), int(parts[2])) if len(parts) == 3 else LogPosition()


def open_log(path: Path) -> IO[bytes]:
    """Open a log, compressed or not."""
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def list_rotated_logs(path: Path) -> list[Path]:
    """List the older files of a log, oldest first: access.log.2.gz, access.log.1, access.log-20240501 ..."""
    family = [entry for entry in path.parent.glob(_escape_glob(path.name) + "[.-]*") if entry.is_file()]
    old = [entry for entry in family if entry.suffix in (".gz", "") or entry.suffix[1:].isdigit() or "-" in entry.name]
    return sorted(old, key=lambda entry: (entry.stat().st_mtime, entry.name))


def _escape_glob(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def is_same_log(path: Path, position: LogPosition) -> bool:
    """Say if a file begins with the bytes the position remembers, and is long enough."""
    try:
        with open_log(path) as file:
            return _digest_head(file.read(position.head_size)) == position.head_digest
    except (OSError, EOFError, zlib.error):
        return False


def _digest_head(head: bytes) -> str:
    return sha256(head).hexdigest()[:32]


def list_unread_files(path: Path, position: LogPosition) -> list[tuple[Path, int]]:
    """Name the files still to be read and where to begin in each: the one we stopped in, then all newer ones."""
    current = [path] if path.is_file() else []
    if not position.head_size:
        return [(file, 0) for file in [*list_rotated_logs(path), *current]]
    newer: list[tuple[Path, int]] = []
    for file in (*current, *reversed(list_rotated_logs(path))):
        if is_same_log(file, position):
            return [(file, position.offset), *newer]
        newer.insert(0, (file, 0))
    return [(file, 0) for file in current]  # what we read is nowhere: to read older files again would count twice


def read_lines(path: Path, offset: int) -> Iterator[tuple[list[bytes], LogPosition]]:
    """Read whole lines from an offset on, in chunks, each with the position after it; a half line waits."""
    try:
        with open_log(path) as file:
            head = file.read(HEAD_BYTES)
            if offset > _get_log_size(path, file):
                offset = 0  # it was cut: what is there is new
            file.seek(offset)
            yield from _read_chunks(file, offset, head)
    except (OSError, EOFError, zlib.error):
        return  # gone or damaged: what was read is kept


def _get_log_size(path: Path, file: IO[bytes]) -> int:
    return file.seek(0, os.SEEK_END) if path.suffix != ".gz" else 1 << 62


def _read_chunks(file: IO[bytes], offset: int, head: bytes) -> Iterator[tuple[list[bytes], LogPosition]]:
    rest = b""
    known = LogPosition(_digest_head(head), len(head))
    while block := file.read(READ_BYTES):
        whole, newline, rest = (rest + block).rpartition(b"\n")
        if newline:
            offset += len(whole) + 1
            yield whole.split(b"\n"), LogPosition(known.head_digest, known.head_size, offset)
        elif len(rest) > MAX_LINE_BYTES:
            offset += len(rest)  # a line without end is no line
            rest = b""
            yield [], LogPosition(known.head_digest, known.head_size, offset)

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

HEAD = 512  # bytes by which a file is known again
CHUNK = 1 << 20
LONGEST = 65_536


@dataclass(frozen=True, slots=True)
class Position:
    """How far a log was read: which file (by its first bytes), and how many bytes of it."""

    head: str = ""
    head_size: int = 0
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.head} {self.head_size} {self.offset}"


def read_position(text: str) -> Position:
    """Read a stored position."""
    parts = text.split()
    return Position(parts[0], int(parts[1]), int(parts[2])) if len(parts) == 3 else Position()


def open_log(path: Path) -> IO[bytes]:
    """Open a log, compressed or not."""
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def rotated(path: Path) -> list[Path]:
    """List the older files of a log, oldest first: access.log.2.gz, access.log.1, access.log-20240501 ..."""
    family = [entry for entry in path.parent.glob(_escaped(path.name) + "[.-]*") if entry.is_file()]
    old = [entry for entry in family if entry.suffix in (".gz", "") or entry.suffix[1:].isdigit() or "-" in entry.name]
    return sorted(old, key=lambda entry: (entry.stat().st_mtime, entry.name))


def _escaped(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def is_same(path: Path, position: Position) -> bool:
    """Say if a file begins with the bytes the position remembers, and is long enough."""
    try:
        with open_log(path) as file:
            return _digest(file.read(position.head_size)) == position.head
    except (OSError, EOFError, zlib.error):
        return False


def _digest(head: bytes) -> str:
    return sha256(head).hexdigest()[:32]


def to_read(path: Path, position: Position) -> list[tuple[Path, int]]:
    """Name the files still to be read and where to begin in each: the one we stopped in, then all newer ones."""
    current = [path] if path.is_file() else []
    if not position.head_size:
        return [(file, 0) for file in [*rotated(path), *current]]
    newer: list[tuple[Path, int]] = []
    for file in (*current, *reversed(rotated(path))):
        if is_same(file, position):
            return [(file, position.offset), *newer]
        newer.insert(0, (file, 0))
    return [(file, 0) for file in current]  # what we read is nowhere: to read older files again would count twice


def lines(path: Path, offset: int) -> Iterator[tuple[list[bytes], Position]]:
    """Read whole lines from an offset on, in chunks, each with the position after it; a half line waits."""
    try:
        with open_log(path) as file:
            head = file.read(HEAD)
            if offset > _size(path, file):
                offset = 0  # it was cut: what is there is new
            file.seek(offset)
            yield from _chunks(file, offset, head)
    except (OSError, EOFError, zlib.error):
        return  # gone or damaged: what was read is kept


def _size(path: Path, file: IO[bytes]) -> int:
    return file.seek(0, os.SEEK_END) if path.suffix != ".gz" else 1 << 62


def _chunks(file: IO[bytes], offset: int, head: bytes) -> Iterator[tuple[list[bytes], Position]]:
    rest = b""
    known = Position(_digest(head), len(head))
    while block := file.read(CHUNK):
        whole, newline, rest = (rest + block).rpartition(b"\n")
        if newline:
            offset += len(whole) + 1
            yield whole.split(b"\n"), Position(known.head, known.head_size, offset)
        elif len(rest) > LONGEST:
            offset += len(rest)  # a line without end is no line
            rest = b""
            yield [], Position(known.head, known.head_size, offset)

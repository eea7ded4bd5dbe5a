"""What was said at the first visit, kept on both sides: later streams refer to it, so a changed page costs its change.

Both sides keep the same bytes: the messages of the first answer on a connection, in order, up to a limit. The crawler
names what it has by digest; if the host has it too, the stream begins with it.
"""

import hashlib
import os
from pathlib import Path

MOST = 24 * 2**20  # bytes kept of one visit
LEAST = 64 * 1024  # less is not worth it
FILES = 64  # memories a host keeps; the longest unused goes first
NAME_BYTES = 16


def name_of(content: bytes) -> str:
    """The name both sides know it by."""
    return hashlib.sha256(content).hexdigest()[: 2 * NAME_BYTES]


class Memories:
    """A folder of memories by name: the host's side."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, name: str) -> bytes:
        """The memory of this name; empty if there is none any more."""
        if len(name) != 2 * NAME_BYTES or not name.isalnum():
            return b""
        return _read(self.folder / name, name)

    def keep(self, content: bytes) -> None:
        """Keep what was said; forget the longest unused if there are too many. A full disk costs only that."""
        if len(content) < LEAST:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write(self.folder / name_of(content), content)
            files = sorted(self.folder.iterdir(), key=lambda file: file.stat().st_mtime)
            for file in files[:-FILES]:
                file.unlink(missing_ok=True)
        except OSError:
            return


class Recall:
    """The crawler's side: one memory per site and host, in its collection."""

    def __init__(self, folder: str, receiver: str, site: str) -> None:
        self.file = Path(folder) / hashlib.sha256(f"{receiver} {site}".encode()).hexdigest()[:32] if folder else None

    def content(self) -> bytes:
        """What we remember."""
        return _read(self.file) if self.file is not None else b""

    def keep(self, content: bytes) -> None:
        """Remember what was said."""
        if self.file is None or len(content) < LEAST:
            return
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write(self.file, content)
        except OSError:
            return


def _read(file: Path, name: str = "") -> bytes:
    try:
        content = file.read_bytes()
        os.utime(file)
    except OSError:
        return b""
    return content if not name or name_of(content) == name else b""


def write(file: Path, content: bytes) -> None:
    """Write a file that is nobody else's, whole or not at all."""
    fresh = file.with_name(file.name + ".new")
    try:
        fresh.write_bytes(content)
        fresh.chmod(0o600)
        fresh.rename(file)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise

"""What was said at the first visit, kept on both sides: later streams refer to it, so a changed page costs its change.

Both sides keep the same bytes: the messages of the first answer on a connection, in order, up to a limit. The crawler
names what it has by digest; if the host has it too, the stream begins with it.
"""

import hashlib
import os
from pathlib import Path

MAX_DICTIONARY_BYTES = 24 * 2**20  # bytes kept of one visit
MIN_DICTIONARY_BYTES = 64 * 1024  # less is not worth it
MAX_DICTIONARIES = 64  # memories a host keeps; the longest unused goes first
ID_BYTES = 16


def compute_dictionary_id(content: bytes) -> str:
    """The name both sides know it by."""
    return hashlib.sha256(content).hexdigest()[: 2 * ID_BYTES]


class DictionaryStore:
    """A folder of memories by name: the host's side."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, dictionary_id: str) -> bytes:
        """The memory of this name; empty if there is none any more."""
        if len(dictionary_id) != 2 * ID_BYTES or not dictionary_id.isalnum():
            return b""
        return _read_dictionary(self.folder / dictionary_id, dictionary_id)

    def put(self, content: bytes) -> None:
        """Keep what was said; forget the longest unused if there are too many. A full disk costs only that."""
        if len(content) < MIN_DICTIONARY_BYTES:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(self.folder / compute_dictionary_id(content), content)
            files = sorted(self.folder.iterdir(), key=lambda file: file.stat().st_mtime)
            for file in files[:-MAX_DICTIONARIES]:
                file.unlink(missing_ok=True)
        except OSError:
            return


class SiteDictionary:
    """The crawler's side: one memory per site and host, in its collection."""

    def __init__(self, folder: str, receiver: str, site: str) -> None:
        self.file = Path(folder) / hashlib.sha256(f"{receiver} {site}".encode()).hexdigest()[:32] if folder else None

    def load(self) -> bytes:
        """What we remember."""
        return _read_dictionary(self.file) if self.file is not None else b""

    def save(self, content: bytes) -> None:
        """Remember what was said."""
        if self.file is None or len(content) < MIN_DICTIONARY_BYTES:
            return
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(self.file, content)
        except OSError:
            return


def _read_dictionary(file: Path, dictionary_id: str = "") -> bytes:
    try:
        content = file.read_bytes()
        os.utime(file)
    except OSError:
        return b""
    return content if not dictionary_id or compute_dictionary_id(content) == dictionary_id else b""


def write_atomically(file: Path, content: bytes) -> None:
    """Write a file that is nobody else's, whole or not at all."""
    fresh = file.with_name(file.name + ".new")
    try:
        fresh.write_bytes(content)
        fresh.chmod(0o600)
        fresh.rename(file)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise

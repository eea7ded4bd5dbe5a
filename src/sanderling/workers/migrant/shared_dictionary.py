"""zstd dictionaries shared by a crawler and a migrant, so that a changed page costs only its change.

Both sides store the messages of the first response. A later request names the dictionary by its digest.
"""

import hashlib
import os
from pathlib import Path

MAX_DICTIONARY_BYTES = 24 * 2**20  # fits into the zstd window with the pages of a revisit
MIN_DICTIONARY_BYTES = 64 * 1024  # a smaller one is not worth a file
MAX_DICTIONARIES = 64  # per migrant; the least recently used are deleted
ID_BYTES = 16


def compute_dictionary_id(content: bytes) -> str:
    """Return the identifier of a dictionary: a prefix of its SHA-256 digest."""
    return hashlib.sha256(content).hexdigest()[: 2 * ID_BYTES]


class DictionaryStore:
    """Dictionaries of a migrant, in files named by identifier."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, dictionary_id: str) -> bytes:
        """Return a dictionary; empty if it is unknown or damaged."""
        if len(dictionary_id) != 2 * ID_BYTES or not dictionary_id.isalnum():
            return b""
        return _read_dictionary(self.folder / dictionary_id, dictionary_id)

    def put(self, content: bytes) -> None:
        """Store a dictionary and delete the least recently used. Ignores disk errors."""
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
    def __init__(self, folder: str, receiver: str, site: str) -> None:
        self.file = Path(folder) / hashlib.sha256(f"{receiver} {site}".encode()).hexdigest()[:32] if folder else None

    def load(self) -> bytes:
        """Return the stored dictionary; empty if there is no file."""
        return _read_dictionary(self.file) if self.file is not None else b""

    def save(self, content: bytes) -> None:
        """Store a dictionary. Ignores disk errors."""
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
    temporary = file.with_name(file.name + ".new")
    try:
        temporary.write_bytes(content)
        temporary.chmod(0o600)
        temporary.rename(file)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise

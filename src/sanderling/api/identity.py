"""Identity of a crawler: the key that signs its requests, and the key directory that sites verify them with."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sanderling.errors import UsageError
from sanderling.http.request_signing import DIRECTORY_PATH, build_key_directory, compute_key_id
from sanderling.workers.migrant.keys import create_key, load_key


def create_identity(file: Path) -> str:
    """Write a new private key and FILE.pub. Returns the key id. Raises UsageError if the file exists."""
    create_key(file)
    return compute_key_id(_load_public_key(file))


def load_key_directory(files: Sequence[Path]) -> dict[str, Any]:
    """Return the directory with the public keys of these key files."""
    return build_key_directory([_load_public_key(file) for file in files])


def write_key_directory(files: Sequence[Path], folder: Path) -> Path:
    """Write the directory below the folder of a web site, and return its path."""
    directory, target = load_key_directory(files), folder / DIRECTORY_PATH
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(directory, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from None
    return target


def _load_public_key(file: Path) -> bytes:
    return load_key(file).public_key().public_bytes_raw()

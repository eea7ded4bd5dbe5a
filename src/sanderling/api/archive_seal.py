"""Record digests of the WARC files of a collection."""

import time
from pathlib import Path

from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import StoredCollection, has_collection
from sanderling.storage.seals import SEALS_FILE, SealReport, seal_files
from sanderling.warc.signature import load_signing_key

__all__ = ["SealReport", "has_collection", "is_sealed", "load_key", "seal_archive"]


def load_key(path: str) -> None:
    """Raise UsageError unless the path is empty or that of a usable key."""
    if path:
        load_signing_key(Path(path))


def is_sealed(folder: Path) -> bool:
    return (folder / "archive" / SEALS_FILE).exists()


def seal_archive(stored: StoredCollection, key: Path | None = None) -> SealReport:
    """Seal the committed records, signed if a P-384 key in PEM is given."""
    signing_key = load_signing_key(key) if key is not None else None
    return seal_files(stored.archive_folder, PageCatalog(stored.db).load_committed_lengths(), time.time(), signing_key)

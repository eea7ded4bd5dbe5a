"""Record digests of the WARC files of a collection."""

import time
from pathlib import Path

from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import StoredCollection
from sanderling.storage.seals import SealReport, seal_files
from sanderling.warc.signature import load_signing_key

__all__ = ["SealReport", "seal_archive"]


def seal_archive(stored: StoredCollection, key: Path | None = None) -> SealReport:
    """Seal what is committed, signed with a P-384 key in PEM if one is given."""
    signing_key = load_signing_key(key) if key is not None else None
    return seal_files(stored.archive_folder, PageCatalog(stored.db).load_committed_lengths(), time.time(), signing_key)

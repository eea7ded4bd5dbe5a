"""Check a collection for damage, and repair it."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from sanderling.db.connection import transaction
from sanderling.frontier.requeue import requeue_pages
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import DATABASE_FILE, open_collection, open_collection_read_only
from sanderling.storage.dedup_sources import check_other_archives
from sanderling.storage.lost_records import find_visits_at, reset_lost_pages
from sanderling.storage.seals import Seal, check_seals, count_unsealed_bytes
from sanderling.storage.verify_collection import (
    REPLAY_INDEX_FOLDER,
    SEARCH_INDEX_FOLDER,
    CollectionFault,
    check_archive,
    check_databases,
    check_indexes,
    check_untracked_files,
    repair_files,
)
from sanderling.warc.cdxj_index import delete_index
from sanderling.warc.signature import get_key_fingerprint

REBUILT_FOLDERS = (f"{SEARCH_INDEX_FOLDER}/", f"{REPLAY_INDEX_FOLDER}/")  # built from the archive


class IntegrityReport(Struct, frozen=True):
    """Intact records, faults, and a sentence on the seals of the archive (empty: none)."""

    intact_records: int
    faults: list[CollectionFault]
    seals: str = ""
    is_repairable: bool = True  # False: the database, which records what the archive must contain, is damaged

    @property
    def has_unrepairable_faults(self) -> bool:
        return any(fault.location is None and not fault.file.startswith(REBUILT_FOLDERS) for fault in self.faults)


def check_integrity(folder: Path, seal: str = "") -> IntegrityReport:
    """Check databases, indexes, WARC records, and seals. `seal`: digest of a seal that must be in the chain."""
    faults = [*check_databases(folder), *check_indexes(folder)]
    if any(fault.file == DATABASE_FILE for fault in faults):
        return IntegrityReport(0, faults, is_repairable=False)
    with open_collection_read_only(folder) as collection:
        committed = PageCatalog(collection.db).load_committed_lengths()
        found = check_archive(collection.archive_folder, collection.db, committed)
        faults += check_untracked_files(collection.archive_folder, committed)
        faults += check_other_archives(collection.archive_folder)
        seals, seal_faults = check_seals(collection.archive_folder, seal)
    text = _describe_seals(seals, count_unsealed_bytes(seals, committed)) if seals else ""
    return IntegrityReport(found.intact_records, [*faults, *seal_faults, *found.faults], text)


def repair_collection(folder: Path, faults: Sequence[CollectionFault]) -> None:
    """Queue pages whose records are lost, and delete damaged indexes, which are rebuilt."""
    lost_at = [fault.location for fault in faults if fault.location is not None]
    with open_collection(folder) as collection, transaction(collection.db):
        lost = find_visits_at(collection.db, lost_at)
        requeue_pages(collection.db, reset_lost_pages(collection.db, lost))
        repair_files(collection.archive_folder, collection.db, lost_at)
        if any(fault.file.startswith(SEARCH_INDEX_FOLDER + "/") for fault in faults):
            shutil.rmtree(collection.folder / SEARCH_INDEX_FOLDER, ignore_errors=True)
        if any(fault.file.startswith(REPLAY_INDEX_FOLDER + "/") for fault in faults):
            delete_index(collection.folder / REPLAY_INDEX_FOLDER)
            for path in (collection.folder / REPLAY_INDEX_FOLDER).glob("*.db"):
                path.unlink()


def _describe_seals(seals: Sequence[Seal], unsealed_bytes: int) -> str:
    signers = sorted({get_key_fingerprint(seal.signed) for seal in seals if seal.signed is not None})
    changes = sorted(
        {f"{seal.file} ({seal.reason} at {seal.sealed_at[:19]})" for seal in seals if seal.reason != "seal"}
    )
    text = f"{len({seal.file for seal in seals}):,} files are sealed, {', '.join(signers) or 'unsigned'}"
    text += f"; {unsealed_bytes:,} bytes are not sealed: run sanderling seal" if unsealed_bytes else ""
    text += f"; changed since: {', '.join(changes)}" if changes else ""
    return f"{text}; last seal {seals[-1].line_digest}"

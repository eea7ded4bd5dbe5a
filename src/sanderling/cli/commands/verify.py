"""sanderling verify: check a collection for damage and repair it."""

import argparse
import shutil
from collections.abc import Sequence

import msgspec

from sanderling.cli.arguments import CommandCall, print_json, print_message, print_rows
from sanderling.db.connection import transaction
from sanderling.frontier.requeue import requeue_pages
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import DATABASE_FILE, open_collection, open_collection_read_only
from sanderling.storage.lost_records import find_visits_at, reset_lost_pages
from sanderling.storage.seals import Seal, check_seals
from sanderling.storage.verify_collection import (
    REPLAY_INDEX_FOLDER,
    SEARCH_INDEX_FOLDER,
    ArchiveCheck,
    CollectionFault,
    check_archive,
    check_databases,
    check_indexes,
    check_untracked_files,
    repair_files,
)
from sanderling.warc.cdxj_index import delete_index
from sanderling.warc.signature import get_key_fingerprint

HELP = "Check WARC records against their digests and seals, databases, and the search index."
EXAMPLES = """\
examples:
  sanderling verify                   # exit code 0: no damage; 1: damage, listed with its remedy
  sanderling verify --json            # one object per damaged file or record
  sanderling verify --repair          # queue lost pages for the next crawl
"""
EXIT_DAMAGED = 1
REBUILT_FOLDERS = (f"{SEARCH_INDEX_FOLDER}/", f"{REPLAY_INDEX_FOLDER}/")  # built from the archive


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "--repair",
        action="store_true",
        help="queue pages whose records are lost, delete damaged indexes, which are rebuilt",
    )
    parser.add_argument("--seal", metavar="DIGEST", default="", help="digest of a seal that must be in the chain")


def run(call: CommandCall) -> int:
    """List damage; return 1 if any of it was not repaired."""
    faults = [*check_databases(call.collection), *check_indexes(call.collection)]
    if any(fault.file == DATABASE_FILE for fault in faults):  # the database records what the archive must contain
        return _print_report(call, ArchiveCheck(0, faults), repaired=False)
    with open_collection_read_only(call.collection) as collection:
        committed = PageCatalog(collection.db).load_committed_lengths()
        found = check_archive(collection.archive_folder, collection.db, committed)
        faults += check_untracked_files(collection.archive_folder, committed)
        seals, seal_faults = check_seals(collection.archive_folder, call.args.seal)
        faults += seal_faults
    if seals:
        print_message(call, _describe_seals(seals))
    found = ArchiveCheck(found.intact_records, [*faults, *found.faults])
    if call.args.repair and found.faults:
        _repair_damage(call, found.faults)
    return _print_report(call, found, repaired=call.args.repair)


def _describe_seals(seals: Sequence[Seal]) -> str:
    signers = sorted({get_key_fingerprint(seal.signed) for seal in seals if seal.signed is not None})
    changes = sorted(
        {f"{seal.file} ({seal.reason} at {seal.sealed_at[:19]})" for seal in seals if seal.reason != "seal"}
    )
    text = f"{len({seal.file for seal in seals}):,} files are sealed, {', '.join(signers) or 'unsigned'}"
    return f"{text}; changed since: {', '.join(changes)}" if changes else text


def _repair_damage(call: CommandCall, faults: list[CollectionFault]) -> None:
    with open_collection(call.collection) as collection, transaction(collection.db):
        lost = find_visits_at(collection.db, [fault.location for fault in faults if fault.location is not None])
        requeue_pages(collection.db, reset_lost_pages(collection.db, lost))
        repair_files(
            collection.archive_folder, collection.db, [fault.location for fault in faults if fault.location is not None]
        )
        if any(fault.file.startswith(SEARCH_INDEX_FOLDER + "/") for fault in faults):
            shutil.rmtree(collection.folder / SEARCH_INDEX_FOLDER, ignore_errors=True)
        if any(fault.file.startswith(REPLAY_INDEX_FOLDER + "/") for fault in faults):
            delete_index(collection.folder / REPLAY_INDEX_FOLDER)
            for path in (collection.folder / REPLAY_INDEX_FOLDER).glob("*.db"):
                path.unlink()


def _print_report(call: CommandCall, found: ArchiveCheck, *, repaired: bool) -> int:
    is_left = any(fault.location is None and not fault.file.startswith(REBUILT_FOLDERS) for fault in found.faults)
    if call.json:
        for fault in found.faults:
            print_json(msgspec.to_builtins(fault))
    elif found.faults:
        rows = [
            (fault.file, fault.lost_pages, fault.problem if repaired else f"{fault.problem}; {fault.remedy}")
            for fault in found.faults
        ]
        print_rows(rows, ("file", "pages", "damage"))
    done = " and repaired" if repaired and found.faults and not is_left else ""
    print_message(call, f"{found.intact_records:,} records are intact; {len(found.faults):,} faults found{done}")
    return EXIT_DAMAGED if is_left or (found.faults and not repaired) else 0

"""sanderling verify: check a collection for damage, and repair what can be repaired."""

import argparse
import shutil

import msgspec

from sanderling.cli.arguments import Call, print_json, print_rows, say
from sanderling.db.connection import transaction
from sanderling.frontier.requeue import queue_pages
from sanderling.storage.catalog import Catalogue
from sanderling.storage.collection import DATABASE, open_collection, read_collection
from sanderling.storage.lost_records import forget_records, visits_at
from sanderling.storage.verify_collection import INDEX, Fault, Verified, check_archive, check_databases, mend_files

HELP = "Check a collection for damage: WARC records by their digests, databases, the search index."
EXAMPLES = """\
examples:
  sanderling verify                   # exit code 0: no damage; 1: damage, listed with its remedy
  sanderling verify --json            # one object per damaged file or record
  sanderling verify --repair          # forget lost pages, so that the next crawl fetches them again
"""
EXIT_DAMAGED = 1


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what only this command takes."""
    parser.add_argument(
        "--repair", action="store_true", help="queue pages whose records are lost, delete a damaged search index"
    )


def run(call: Call) -> int:
    """Check everything and list the faults; exit code 1 if there are any that were not repaired."""
    faults = list(check_databases(call.collection))
    if any(fault.file == DATABASE for fault in faults):  # without it nobody knows what the archive should hold
        return _report(call, Verified(0, faults), repaired=False)
    with read_collection(call.collection) as collection:
        found = check_archive(collection.archive, collection.db, Catalogue(collection.db).committed())
    found = Verified(found.records, [*faults, *found.faults])
    if call.args.repair and found.faults:
        _repair(call, found.faults)
    return _report(call, found, repaired=call.args.repair)


def _repair(call: Call, faults: list[Fault]) -> None:
    with open_collection(call.collection) as collection, transaction(collection.db):
        lost = visits_at(collection.db, [fault.place for fault in faults if fault.place is not None])
        queue_pages(collection.db, forget_records(collection.db, lost))
        mend_files(collection.archive, collection.db, [fault.place for fault in faults if fault.place is not None])
        if any(fault.file.startswith(INDEX) for fault in faults):
            shutil.rmtree(collection.folder / INDEX, ignore_errors=True)


def _report(call: Call, found: Verified, *, repaired: bool) -> int:
    is_left = any(fault.place is None and not fault.file.startswith(INDEX) for fault in found.faults)
    if call.json:
        for fault in found.faults:
            print_json(msgspec.to_builtins(fault))
    elif found.faults:
        rows = [
            (fault.file, fault.pages, fault.what if repaired else f"{fault.what}; {fault.remedy}")
            for fault in found.faults
        ]
        print_rows(rows, ("file", "pages", "damage"))
    done = " and repaired" if repaired and found.faults and not is_left else ""
    say(call, f"{found.records:,} records are intact; {len(found.faults):,} faults found{done}")
    return EXIT_DAMAGED if is_left or (found.faults and not repaired) else 0

"""sanderling verify: check a collection for damage and repair it."""

import argparse

import msgspec

from sanderling.api.operations.integrity import IntegrityReport, check_integrity, repair_collection
from sanderling.cli.arguments import CommandCall, print_json, print_message, print_rows

HELP = "Check WARC records against their digests and seals, databases, and the search index."
EXAMPLES = """\
examples:
  sanderling verify                   # exit code 0: no damage; 1: damage, listed with its remedy
  sanderling verify --json            # one object per damaged file or record
  sanderling verify --repair          # queue lost pages for the next crawl
"""
EXIT_DAMAGED = 1


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
    found = check_integrity(call.collection, call.args.seal)
    if found.seals:
        print_message(call, found.seals)
    is_repaired = call.args.repair and found.is_repairable
    if is_repaired and found.faults:
        repair_collection(call.collection, found.faults)
    return _print_report(call, found, repaired=is_repaired)


def _print_report(call: CommandCall, found: IntegrityReport, *, repaired: bool) -> int:
    is_left = found.has_unrepairable_faults
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

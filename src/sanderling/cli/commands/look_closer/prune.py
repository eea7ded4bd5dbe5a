"""sanderling prune: erase old versions that a retention rule does not keep."""

import argparse
import sys

import msgspec

from sanderling.api.collection_access import Collection
from sanderling.api.version_pruning import PruneReport
from sanderling.cli.arguments import CommandCall, confirm, parse_whole_number, print_json, print_message, print_rows
from sanderling.config.time_format import format_short
from sanderling.errors import UsageError

HELP = """Erase old versions of pages that no rule keeps. The last version of each page, its history, and its changes
stay. Run the same command again after an interruption."""
EXAMPLES = """\
examples:
  sanderling prune --keep-versions 5 --dry-run       how much would go, and which versions
  sanderling prune --keep-days 365 --keep-monthly    a year, and before that the first and last version of each month
  sanderling prune --keep-versions 3 --hold '/legal/' --hold 'case-17'     never those of these URLs
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--keep-versions", type=parse_whole_number, default=0, metavar="N", help="the last N versions")
    parser.add_argument("--keep-days", type=parse_whole_number, default=0, metavar="N", help="versions of N days")
    parser.add_argument("--keep-monthly", action="store_true", help="the first and the last version of each month")
    parser.add_argument(
        "--hold", action="append", default=[], metavar="REGEX", help="legal hold: all versions of URLs that match"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would be erased")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run(call: CommandCall) -> int:
    """Show what would be erased, ask, and erase it."""
    args, collection = call.args, Collection(call.collection)
    rule = {
        "versions": args.keep_versions,
        "days": args.keep_days,
        "monthly": args.keep_monthly,
        "holds": tuple(args.hold),
    }
    preview = collection.prune(**rule, dry_run=True)
    if args.dry_run:
        _print_report(call, preview, "would be erased")
        return 0
    if preview.pruned and not args.yes:
        if not sys.stdin or not sys.stdin.isatty():
            raise UsageError(f"{preview.pruned:,} versions would be erased; add --yes, or look with --dry-run")
        if not confirm(f"erase {preview.pruned:,} versions?"):
            raise UsageError("nothing was erased")
    _print_report(call, collection.prune(**rule), "erased")
    return 0


def _print_report(call: CommandCall, report: PruneReport, verb: str) -> None:
    if call.json:
        print_json(msgspec.to_builtins(report))
        return
    if report.examples:
        print_rows([(format_short(at), url) for url, at in report.examples], ("version", "url"))
    details = f"{report.kept:,} kept"
    details += f", {report.held:,} of them by a hold" if report.held else ""
    details += f", {report.shared:,} because a kept version has the same body" if report.shared else ""
    print_message(call, f"{report.pruned:,} versions {verb}, {report.bytes:,} bytes of WARC records; {details}")

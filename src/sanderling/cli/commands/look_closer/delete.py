"""sanderling delete: delete pages permanently and keep them out."""

import argparse
import sys
import time

import msgspec

from sanderling.api.operations.deleting import (
    DeletionPreview,
    DeletionReport,
    DeletionSelection,
    abandon_unfinished_deletion,
    allow_again,
    delete_pages,
    has_unfinished_age_selection,
    is_unfinished,
    list_blocked_patterns,
    preview_deletion,
    resolve_deletion_pattern,
)
from sanderling.cli.arguments import CommandCall, confirm, print_json, print_message, print_rows
from sanderling.config.time_format import parse_time
from sanderling.errors import UsageError
from sanderling.terminal import strip_control_characters

HELP = (
    "Delete pages permanently from catalog, archive, and indexes. They are not fetched again (see --undo);"
    " pages selected by age may be found again by a later crawl."
)
EXAMPLES = """\
examples:
  sanderling delete https://example.org/private/report.html
  sanderling delete 'https://example.org/people/*' --dry-run      list what would be deleted
  sanderling delete 'https://example.org/*' --yes                 a whole host, without confirmation
  sanderling delete --gone 30d                                    pages that were deleted a month ago
  sanderling delete --not-seen 90d 'https://example.org/*'        not found by any visit for three months
  sanderling delete --list                                        list blocked URLs and patterns
  sanderling delete --undo 'https://example.org/people/*'         allow the next crawl to fetch it again
  sanderling delete                                               finish an interrupted deletion
  sanderling delete --undo                                        or cancel it, if it selected pages by age
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("url", nargs="*", metavar="URL|PATTERN", help="* in a pattern matches anything")
    parser.add_argument(
        "--gone", metavar="TIME", help="pages that have returned 404 or 410 for this time: 30d, 2026-09-01"
    )
    parser.add_argument("--not-seen", metavar="TIME", help="pages not fetched successfully for this time: 90d")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    parser.add_argument("--dry-run", action="store_true", help="list what would be deleted, change nothing")
    parser.add_argument("--list", action="store_true", help="list blocked URLs and patterns")
    parser.add_argument(
        "--undo", action="store_true", help="allow the next crawl to fetch it again; deleted data is not restored"
    )


def run(call: CommandCall) -> int:
    """Ask for confirmation, delete, and print a report."""
    choice = _build_selection(call)
    if call.args.list or call.args.undo:
        if choice.is_by_age:
            raise UsageError(
                "pages selected by age are not blocked: --gone and --not-seen cannot be used with --list or --undo"
            )
        return _print_blocklist(call) if call.args.list else _undo_deletion(call, list(choice.patterns))
    if not choice.has_criteria and not is_unfinished(call.collection):
        raise UsageError("no URL given: sanderling delete https://example.org/page, or --gone 30d")
    found = preview_deletion(call.collection, choice)
    if call.args.dry_run:
        _print_preview(call, found)
        return 0
    if not call.args.yes and _needs_confirmation(call, choice, found) and not _confirm_deletion(call, found):
        if choice.has_criteria:
            raise UsageError("nothing was deleted")
        return _abandon_unfinished(call)
    return _print_report(call, delete_pages(call.collection, choice))


def _needs_confirmation(call: CommandCall, selection: DeletionSelection, preview: DeletionPreview) -> bool:
    """Return False for an interrupted deletion by URL, which was confirmed before."""
    if selection.is_by_age or not selection.has_criteria:
        return preview.urls > 0 and (selection.is_by_age or has_unfinished_age_selection(call.collection))
    return True


def _abandon_unfinished(call: CommandCall) -> int:
    """Cancel the rest of an interrupted deletion by age."""
    return _print_report(call, abandon_unfinished_deletion(call.collection))


def _build_selection(call: CommandCall) -> DeletionSelection:
    args, now = call.args, time.time()
    return DeletionSelection(
        [resolve_deletion_pattern(call.collection, text) for text in args.url],
        gone_since=None if args.gone is None else parse_time(args.gone, now),
        unseen_since=None if args.not_seen is None else parse_time(args.not_seen, now),
    )


def _print_report(call: CommandCall, report: DeletionReport) -> int:
    if call.json:
        print_json(msgspec.to_builtins(report))
        return 0
    print(f"forgot {_format_counts(report.pages, report.urls)}; {report.records:,} records erased")
    if report.remote_records:
        print(f"{report.remote_records:,} of its records are in files that are missing here and were not changed")
    if report.archive_copies:
        print(f"copies of the archive in {report.archive_copies} were not touched")
    return 0


def _print_blocklist(call: CommandCall) -> int:
    patterns = list_blocked_patterns(call.collection)
    if call.json:
        for pattern in patterns:
            print_json({"pattern": pattern})
    else:
        print_rows(((pattern,) for pattern in patterns), ("kept out",))
    return 0


def _undo_deletion(call: CommandCall, patterns: list[str]) -> int:
    if not patterns and has_unfinished_age_selection(call.collection):
        return _abandon_unfinished(call)
    if not patterns:
        raise UsageError("no URL given: sanderling delete --undo URL|PATTERN (--list prints them)")
    undone = allow_again(call.collection, patterns)
    if call.json:
        print_json({"allowed": undone})
    else:
        print_message(call, "allow the next crawl to fetch it again")
    return 0


def _format_counts(pages: int, urls: int) -> str:
    others = urls - pages
    remainder = f" and {others:,} other known URL{'' if others == 1 else 's'}" if others else ""
    return f"{pages:,} page{'' if pages == 1 else 's'}{remainder}"


def _print_preview(call: CommandCall, preview: DeletionPreview) -> None:
    if call.json:
        print_json(msgspec.to_builtins(preview))
        return
    print(_format_counts(preview.pages, preview.urls))
    for url in preview.examples:
        print(f"  {strip_control_characters(url)}")
    if preview.urls > len(preview.examples):
        print(f"  and {preview.urls - len(preview.examples):,} more")


def _confirm_deletion(call: CommandCall, preview: DeletionPreview) -> bool:
    """Ask for confirmation before deleting."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("deletion is permanent; add --yes to confirm without a terminal")
    args = call.args
    aged = [f"{flag} {age}" for flag, age in (("--gone", args.gone), ("--not-seen", args.not_seen)) if age]
    named = strip_control_characters(", ".join([*aged, *args.url])) or "the rest of what was cut short"
    what = f"{named} ({_format_counts(preview.pages, preview.urls)})"
    return confirm(f"delete {what} in {call.collection} permanently?")

"""sanderling refresh: revisit pages that are due, all pages, or continuously."""

import argparse
import sys
import time
from contextlib import suppress
from functools import partial

import msgspec
from msgspec.structs import replace

from sanderling.api.operations.runs import RunHooks, has_scheduled_pages, list_pages_due, run_refresh
from sanderling.api.types import CrawlRequest, FinishReason, RefreshMode, RefreshSummary
from sanderling.cli.arguments import EXIT_FAILED, CommandCall, print_json, print_message, print_rows
from sanderling.cli.crawl_request import advise_rendering, load_request
from sanderling.cli.progress import (
    EXIT_CODE_BY_FINISH,
    ProgressDisplay,
    format_size,
    prepare_run,
)
from sanderling.config.settings import CRAWL_GROUPS, IndexSettings, OrderingSettings, RevisitSettings
from sanderling.config.time_format import format_iso, format_short

HELP = "Revisit pages that are due, with conditional requests. Sitemaps and feeds are read first."
EXAMPLES = """\
examples:
  sanderling refresh                             pages that are due
  sanderling refresh --dry-run                   due pages, with the reason
  sanderling refresh --all                       all pages, due or not
  sanderling refresh --follow --budget 5000/day   stay running and revisit pages when due
  sanderling refresh --similar products          pages like saved samples
  sanderling refresh --every '1h /prices/'       check these pages every hour from now on
"""
GROUPS = (
    RevisitSettings,
    *(group for group in CRAWL_GROUPS if group not in (RevisitSettings, OrderingSettings)),
)
MAX_NAMED_HOSTS = 10  # hosts that are named if they could not be reached


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--once", action="store_true", help="pages that are due (default)")
    modes.add_argument("--all", action="store_true", help="all pages now, due or not, without the budget")
    modes.add_argument("--follow", action="store_true", help="stay running and revisit pages when due, until Ctrl-C")
    modes.add_argument("--similar", metavar="NAME", help="pages like the samples saved by similar --save NAME, now")
    parser.add_argument("--dry-run", action="store_true", help="list due pages with the reason; send no requests")


def run(call: CommandCall) -> int:
    """Refresh and print the summary, or list due pages with --dry-run."""
    mode = RefreshMode.ALL if call.args.all or call.args.similar else RefreshMode.ONCE
    mode = RefreshMode.CONTINUOUS if call.args.follow else mode
    request = load_request(call)
    if call.args.similar:
        from sanderling.api.similarity import find_saved

        request = replace(request, selected=frozenset(find_saved(call.collection, call.args.similar)))
    if call.args.dry_run:
        return print_dry_run(call, request, mode)
    keep_index = call.get_settings(IndexSettings).index
    with ProgressDisplay(call) as shown:
        hooks = RunHooks(partial(prepare_run, call), shown, lambda text: print_message(call, text))
        summary = run_refresh(call.collection, request, mode, hooks, keep_index=keep_index)
    for host in () if call.quiet else summary.unreachable[:MAX_NAMED_HOSTS]:
        print(
            f"sanderling: {host} could not be reached; its pages are tried again by the next refresh", file=sys.stderr
        )
    if not summary.visited and not has_scheduled_pages(call.collection):
        print(f"sanderling: {call.collection} contains no pages; run sanderling crawl first", file=sys.stderr)
    with suppress(BrokenPipeError):  # the reader closed the pipe; the exit code reports the result
        print_summary(call, summary)
    advise_rendering(call, request.rendering, summary.unrendered)
    if summary.due and not summary.visited and summary.unreachable and summary.finish_reason == FinishReason.DONE:
        return EXIT_FAILED
    return EXIT_CODE_BY_FINISH[FinishReason(summary.finish_reason)]


def interrupted(call: CommandCall) -> None:
    """Print the JSON summary of a refresh interrupted before it started."""
    if not call.args.dry_run:
        print_summary(call, RefreshSummary(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, FinishReason.INTERRUPTED))


def print_dry_run(call: CommandCall, request: CrawlRequest, mode: RefreshMode) -> int:
    """List the pages that are due, with the reason."""
    rows = list_pages_due(call.collection, request, mode, time.time())
    if call.json:
        for row in rows:
            print_json({"url": row.url, "due_at": format_iso(row.due_at), "why": row.reason})
    else:
        print_rows(
            [(format_short(row.due_at), row.url, row.reason) for row in rows], ("due", "url", "why"), "nothing is due"
        )
    return 0


def print_summary(call: CommandCall, summary: RefreshSummary) -> None:
    """Print the summary as text, or as JSON with --json."""
    if call.json:
        print_json(msgspec.to_builtins(summary))
    elif not call.quiet:
        print(f"{summary.finish_reason}: {call.collection}")
        for name in ("due", "visited", "not_modified", "unchanged", "changed", "new", "gone", "moved", "returned"):
            print(f"  {name.replace('_', ' '):<13} {getattr(summary, name):,}")
        if summary.rendered:
            print(f"  {'rendered':<13} {summary.rendered:,} in a browser")
        print(f"  {'downloaded':<13} {format_size(summary.bytes)} in {summary.seconds:.1f} s")
        print(f"  {'not needed':<13} {format_size(summary.bytes_saved)}, saved by 304 Not Modified")

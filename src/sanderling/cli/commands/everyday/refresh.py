"""sanderling refresh: revisit pages that are due, all pages, or continuously."""

import argparse
import shlex
import sys
import time
from contextlib import suppress
from functools import partial
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sanderling.api.collection_access import Collection
from sanderling.api.operations.runs import RunHooks, has_scheduled_pages, list_pages_due, run_refresh
from sanderling.api.types import Coordinator, CrawlRequest, FinishReason, RefreshMode, RefreshSummary
from sanderling.cli.arguments import EXIT_FAILED, CommandCall, print_json, print_message, print_rows
from sanderling.cli.progress import (
    EXIT_CODE_BY_FINISH,
    ProgressDisplay,
    format_size,
    stop_on_signals,
    warn_about_damage,
)
from sanderling.cli.seeds import advise_rendering
from sanderling.config.loader import build_group
from sanderling.config.redact import redact_command
from sanderling.config.settings import (
    AssignmentSettings,
    FieldSettings,
    HttpSettings,
    IndexSettings,
    LimitSettings,
    PolitenessSettings,
    RenderSettings,
    RevisitSettings,
    ScopeSettings,
    UrlCacheSettings,
    WorkerSettings,
)
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
    ScopeSettings,
    LimitSettings,
    PolitenessSettings,
    HttpSettings,
    RenderSettings,
    WorkerSettings,
    UrlCacheSettings,
    AssignmentSettings,
    IndexSettings,
    FieldSettings,
)
MAX_NAMED_HOSTS = 10  # hosts that are named if they could not be reached
G = TypeVar("G", bound=Struct)


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
        hooks = RunHooks(partial(_configure_run, call), shown, lambda text: print_message(call, text))
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


def _configure_run(call: CommandCall, coordinator: Coordinator) -> None:
    warn_about_damage(call, coordinator)
    stop_on_signals(coordinator)


def interrupted(call: CommandCall) -> None:
    """Print the JSON summary of a refresh interrupted before it started."""
    if not call.args.dry_run:
        print_summary(call, RefreshSummary(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, FinishReason.INTERRUPTED))


def load_request(call: CommandCall) -> CrawlRequest:
    """Return the settings of the last crawl, overridden by this call."""
    with Collection(call.collection) as collection:
        stored = collection.load_settings()

    def group(kind: type[G]) -> G:
        return build_group(kind, {**convert_stored_settings(kind, stored), **call.setting_values})

    return CrawlRequest(
        (),
        scope=group(ScopeSettings),
        limits=group(LimitSettings),
        politeness=group(PolitenessSettings),
        fetching=group(HttpSettings),
        rendering=group(RenderSettings),
        workers=group(WorkerSettings),
        memory=group(UrlCacheSettings),
        scheduling=group(AssignmentSettings),
        revisit=call.get_settings(RevisitSettings),
        fields=call.get_settings(FieldSettings),
        command=shlex.join(redact_command(sys.argv[1:])),
    )


def convert_stored_settings(group: type[Struct], stored: dict[str, object]) -> dict[str, object]:
    """Convert stored JSON to the values of a group of settings."""
    fields = {field.name for field in msgspec.structs.fields(group)}
    known = {name: value for name, value in stored.items() if name in fields}
    return msgspec.structs.asdict(msgspec.convert(known, group)) if known else {}


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

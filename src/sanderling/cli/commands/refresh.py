"""sanderling refresh: visit what is due, everything, or stay and keep it fresh."""

import argparse
import json
import shlex
import sys
import time
from contextlib import suppress
from functools import partial
from typing import TypeVar

import msgspec
from msgspec import Struct

from sanderling.cli.arguments import EXIT_FAILED, Call, print_json, print_rows
from sanderling.cli.background_tasks import company
from sanderling.cli.progress import CODES, show_progress, size_text, stop_on_signals, warn_of_damage
from sanderling.cli.time_format import iso, short
from sanderling.config.loader import group_from, nearest
from sanderling.config.redact import without_secrets
from sanderling.config.settings import (
    Fetching,
    Limits,
    Memory,
    Politeness,
    Revisit,
    Scheduling,
    Scope,
    Searching,
    Workers,
)
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.refresh import Mode, Refreshed, expected, refresh
from sanderling.crawl.request import Request
from sanderling.crawl.stop import Finish
from sanderling.errors import UsageError
from sanderling.revisit.policies.policy_registry import POLICIES
from sanderling.storage.collection import get_meta, read_collection
from sanderling.workers.parking import parked

HELP = "Visit again what is due, asking servers only what changed; sitemaps and feeds are read first."
EXAMPLES = """\
examples:
  sanderling refresh                             what is due now
  sanderling refresh --dry-run                   what would be visited, and why
  sanderling refresh --all                       everything, due or not
  sanderling refresh --watch --budget 5000/day   stay, and keep the collection fresh
"""
GROUPS = (Revisit, Scope, Limits, Politeness, Fetching, Workers, Memory, Scheduling, Searching)
MOST_NAMED = 10  # hosts that are named if they could not be reached
G = TypeVar("G", bound=Struct)


def arguments(parser: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--once", action="store_true", help="what is due now (default)")
    modes.add_argument("--all", action="store_true", help="everything now, due or not, whatever the budget")
    modes.add_argument("--watch", action="store_true", help="stay and keep it fresh until Ctrl-C")
    parser.add_argument("--dry-run", action="store_true", help="say what would be visited and why; ask nothing")


def run(call: Call) -> int:
    """Refresh and print the summary, or what would be done."""
    mode = Mode.ALL if call.args.all else Mode.WATCH if call.args.watch else Mode.ONCE
    request = remembered(call)
    if request.revisit.policy not in POLICIES:
        raise UsageError(
            f"there is no policy {request.revisit.policy!r}{nearest(request.revisit.policy, list(POLICIES))}"
        )
    if call.args.dry_run:
        return dry_run(call, request, mode)
    with (
        parked(request.workers.park, call.collection),
        show_progress(call) as shown,
        company(call, partial(_started, call), shown) as (begin, look),
    ):
        summary = refresh(call.collection, request, mode, on_start=begin, on_tick=look)
    for host in () if call.quiet else summary.unreachable[:MOST_NAMED]:
        print(f"sanderling: {host} could not be reached; its pages stay as they are, for the next try", file=sys.stderr)
    if not summary.visited and is_empty(call):
        print(f"sanderling: {call.collection} holds no page to visit again; crawl first", file=sys.stderr)
    with suppress(BrokenPipeError):  # who asked did not wait; how it ended is said by the exit code
        report(call, summary)
    if summary.due and not summary.visited and summary.unreachable and summary.finish_reason == Finish.DONE:
        return EXIT_FAILED
    return CODES[Finish(summary.finish_reason)]


def _started(call: Call, coordinator: Coordinator) -> None:
    warn_of_damage(call, coordinator)
    stop_on_signals(coordinator)


def interrupted(call: Call) -> None:
    """Before anything was visited: say to a script how it ended, as ever."""
    if not call.args.dry_run:
        report(call, Refreshed(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, Finish.INTERRUPTED))


def is_empty(call: Call) -> bool:
    """Is there nothing that could be visited again?"""
    with read_collection(call.collection) as collection:
        return collection.db.execute("SELECT 1 FROM due LIMIT 1").fetchone() is None


def remembered(call: Call) -> Request:
    """The settings of the last crawl of this collection, with what was said now on top."""
    with read_collection(call.collection) as collection:
        stored = json.loads(get_meta(collection.db, "settings", "{}"))

    def group(kind: type[G]) -> G:
        return group_from(kind, {**as_values(kind, stored), **call.found})

    return Request(
        (),
        scope=group(Scope),
        limits=group(Limits),
        politeness=group(Politeness),
        fetching=group(Fetching),
        workers=group(Workers),
        memory=group(Memory),
        scheduling=group(Scheduling),
        revisit=call.settings(Revisit),
        command=shlex.join(without_secrets(sys.argv[1:])),
    )


def as_values(kind: type[Struct], stored: dict[str, object]) -> dict[str, object]:
    """Stored JSON as the values of a group of settings."""
    fields = {field.name for field in msgspec.structs.fields(kind)}
    known = {name: value for name, value in stored.items() if name in fields}
    return msgspec.structs.asdict(msgspec.convert(known, kind)) if known else {}


def dry_run(call: Call, request: Request, mode: Mode) -> int:
    """List what would be visited."""
    rows = expected(call.collection, request, mode, time.time())[: request.limits.limit or None]
    if call.json:
        for row in rows:
            print_json({"url": row.url, "due_at": iso(row.due_at), "why": row.why})
    else:
        print_rows([(short(row.due_at), row.url, row.why) for row in rows], ("due", "url", "why"), "nothing is due")
    return 0


def report(call: Call, summary: Refreshed) -> None:
    """The summary: for a script one object, for a person a few lines."""
    if call.json:
        print_json(msgspec.to_builtins(summary))
    elif not call.quiet:
        print(f"{summary.finish_reason}: {call.collection}")
        for name in ("due", "visited", "not_modified", "unchanged", "changed", "new", "gone", "moved"):
            print(f"  {name.replace('_', ' '):<13} {getattr(summary, name):,}")
        print(f"  {'downloaded':<13} {size_text(summary.bytes)} in {summary.seconds:.1f} s")
        print(f"  {'not needed':<13} {size_text(summary.bytes_saved)}, because the server said: not modified")

"""sanderling sink: send pages to files, a database, or a webhook, and follow the collection."""

import argparse
import signal
import sys
import threading

import msgspec

from sanderling.api.operations.exporting import (
    FILE_FORMATS,
    TEXT_FORMATS,
    ExportQuery,
    SinkRequest,
    list_sinks,
    send_to_sink,
)
from sanderling.cli.arguments import CommandCall, print_json, print_message, print_rows
from sanderling.config.settings import FieldSettings
from sanderling.errors import UsageError

HELP = "Send pages to files, PostgreSQL, or a webhook. The same command continues after the last page sent."
EXAMPLES = """\
examples:
  sanderling sink pages/ --text markdown                     JSON lines, in a folder per day
  sanderling sink s3://bucket/pages --format parquet --data
  sanderling sink postgresql://localhost/crawl --follow      a table that stays equal to the collection
  sanderling sink https://hooks.example.org/pages --follow   signed messages with new and changed pages
  sanderling sink --list
"""
GROUPS = (FieldSettings,)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "target", nargs="?", default="", help="folder, fsspec address, postgresql://..., or https://..."
    )
    parser.add_argument("--list", action="store_true", help="list the sinks of the collection")
    parser.add_argument("--follow", action="store_true", help="stay running and send pages as they are stored")
    parser.add_argument("--restart", action="store_true", help="send all pages again")
    parser.add_argument("--text", choices=TEXT_FORMATS, default="", help="with the text, or the main content")
    parser.add_argument("--data", action="store_true", help="with JSON-LD, microdata, OpenGraph and RDFa")
    parser.add_argument(
        "--url", metavar="PATTERN", default="*", help="only URLs that match this pattern (* matches anything)"
    )
    parser.add_argument("--unchanged", action="store_true", help="also send visits that found a page unchanged")
    parser.add_argument("--format", choices=FILE_FORMATS, default="jsonl", help="format of files (default: jsonl)")
    parser.add_argument("--table", default="sanderling_pages", help="table in PostgreSQL (default: sanderling_pages)")


def run(call: CommandCall) -> int:
    """Send all pages that the sink does not have, and with --follow wait for more."""
    args = call.args
    if args.list:
        return _print_sinks(call)
    if not args.target:
        raise UsageError("no target: sanderling sink FOLDER, postgresql://host/database, or https://host/path")
    query = ExportQuery("pages", args.text, args.data, args.url)
    request = SinkRequest(args.target, query, args.format, args.table, args.unchanged, args.restart)
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ():
        signal.signal(number, lambda _number, _frame: stopped.set())
    fields, on_retry = call.get_settings(FieldSettings).fields, _print_error if args.follow else None
    report = send_to_sink(call.collection, request, fields, stopped=stopped, on_retry=on_retry)
    if call.json:
        print_json(msgspec.to_builtins(report))
    else:
        print_message(call, f"{report.rows:,} rows sent to {report.target}")
    return 0


def _print_error(reason: str) -> None:
    print(f"sanderling: {reason}", file=sys.stderr, flush=True)


def _print_sinks(call: CommandCall) -> int:
    """List the targets with the number of visits that they do not have yet."""
    states = list_sinks(call.collection)
    if call.json:
        for state in states:
            print_json({"target": state.target, "cursor": state.cursor, "pending": state.pending})
    else:
        rows = [(state.target, state.cursor, state.pending, state.signing_key) for state in states]
        print_rows(rows, ("target", "last visit", "pending visits", "signing key"))
    return 0

"""sanderling import: read archives of other programs in, as history."""

import argparse
import time
from pathlib import Path

import msgspec

from sanderling.api.operations.archive_import import CrawlRequest, ImportProgress, ImportSummary, import_files
from sanderling.cli.arguments import EXIT_FAILED, CommandCall, print_json, print_message
from sanderling.cli.crawl_request import describe_command
from sanderling.cli.progress import LOG_INTERVAL_SECONDS, format_size
from sanderling.config.settings import HttpSettings, IndexSettings, RevisitSettings, ScopeSettings
from sanderling.errors import UsageError

HELP = """Read WARC, ARC, and WACZ files of other programs in, as history: pages, versions, links, changes between them,
and search. Nothing is fetched. Run the same command again to resume; a file is imported once. Of a CDX or CDXJ index,
the records that it lists are read."""
EXAMPLES = """\
examples:
  sanderling import crawl-2019.warc.gz crawl-2021.warc.gz -C history
  sanderling import browsertrix.wacz -C history && sanderling changes -C history
  sanderling import heritrix/*.warc.gz -C history --no-index      without the search index
  sanderling import site.json -C history                          all parts of a multi-WACZ package
  grep ',example)' index.cdxj > part.cdxj && sanderling import part.cdxj -C history     only these captures
  sanderling crawl -C history                                     continue the archive with the live site
"""
GROUPS = (ScopeSettings, HttpSettings, RevisitSettings, IndexSettings)
ONLY = ("scope", "include", "exclude", "max_body", "every", "index")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("file", nargs="+", help="WARC, ARC, WACZ, multi-WACZ, CDX, or CDXJ file")


def run(call: CommandCall) -> int:
    """Import the files and print the summary."""
    files = [Path(name) for name in call.args.file]
    for path in files:
        if not path.is_file():
            raise UsageError(f"{path} is not a file")
    request = CrawlRequest(
        (),
        scope=call.get_settings(ScopeSettings),
        fetching=call.get_settings(HttpSettings),
        revisit=call.get_settings(RevisitSettings),
        command=describe_command(),
    )
    keep_index = call.get_settings(IndexSettings).index
    summary = import_files(
        call.collection, files, request, on_progress=_ProgressLines(call).show,
        report=lambda text: print_message(call, text), keep_index=keep_index,
    )  # fmt: skip
    print_summary(call, summary)
    return EXIT_FAILED if summary.rejected and not summary.records else 0


class _ProgressLines:
    """Prints a line every few seconds."""

    def __init__(self, call: CommandCall) -> None:
        self._call, self._last = call, time.monotonic()

    def show(self, progress: ImportProgress) -> None:
        if time.monotonic() - self._last < LOG_INTERVAL_SECONDS:
            return
        self._last = time.monotonic()
        text = f"copied {progress.copied_records:,} records"
        if progress.processed_records:
            text = f"processed {progress.processed_records:,} records, {progress.remaining_records:,} remaining"
        print_message(self._call, text)


def print_summary(call: CommandCall, summary: ImportSummary) -> None:
    """Print the summary as text, or as JSON with --json."""
    if call.json:
        print_json(msgspec.to_builtins(summary))
        return
    for text in summary.rejections:
        print_message(call, f"rejected: {text}")
    if call.quiet:
        return
    known = f" ({summary.known_files:,} imported before)" if summary.known_files else ""
    rate = summary.versions / summary.seconds if summary.seconds else 0.0
    others = ", ".join(f"{count:,} {kind}" for kind, count in sorted(summary.other_records.items()))
    rows = [
        ("files", f"{summary.files:,}{known}"),
        ("records", f"{summary.records:,} copied, {summary.rejected:,} rejected"),
        ("versions", f"{summary.versions:,} in {summary.seconds:.1f} s ({rate:.0f}/s)"),
        *[("replay only", f"{count:,}: {reason}") for reason, count in sorted(summary.replay_only.items())],
        *([("only copied", others)] if others else []),
        ("changed", f"{summary.changed:,}"),
        ("pages stored", f"{summary.pages:,}"),
        ("copied", format_size(summary.bytes)),
    ]
    print(f"done: {call.collection}")
    for name, value in rows:
        print(f"  {name:<13} {value}")

"""sanderling export: write pages, versions, links, or changes as JSON lines, CSV, or Parquet."""

import argparse
import time

from sanderling.cli.arguments import CommandCall, print_message
from sanderling.config.time_format import parse_time
from sanderling.export.export_rows import EXPORT_KINDS, TEXT_FORMATS, ExportQuery, iterate_rows, validate_query
from sanderling.export.row_files import EXPORT_FORMATS, write_rows
from sanderling.storage.collection import open_collection_read_only

HELP = "Write pages with their text, Markdown, and data; or versions, links, or changes."
EXAMPLES = """\
examples:
  sanderling export > pages.jsonl                                  a row per fetched URL, including redirects
  sanderling export -o pages.csv
  sanderling export --text markdown --data -o pages.parquet        with content and structured data
  sanderling export --what versions --text text --url '*/docs/*'   every stored version of some pages
  sanderling export --what links -o links.csv
  sanderling export --what changes --since 7d
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--what", choices=EXPORT_KINDS, default="pages", help="rows to write (default: pages)")
    parser.add_argument("--text", choices=TEXT_FORMATS, default="", help="with the text, or the main content")
    parser.add_argument("--data", action="store_true", help="with JSON-LD, microdata, OpenGraph and RDFa")
    parser.add_argument(
        "--url", metavar="PATTERN", default="*", help="only URLs that match this pattern (* matches anything)"
    )
    parser.add_argument("--since", metavar="TIME", help="visited, stored, or changed since then: 2026-11-15, 7d, 2h")
    parser.add_argument("--format", choices=EXPORT_FORMATS, default="", help="default: suffix of the file, else jsonl")
    parser.add_argument("-o", "--output", metavar="FILE", default="", help="default: standard output")


def run(call: CommandCall) -> int:
    """Write the rows. An output file appears only when it is complete."""
    args = call.args
    since = parse_time(args.since, time.time()) if args.since else 0.0
    query = validate_query(ExportQuery(args.what, args.text, args.data, args.url, since))
    with open_collection_read_only(call.collection) as collection:
        count = write_rows(iterate_rows(collection, query), args.output, args.format)
    print_message(call, f"{count:,} rows written")
    return 0

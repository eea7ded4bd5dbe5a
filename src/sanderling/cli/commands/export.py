"""sanderling export: write pages, versions, links, or changes as JSON lines, CSV, or Parquet."""

import argparse
import time

from sanderling.cli.arguments import CommandCall, print_message
from sanderling.config.settings import FieldSettings
from sanderling.config.time_format import parse_time
from sanderling.export.export_rows import EXPORT_KINDS, TEXT_FORMATS, ExportQuery, iterate_rows, validate_query
from sanderling.export.field_history import load_field_definitions
from sanderling.export.row_files import EXPORT_FORMATS, write_rows
from sanderling.monitor.page_fields import parse_field_definitions
from sanderling.storage.collection import open_collection_read_only

HELP = "Write pages with their text, Markdown, data, and fields; or versions, links, changes, or values of fields."
EXAMPLES = """\
examples:
  sanderling export > pages.jsonl                                  a row per fetched URL, including redirects
  sanderling export -o pages.csv
  sanderling export --text markdown --data -o pages.parquet        with content and structured data
  sanderling export --what versions --text text --url '*/docs/*'   every stored version of some pages
  sanderling export --what links -o links.csv
  sanderling export --what changes --since 7d
  sanderling export --fields price:price='css:.price' -o prices.csv             a column per field
  sanderling export --what fields --fields price:number='json:$..price'         every value that a field had
"""
GROUPS = (FieldSettings,)


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
    given = call.get_settings(FieldSettings).fields
    parse_field_definitions(given)
    with open_collection_read_only(call.collection) as collection:
        has_fields = args.what in ("pages", "versions", "fields") or given
        fields = load_field_definitions(collection, given) if has_fields else ()
        query = validate_query(ExportQuery(args.what, args.text, args.data, args.url, since, fields))
        count = write_rows(iterate_rows(collection, query), args.output, args.format)
    print_message(call, f"{count:,} rows written")
    return 0

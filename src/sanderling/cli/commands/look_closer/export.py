"""sanderling export: write pages, versions, links, or changes as rows, or the whole archive as a WACZ file."""

import argparse
import time
from pathlib import Path

import msgspec

from sanderling.api.operations.exporting import (
    EXPORT_FORMATS,
    EXPORT_KINDS,
    TEXT_FORMATS,
    ExportQuery,
    export_rows,
    export_wacz,
)
from sanderling.cli.arguments import CommandCall, print_json, print_message
from sanderling.cli.progress import format_size
from sanderling.config.loader import parse_size
from sanderling.config.settings import FieldSettings
from sanderling.config.time_format import parse_time
from sanderling.errors import UsageError

HELP = """Write pages with their text, Markdown, data, and fields; or versions, links, changes, or values of fields; or
the whole archive as a WACZ file."""
EXAMPLES = """\
examples:
  sanderling export > pages.jsonl                                  a row per fetched URL, including redirects
  sanderling export -o pages.csv
  sanderling export --text markdown --data -o pages.parquet        with content and structured data
  sanderling export --what versions --text text --url '*/docs/*'   every stored version of some pages
  sanderling export --what links -o links.csv
  sanderling export --similar products -o products.csv                         pages like saved samples
  sanderling export --what changes --since 7d
  sanderling export --fields price:price='css:.price' -o prices.csv             a column per field
  sanderling export --what fields --fields price:number='json:$..price'         every value that a field had
  sanderling export -o site.wacz                  all records and their index, for replayweb.page, pywb and others
  sanderling export -o site.wacz --part-size 2GB  # several files, listed in site.json
"""
GROUPS = (FieldSettings,)
WACZ = "wacz"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--what", choices=EXPORT_KINDS, default="pages", help="rows to write (default: pages)")
    parser.add_argument("--text", choices=TEXT_FORMATS, default="", help="with the text, or the main content")
    parser.add_argument("--usage", action="store_true", help="with the purposes that the owner denies (see --purpose)")
    parser.add_argument("--data", action="store_true", help="with JSON-LD, microdata, OpenGraph and RDFa")
    parser.add_argument(
        "--url", metavar="PATTERN", default="*", help="only URLs that match this pattern (* matches anything)"
    )
    parser.add_argument("--similar", metavar="NAME", help="only pages like the samples saved by similar --save NAME")
    parser.add_argument("--since", metavar="TIME", help="visited, stored, or changed since then: 2026-11-15, 7d, 2h")
    formats = (*EXPORT_FORMATS, WACZ)
    parser.add_argument("--format", choices=formats, default="", help="default: suffix of the file, else jsonl")
    parser.add_argument("-o", "--output", metavar="FILE", default="", help="default: standard output")
    parser.add_argument("--title", default="", help="title of a WACZ file (default: the first seed)")
    parser.add_argument(
        "--part-size",
        metavar="SIZE",
        default="",
        help="write several WACZ files of this size, and their list",
    )
    parser.add_argument("--sign", metavar="KEY", default="", help="sign a WACZ file with this P-384 key (PEM)")


def run(call: CommandCall) -> int:
    """Write the rows. An output file appears only when it is complete."""
    args = call.args
    if args.format == WACZ or (not args.format and args.output.endswith(f".{WACZ}")):
        return _export_wacz(call)
    if args.title or args.sign or args.part_size:
        raise UsageError("--title, --sign, and --part-size apply to WACZ files: sanderling export -o FILE.wacz")
    since = parse_time(args.since, time.time()) if args.since else 0.0
    query = ExportQuery(args.what, args.text, args.data, args.url, since, usage=args.usage)
    fields = call.get_settings(FieldSettings).fields
    count = export_rows(call.collection, query, args.output, args.format, fields=fields, similar=args.similar or "")
    print_message(call, f"{count:,} rows written")
    return 0


def _export_wacz(call: CommandCall) -> int:
    """Write the whole archive; selections of rows do not apply."""
    args = call.args
    if not args.output:
        raise UsageError("a WACZ file cannot be streamed: say where with -o FILE")
    if (args.what, args.url) != ("pages", "*") or args.text or args.data or args.usage or args.since or args.similar:
        raise UsageError("a WACZ file contains the whole archive; leave out the options that select rows")
    summary = export_wacz(
        call.collection, Path(args.output), args.title, args.sign,
        part_bytes=parse_size(args.part_size) if args.part_size else 0,
        on_file=lambda name, length: print_message(call, f"copying {name} ({format_size(length)})"),
    )  # fmt: skip
    if call.json:
        print_json(msgspec.to_builtins(summary))
    print_message(
        call,
        f"{', '.join(summary.parts) or args.output}: {summary.pages:,} pages, {summary.captures:,} captures"
        f" in {summary.warc_files:,} WARC files,"
        f" {format_size(summary.bytes)}",
    )
    return 0

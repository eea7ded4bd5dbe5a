"""sanderling export: write the catalog as JSON lines, CSV, or Parquet."""

import argparse

from sanderling.api.catalog_export import EXPORT_FORMATS, write_catalog
from sanderling.cli.arguments import CommandCall, print_message
from sanderling.storage.collection import open_collection_read_only

HELP = "Write the catalog: a row per fetched URL, including redirects."
EXAMPLES = """\
examples:
  sanderling export > pages.jsonl
  sanderling export -o pages.csv
  sanderling export -o pages.parquet
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--format", choices=EXPORT_FORMATS, default="", help="default: suffix of the file, else jsonl")
    parser.add_argument("-o", "--output", metavar="FILE", default="", help="default: standard output")


def run(call: CommandCall) -> int:
    """Write the rows. An output file appears only when it is complete."""
    with open_collection_read_only(call.collection) as collection:
        count = write_catalog(collection.db, call.args.output, call.args.format)
    print_message(call, f"{count:,} rows written")
    return 0

"""sanderling sitemap: write a sitemap of a crawled site."""

import argparse
import sys
from pathlib import Path

from sanderling.api.operations.site_structure import build_sitemap
from sanderling.cli.arguments import CommandCall, print_json, print_message
from sanderling.config.time_format import format_iso
from sanderling.errors import build_write_error

HELP = "Write a sitemap of the stored pages of a site, with lastmod and changefreq."
EXAMPLES = """\
examples:
  sanderling sitemap > sitemap.xml              --json: its entries, one object per line
  sanderling sitemap --site https://example.org/ -o public/     more than 50,000 pages: an index and its parts
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--site", metavar="URL", help="site, if the collection has several")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder for the files (default: standard output)")


def run(call: CommandCall) -> int:
    """Write a sitemap, or a sitemap index with its parts."""
    sitemap = build_sitemap(call.collection, call.args.site or "")
    if call.json and not call.args.output:
        for entry in sitemap.entries:
            print_json({"url": entry.loc, "lastmod": format_iso(entry.lastmod or 0), "changefreq": entry.changefreq})
        return 0
    if not call.args.output:
        sys.stdout.buffer.write(next(sitemap.write_files(as_one=True)).body)
        return 0
    folder = Path(call.args.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in sitemap.write_files():
            (folder / file.name).write_bytes(file.body)
            print_message(call, f"{folder / file.name}")
    except OSError as error:
        raise build_write_error(folder, error) from None
    return 0

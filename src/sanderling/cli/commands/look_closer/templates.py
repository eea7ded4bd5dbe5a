"""sanderling templates: list the page templates of a site."""

import argparse

from sanderling.api.operations.site_structure import list_page_types
from sanderling.cli.arguments import CommandCall, parse_whole_number, print_json, print_rows

HELP = "List the page templates of the stored sites, rarest first."
EXAMPLES = """\
examples:
  sanderling templates                         all stored sites
  sanderling templates --site example.org      one site
  sanderling templates --json | head
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--site", help="only hosts whose name contains this")
    parser.add_argument(
        "--least",
        type=parse_whole_number,
        default=1,
        metavar="N",
        help="only templates with at least this number of pages",
    )


def run(call: CommandCall) -> int:
    """Partition the selected sites into page types and print them."""
    rows = list_page_types(call.collection, call.args.site, call.args.least)
    if call.json:
        for host, found in rows:
            print_json(
                {"site": host, "pattern": found.pattern, "pages": len(found.ids), "idf": round(found.rarity, 3),
                 "example": found.example}
            )  # fmt: skip
    else:
        print_rows(
            ((len(t.ids), f"{t.rarity:.2f}", host + t.pattern, t.example) for host, t in rows),
            ("pages", "idf", "pattern", "example"),
        )
    return 0

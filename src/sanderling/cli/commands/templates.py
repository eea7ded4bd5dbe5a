"""sanderling templates: list the page templates of a site."""

import argparse

from sanderling.cli.arguments import CommandCall, parse_whole_number, print_json, print_rows
from sanderling.db.connection import Connection
from sanderling.errors import UsageError
from sanderling.storage.collection import open_collection_read_only
from sanderling.templates.page_partition import PageType, partition_pages
from sanderling.templates.template_index import open_template_index

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
    rows: list[tuple[str, PageType]] = []
    with open_collection_read_only(call.collection) as collection, open_template_index(collection) as index:
        for site, host in list_sites(collection.db, call.args.site):
            types = partition_pages(index.list_pages(site))
            rows += [(host, page_type) for page_type in types if len(page_type.ids) >= call.args.least]
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


def list_sites(db: Connection, name_part: str | None) -> list[tuple[int, str]]:
    """Return the stored hosts that match."""
    found = [(int(id_), str(name)) for id_, name in db.execute("SELECT id, name FROM hosts ORDER BY name")]
    chosen = [(id_, name) for id_, name in found if name_part is None or name_part in name]
    if not chosen and name_part is not None:
        raise UsageError(f"no stored site is named {name_part!r}; sanderling templates lists them")
    return chosen

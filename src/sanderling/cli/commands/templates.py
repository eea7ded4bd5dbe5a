"""sanderling templates: list the page templates of a site."""

import argparse

from sanderling.cli.arguments import CommandCall, parse_whole_number, print_json, print_rows
from sanderling.db.connection import Connection
from sanderling.errors import UsageError
from sanderling.storage.collection import open_collection_read_only
from sanderling.templates.naming import Named
from sanderling.templates.template_indexer import load_page_views, open_structures, update_site_templates

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
    """Learn the templates of the selected sites and print them."""
    rows: list[tuple[str, Named]] = []
    with open_collection_read_only(call.collection) as collection, open_structures(collection) as structures:
        for site, host in list_sites(collection.db, call.args.site):
            if not structures.count(site):
                continue
            update_site_templates(structures, collection.db, site)
            placed = structures.placed(site)
            looks = [look for look in load_page_views(structures, collection.db, site) if look.id in placed]
            named = structures.templates(looks, [placed[look.id] for look in looks])
            rows += [(host, template) for template in named if template.pages >= call.args.least]
    if call.json:
        for host, template in rows:
            print_json(
                {"site": host, "pattern": template.pattern, "pages": template.pages, "idf": round(template.rarity, 3),
                 "example": template.example}
            )  # fmt: skip
    else:
        print_rows(
            ((t.pages, f"{t.rarity:.2f}", host + t.pattern, t.example) for host, t in rows),
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

"""sanderling sitemap: write a sitemap of a crawled site."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from sanderling.cli.arguments import CommandCall, print_json, print_message
from sanderling.clock import parse_http_date
from sanderling.config.time_format import format_iso
from sanderling.discovery.entry_types import SitemapEntry, SitemapLimits
from sanderling.discovery.sitemap_writer import write_sitemaps
from sanderling.errors import UsageError, build_write_error
from sanderling.storage.collection import StoredCollection, open_collection_read_only
from sanderling.storage.page_history import estimate_change_class, has_enough_history
from sanderling.storage.queries import CatalogRow, load_pages, resolve_known_url
from sanderling.storage.reports import count_pages_by_host
from sanderling.urls.normalize import get_host

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
    with open_collection_read_only(call.collection) as collection:
        host = select_host(collection, call.args.site)
        files = write_sitemaps(build_entries(collection, host), host)
        if call.json and not call.args.output:
            for entry in build_entries(collection, host):
                print_json(
                    {"url": entry.loc, "lastmod": format_iso(entry.lastmod or 0), "changefreq": entry.changefreq}
                )
            return 0
        if not call.args.output:
            body = next(
                write_sitemaps(
                    build_entries(collection, host), host, limits=SitemapLimits(max_entries=10**9, max_bytes=10**12)
                )
            ).body
            sys.stdout.buffer.write(body)
            return 0
        folder = Path(call.args.output)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file in files:
                (folder / file.name).write_bytes(file.body)
                print_message(call, f"{folder / file.name}")
        except OSError as error:
            raise build_write_error(folder, error) from None
    return 0


def select_host(collection: StoredCollection, site: str | None) -> str:
    """Return the host of the sitemap; raise UsageError if it is ambiguous."""
    if site:
        return get_host(resolve_known_url(collection, site)[1])
    rows = count_pages_by_host(collection.db)
    if not rows:
        raise UsageError(f"{collection.folder} contains no pages yet")
    if len(rows) > 1:
        names = ", ".join(name for name, _ in rows[:5])
        raise UsageError(f"a sitemap lists the pages of one host; choose it with --site ({names})")
    return str(rows[0][0])


def build_entries(collection: StoredCollection, host: str) -> Iterator[SitemapEntry]:
    """Select the indexable pages of a host in the order of discovery."""
    for row in load_pages(collection.db, "h.name = ? AND p.status BETWEEN 200 AND 299 AND p.noindex = 0", (host,)):
        if not row.canonical or row.canonical == row.url:
            seen = (row.first_seen, row.last_visit, row.visit_count)
            yield SitemapEntry(
                row.url,
                _get_change_time(row),
                changefreq=estimate_change_class(*seen, row.change_count) if has_enough_history(*seen) else "",
            )


def _get_change_time(row: CatalogRow) -> float:
    """Return the time of the last change, else Last-Modified."""
    last_modified = parse_http_date(row.last_modified) if not row.change_count else None
    return min(last_modified, row.last_change) if last_modified and last_modified > 0 else row.last_change

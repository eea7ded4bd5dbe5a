"""The structure of stored sites: page types, and entries of a sitemap."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from sanderling.clock import parse_http_date
from sanderling.discovery.entry_types import SitemapEntry, SitemapLimits
from sanderling.discovery.sitemap_writer import SitemapFile, write_sitemaps
from sanderling.errors import UsageError
from sanderling.frontier.url_rows import list_hosts
from sanderling.storage.collection import StoredCollection, open_collection_read_only
from sanderling.storage.page_history import estimate_change_class, has_enough_history
from sanderling.storage.queries import CatalogRow, load_pages, resolve_known_url
from sanderling.storage.reports import count_pages_by_host
from sanderling.templates.page_partition import PageType, partition_pages
from sanderling.templates.template_index import open_template_index
from sanderling.urls.normalize import get_host

ONE_FILE = SitemapLimits(max_entries=10**9, max_bytes=10**12)


class SiteSitemap(Struct, frozen=True):
    """The sitemap of a host: its entries, and files with them."""

    host: str
    entries: list[SitemapEntry]

    def write_files(self, *, as_one: bool = False) -> Iterator[SitemapFile]:
        """Write a sitemap, or an index with its parts; `as_one`: a file of any size."""
        return write_sitemaps(self.entries, self.host, limits=ONE_FILE if as_one else None)


def list_page_types(folder: Path, name_part: str | None = None, least: int = 1) -> list[tuple[str, PageType]]:
    """Partition the stored pages of the hosts with this part in their name into types; returns host and type."""
    with open_collection_read_only(folder) as collection, open_template_index(collection) as index:
        hosts = [(id_, name) for id_, name in list_hosts(collection.db) if name_part is None or name_part in name]
        if not hosts and name_part is not None:
            raise UsageError(f"no stored site is named {name_part!r}; sanderling templates lists them")
        return [
            (name, page_type)
            for id_, name in hosts
            for page_type in partition_pages(index.list_pages(id_))
            if len(page_type.ids) >= least
        ]


def build_sitemap(folder: Path, site: str = "") -> SiteSitemap:
    """List the indexable pages of a host, in the order of discovery. `site`: a URL of it, if there are several."""
    with open_collection_read_only(folder) as collection:
        host = _select_host(collection, site)
        return SiteSitemap(host, list(_build_entries(collection, host)))


def _select_host(collection: StoredCollection, site: str) -> str:
    if site:
        return get_host(resolve_known_url(collection, site)[1])
    rows = count_pages_by_host(collection.db)
    if not rows:
        raise UsageError(f"{collection.folder} contains no pages yet")
    if len(rows) > 1:
        names = ", ".join(name for name, _ in rows[:5])
        raise UsageError(f"a sitemap lists the pages of one host; choose it with --site ({names})")
    return str(rows[0][0])


def _build_entries(collection: StoredCollection, host: str) -> Iterator[SitemapEntry]:
    for row in load_pages(collection.db, "h.name = ? AND p.status BETWEEN 200 AND 299 AND p.noindex = 0", (host,)):
        if not row.canonical or row.canonical == row.url:
            seen = (row.first_seen, row.last_visit, row.visit_count)
            changefreq = estimate_change_class(*seen, row.change_count) if has_enough_history(*seen) else ""
            yield SitemapEntry(row.url, _get_change_time(row), changefreq=changefreq)


def _get_change_time(row: CatalogRow) -> float:
    """Return the time of the last change, else Last-Modified."""
    last_modified = parse_http_date(row.last_modified) if not row.change_count else None
    return min(last_modified, row.last_change) if last_modified and last_modified > 0 else row.last_change

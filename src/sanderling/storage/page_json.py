"""The JSON object of a page, as printed by `sanderling pages --json` and written by `sanderling export`."""

from sanderling.config.time_format import format_iso
from sanderling.storage.queries import CatalogRow


def build_page_object(row: CatalogRow) -> dict[str, object]:
    """Return the JSON object of a page."""
    return {
        "url": row.url,
        "status": row.status,
        "mime": row.mime,
        "title": row.title,
        "depth": row.depth,
        "first_seen": format_iso(row.first_seen),
        "last_visit": format_iso(row.last_visit),
        "last_change": format_iso(row.last_change),
        "digest": f"sha256:{row.digest}" if row.digest else "",
        "bytes": row.body_bytes,
        "language": row.language,
        "etag": row.etag,
        "last_modified": row.last_modified,
        "canonical": row.canonical,
        "location": row.location,
        "links": row.link_count,
        "visits": row.visit_count,
        "changes": row.change_count,
        "duplicate_of": row.duplicate_of,
        "source": row.source,
        "via": row.referrer,
        "sitemap_lastmod": format_iso(row.sitemap_lastmod) or "",
        "sitemap_changefreq": row.sitemap_changefreq,
        "sitemap_priority": f"{row.sitemap_priority:g}" if row.sitemap_priority >= 0 else "",
    }

"""Format sitemap XML with ResourceSync elements, which other parsers ignore."""

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from sanderling.publisher.http_dates import format_w3c, format_w3c_millis
from sanderling.publisher.listings import ListingEntry
from sanderling.publisher.published_site import PublishedSite

XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACES = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/"'


def format_link(relation: str, url: str) -> str:
    return f"<rs:ln rel={quoteattr(relation)} href={quoteattr(url)}/>\n"


def format_capability(capability: str, **attributes: str) -> str:
    """Format the ResourceSync metadata of a document."""
    formatted = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<rs:md capability={quoteattr(capability)}{formatted}/>\n"


def build_urlset(site: PublishedSite, metadata: str, entries: Iterable[ListingEntry]) -> str:
    return "".join((XML_DECLARATION, f"<urlset {NAMESPACES}>\n", metadata, *_format_urls(site, entries), "</urlset>\n"))


def _format_urls(site: PublishedSite, entries: Iterable[ListingEntry]) -> Iterator[str]:
    base = escape(site.base_url)
    for entry in entries:
        modified = format_w3c(entry.modified_ms)
        change = f'<rs:md change="{entry.change_type}" datetime="{modified}"/>' if entry.change_type else ""
        url = base + escape(entry.path)
        location = f"<loc>{url}</loc><lastmod>{modified}</lastmod>"
        yield f"<url>{location}<priority>{entry.priority:.2f}</priority>{change}</url>\n"


def build_sitemap_index(site: PublishedSite, metadata: str, parts: Iterable[tuple[int, int]]) -> str:
    """Build the index of a sitemap in several parts."""
    url = escape(site.build_url(site.sitemap_path))
    rows = (
        f"<sitemap><loc>{url}?part={part}</loc><lastmod>{format_w3c(modified)}</lastmod></sitemap>\n"
        for part, modified in parts
    )
    return "".join((XML_DECLARATION, f"<sitemapindex {NAMESPACES}>\n", metadata, *rows, "</sitemapindex>\n"))


def build_capability_document(metadata: str, documents: Iterable[tuple[str, str]]) -> str:
    """Build a ResourceSync document that lists documents as (URL, capability)."""
    rows = (
        f"<url><loc>{escape(url)}</loc>{format_capability(capability).strip()}</url>\n" for url, capability in documents
    )
    return "".join((XML_DECLARATION, f"<urlset {NAMESPACES}>\n", metadata, *rows, "</urlset>\n"))


def format_period(since: int, until: int) -> str:
    """Format the period of a change list. `until` is the next LAST_VISIT."""
    return format_capability("changelist", **{"from": format_w3c_millis(since), "until": format_w3c_millis(until)})

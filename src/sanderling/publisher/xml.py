"""Sitemap XML that any parser reads, with ResourceSync marks for those that know them."""

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from sanderling.publisher.http_dates import format_w3c, format_w3c_millis
from sanderling.publisher.listings import ListingEntry
from sanderling.publisher.published_site import PublishedSite

XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACES = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/"'


def format_link(relation: str, url: str) -> str:
    """Write a link of the whole document."""
    return f"<rs:ln rel={quoteattr(relation)} href={quoteattr(url)}/>\n"


def format_capability(capability: str, **attributes: str) -> str:
    """Write what the whole document is."""
    more = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<rs:md capability={quoteattr(capability)}{more}/>\n"


def build_urlset(site: PublishedSite, metadata: str, entries: Iterable[ListingEntry]) -> str:
    """Write a list of pages."""
    return "".join((XML_DECLARATION, f"<urlset {NAMESPACES}>\n", metadata, *_format_urls(site, entries), "</urlset>\n"))


def _format_urls(site: PublishedSite, entries: Iterable[ListingEntry]) -> Iterator[str]:
    base = escape(site.base_url)
    for entry in entries:
        when = format_w3c(entry.modified_ms)
        mark = f'<rs:md change="{entry.change_type}" datetime="{when}"/>' if entry.change_type else ""
        place = base + escape(entry.path)
        yield f"<url><loc>{place}</loc><lastmod>{when}</lastmod><priority>{entry.priority:.2f}</priority>{mark}</url>\n"


def build_sitemap_index(site: PublishedSite, metadata: str, parts: Iterable[tuple[int, int]]) -> str:
    """Write the list of a large sitemap's files."""
    place = escape(site.build_url(site.sitemap_path))
    rows = (
        f"<sitemap><loc>{place}?part={part}</loc><lastmod>{format_w3c(at)}</lastmod></sitemap>\n" for part, at in parts
    )
    return "".join((XML_DECLARATION, f"<sitemapindex {NAMESPACES}>\n", metadata, *rows, "</sitemapindex>\n"))


def build_capability_document(metadata: str, documents: Iterable[tuple[str, str]]) -> str:
    """Write a ResourceSync document that names others: address and capability each."""
    rows = (f"<url><loc>{escape(place)}</loc>{format_capability(kind).strip()}</url>\n" for place, kind in documents)
    return "".join((XML_DECLARATION, f"<urlset {NAMESPACES}>\n", metadata, *rows, "</urlset>\n"))


def format_period(since: int, until: int) -> str:
    """Say which changes a list holds: what a crawler sends as LAST_VISIT next time is `until`."""
    return format_capability("changelist", **{"from": format_w3c_millis(since), "until": format_w3c_millis(until)})

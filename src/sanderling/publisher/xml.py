"""Sitemap XML that any parser reads, with ResourceSync marks for those that know them."""

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from sanderling.publisher.http_dates import w3c, w3c_exact
from sanderling.publisher.listings import Entry
from sanderling.publisher.published_site import Site

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
SPACES = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/"'


def link(relation: str, address: str) -> str:
    """Write a link of the whole document."""
    return f"<rs:ln rel={quoteattr(relation)} href={quoteattr(address)}/>\n"


def described(capability: str, **attributes: str) -> str:
    """Write what the whole document is."""
    more = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<rs:md capability={quoteattr(capability)}{more}/>\n"


def urlset(site: Site, about: str, entries: Iterable[Entry]) -> str:
    """Write a list of pages."""
    return "".join((HEAD, f"<urlset {SPACES}>\n", about, *_urls(site, entries), "</urlset>\n"))


def _urls(site: Site, entries: Iterable[Entry]) -> Iterator[str]:
    base = escape(site.base)
    for entry in entries:
        when = w3c(entry.modified)
        mark = f'<rs:md change="{entry.change}" datetime="{when}"/>' if entry.change else ""
        place = base + escape(entry.path)
        yield f"<url><loc>{place}</loc><lastmod>{when}</lastmod><priority>{entry.priority:.2f}</priority>{mark}</url>\n"


def sitemap_index(site: Site, about: str, parts: Iterable[tuple[int, int]]) -> str:
    """Write the list of a large sitemap's files."""
    place = escape(site.url(site.sitemap_path))
    rows = (f"<sitemap><loc>{place}?part={part}</loc><lastmod>{w3c(at)}</lastmod></sitemap>\n" for part, at in parts)
    return "".join((HEAD, f"<sitemapindex {SPACES}>\n", about, *rows, "</sitemapindex>\n"))


def capabilities(about: str, found: Iterable[tuple[str, str]]) -> str:
    """Write a ResourceSync document that names others: address and capability each."""
    rows = (f"<url><loc>{escape(place)}</loc>{described(kind).strip()}</url>\n" for place, kind in found)
    return "".join((HEAD, f"<urlset {SPACES}>\n", about, *rows, "</urlset>\n"))


def period(since: int, until: int) -> str:
    """Say which changes a list holds: what a crawler sends as LAST_VISIT next time is `until`."""
    return described("changelist", **{"from": w3c_exact(since), "until": w3c_exact(until)})

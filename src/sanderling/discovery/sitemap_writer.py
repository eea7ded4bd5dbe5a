"""Write sitemaps within the limits of the protocol."""

import time
from collections.abc import Iterable, Iterator
from html import escape

from msgspec import Struct

from sanderling.discovery.dates import DatePrecision
from sanderling.discovery.entry_types import SitemapEntry, SitemapLimits

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
MAX_TIMESTAMP = 253402300800.0  # year 10000: cannot be formatted as a W3C date

_DOCUMENT_START = '<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="' + NAMESPACE + '">\n'


class SitemapFile(Struct, frozen=True):
    """Name and content of a sitemap file."""

    name: str
    body: bytes


def write_sitemaps(
    entries: Iterable[SitemapEntry], folder_url: str, name: str = "sitemap", limits: SitemapLimits | None = None
) -> Iterator[SitemapFile]:
    """Yield `name.xml`, or `name-1.xml`, `name-2.xml` ... and an index `name.xml`."""
    limits = limits or SitemapLimits()
    first_body: bytes | None = None
    file_names: list[str] = []
    for body in _build_bodies(entries, limits):
        if first_body is None:
            first_body = body
            continue
        if not file_names:
            file_names.append(f"{name}-1.xml")
            yield SitemapFile(file_names[0], first_body)
        file_names.append(f"{name}-{len(file_names) + 1}.xml")
        yield SitemapFile(file_names[-1], body)
    if file_names:
        sitemaps = (SitemapEntry(f"{folder_url.rstrip('/')}/{file_name}") for file_name in file_names)
        yield SitemapFile(f"{name}.xml", _build_index(sitemaps))
    else:
        yield SitemapFile(f"{name}.xml", first_body or _build_document("urlset", []))


def _build_bodies(entries: Iterable[SitemapEntry], limits: SitemapLimits) -> Iterator[bytes]:
    lines: list[str] = []
    free_bytes = limits.max_bytes
    for entry in entries:
        line = _format_entry("url", entry)
        size = len(line.encode())
        if lines and (len(lines) >= limits.max_entries or size > free_bytes):
            yield _build_document("urlset", lines)
            lines, free_bytes = [], limits.max_bytes
        if not lines:
            free_bytes -= 200  # XML declaration and root element
        lines.append(line)
        free_bytes -= size
    if lines:
        yield _build_document("urlset", lines)


def _build_index(sitemaps: Iterable[SitemapEntry]) -> bytes:
    return _build_document("sitemapindex", [_format_entry("sitemap", entry) for entry in sitemaps])


def _build_document(root: str, lines: list[str]) -> bytes:
    return (_DOCUMENT_START.format(root=root) + "".join(lines) + f"</{root}>\n").encode()


def _format_entry(tag: str, entry: SitemapEntry) -> str:
    fields = [f"<loc>{escape(entry.loc)}</loc>"]
    if entry.lastmod is not None and 0 <= entry.lastmod < MAX_TIMESTAMP:
        fields.append(f"<lastmod>{_format_date(entry.lastmod, entry.lastmod_precision)}</lastmod>")
    if entry.changefreq:
        fields.append(f"<changefreq>{entry.changefreq}</changefreq>")
    if entry.priority is not None:
        fields.append(f"<priority>{entry.priority:.2f}</priority>")
    return f"<{tag}>{''.join(fields)}</{tag}>\n"


def _format_date(at: float, precision: DatePrecision) -> str:
    pattern = "%Y-%m-%d" if precision is DatePrecision.DAY else "%Y-%m-%dT%H:%M:%SZ"
    return time.strftime(pattern, time.gmtime(at))

"""Write sitemaps of what we know: one file, or as many as the protocol's limits ask for and an index of them."""

import time
from collections.abc import Iterable, Iterator
from html import escape

from msgspec import Struct

from sanderling.discovery.dates import DatePrecision
from sanderling.discovery.entry_types import SitemapEntry, SitemapLimits

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
MAX_TIMESTAMP = 253402300800.0  # the year 10000: no date we can write

_DOCUMENT_START = '<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="' + NAMESPACE + '">\n'


class SitemapFile(Struct, frozen=True):
    """A finished file, to be put beside the others."""

    name: str
    body: bytes


def write_sitemaps(
    entries: Iterable[SitemapEntry], folder_url: str, name: str = "sitemap", limits: SitemapLimits | None = None
) -> Iterator[SitemapFile]:
    """Write `name.xml`; beyond the limits of one file `name-1.xml`, `name-2.xml` ... and `name.xml` as their index."""
    limits = limits or SitemapLimits()
    first: bytes | None = None
    numbered: list[str] = []
    for body in _build_bodies(entries, limits):
        if first is None:
            first = body
            continue
        if not numbered:
            numbered.append(f"{name}-1.xml")
            yield SitemapFile(numbered[0], first)
        numbered.append(f"{name}-{len(numbered) + 1}.xml")
        yield SitemapFile(numbered[-1], body)
    sitemaps = (SitemapEntry(f"{folder_url.rstrip('/')}/{file}") for file in numbered)
    yield SitemapFile(f"{name}.xml", _build_index(sitemaps) if numbered else first or _build_document("urlset", []))


def _build_bodies(entries: Iterable[SitemapEntry], limits: SitemapLimits) -> Iterator[bytes]:
    """Fill one file after another."""
    lines: list[str] = []
    room = limits.max_bytes
    for entry in entries:
        line = _format_entry("url", entry)
        size = len(line.encode())
        if lines and (len(lines) >= limits.max_entries or size > room):
            yield _build_document("urlset", lines)
            lines, room = [], limits.max_bytes
        if not lines:
            room -= 200  # head and foot
        lines.append(line)
        room -= size
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

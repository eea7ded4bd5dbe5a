"""Write sitemaps of what we know: one file, or as many as the protocol's limits ask for and an index of them."""

import time
from collections.abc import Iterable, Iterator
from html import escape

from msgspec import Struct

from sanderling.discovery.dates import Precision
from sanderling.discovery.entry_types import Entry, Limits

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
END_OF_TIME = 253402300800.0  # the year 10000: no date we can write

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="' + NAMESPACE + '">\n'


class SitemapFile(Struct, frozen=True):
    """A finished file, to be put beside the others."""

    name: str
    body: bytes


def write_sitemaps(
    entries: Iterable[Entry], folder_url: str, name: str = "sitemap", limits: Limits | None = None
) -> Iterator[SitemapFile]:
    """Write `name.xml`; beyond the limits of one file `name-1.xml`, `name-2.xml` ... and `name.xml` as their index."""
    limits = limits or Limits()
    first: bytes | None = None
    numbered: list[str] = []
    for body in _bodies(entries, limits):
        if first is None:
            first = body
            continue
        if not numbered:
            numbered.append(f"{name}-1.xml")
            yield SitemapFile(numbered[0], first)
        numbered.append(f"{name}-{len(numbered) + 1}.xml")
        yield SitemapFile(numbered[-1], body)
    sitemaps = (Entry(f"{folder_url.rstrip('/')}/{file}") for file in numbered)
    yield SitemapFile(f"{name}.xml", _index(sitemaps) if numbered else first or _document("urlset", []))


def _bodies(entries: Iterable[Entry], limits: Limits) -> Iterator[bytes]:
    """Fill one file after another."""
    lines: list[str] = []
    room = limits.bytes
    for entry in entries:
        line = _line("url", entry)
        size = len(line.encode())
        if lines and (len(lines) >= limits.entries or size > room):
            yield _document("urlset", lines)
            lines, room = [], limits.bytes
        if not lines:
            room -= 200  # head and foot
        lines.append(line)
        room -= size
    if lines:
        yield _document("urlset", lines)


def _index(sitemaps: Iterable[Entry]) -> bytes:
    return _document("sitemapindex", [_line("sitemap", entry) for entry in sitemaps])


def _document(root: str, lines: list[str]) -> bytes:
    return (_HEAD.format(root=root) + "".join(lines) + f"</{root}>\n").encode()


def _line(tag: str, entry: Entry) -> str:
    fields = [f"<loc>{escape(entry.loc)}</loc>"]
    if entry.lastmod is not None and 0 <= entry.lastmod < END_OF_TIME:
        fields.append(f"<lastmod>{_date(entry.lastmod, entry.lastmod_precision)}</lastmod>")
    if entry.changefreq:
        fields.append(f"<changefreq>{entry.changefreq}</changefreq>")
    if entry.priority is not None:
        fields.append(f"<priority>{entry.priority:.2f}</priority>")
    return f"<{tag}>{''.join(fields)}</{tag}>\n"


def _date(at: float, precision: Precision) -> str:
    pattern = "%Y-%m-%d" if precision is Precision.DAY else "%Y-%m-%dT%H:%M:%SZ"
    return time.strftime(pattern, time.gmtime(at))

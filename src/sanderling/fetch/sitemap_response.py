"""Reading a sitemap or feed at the far end: hints and further sitemaps come home, already spelled."""

from typing import Any

from sanderling.discovery.dates import DatePrecision
from sanderling.discovery.entry_types import RESOURCESYNC_PATH, SitemapEntry, SitemapKind, SitemapProblem
from sanderling.discovery.sitemap_parser import parse_sitemap
from sanderling.fetch.link_resolution import truncate_long_links
from sanderling.fingerprint.image_hash import fingerprint_image
from sanderling.models import FileRef, SitemapHint, UrlRole
from sanderling.publisher.changelist_parser import (
    ListedChange,
    find_changelist_in_document,
    find_changelist_in_header,
    parse_changelist,
)
from sanderling.urls.normalize import resolve_url

MAX_INDEX_SITEMAPS = 50_000  # sitemaps of one index


def parse_sitemap_response(
    url: str, body: bytes, charset: str = ""
) -> tuple[tuple[SitemapHint, ...], tuple[FileRef, ...], str]:
    """Read a file; give its pages, the sitemaps it names, and in one line what was wrong with it."""
    report = parse_sitemap([body], charset=charset)
    found = [(entry, _build_hint(url, entry)) for entry in report.entries]
    hints = tuple(hint for _, hint in found if hint is not None)
    hints += tuple(
        SitemapHint(start) for start in truncate_long_links(url, (entry.loc for entry, hint in found if hint is None))
    )
    pointers = tuple(
        FileRef(spelling.url, spelling.distinct_request_url, UrlRole.SITEMAP)
        for entry in report.sitemaps[:MAX_INDEX_SITEMAPS]
        if (spelling := resolve_url(url, entry.loc)) is not None
    )
    lists = _resolve_change_list(find_changelist_in_document(body, url))
    return (
        (() if RESOURCESYNC_PATH in url else hints),
        pointers + lists,
        _describe_problems(report.kind, report.problems),
    )


def find_change_list(url: str, header: bytes) -> tuple[FileRef, ...]:
    """Find the list of changes that the Link header of a page names."""
    return (
        _resolve_change_list(find_changelist_in_header(header.decode("latin-1"), url)) if b"changes" in header else ()
    )


def _resolve_change_list(address: str | None) -> tuple[FileRef, ...]:
    spelling = resolve_url(address, address) if address else None
    return (FileRef(spelling.url, "", UrlRole.CHANGE_LIST),) if spelling else ()


def parse_change_list_response(url: str, body: bytes) -> tuple[tuple[SitemapHint, ...], str, str]:
    """Read a list of changes: its pages, until when it speaks (empty: it is none), and where it goes on."""
    found = parse_changelist(body, url)
    hints = tuple(hint for change in found.changes if (hint := _build_change_hint(url, change)) is not None)
    following = resolve_url(url, found.next_url) if found.next_url else None
    return hints, found.until or "", (following.request_url if following else "")


def _build_change_hint(url: str, change: ListedChange) -> SitemapHint | None:
    spelling = resolve_url(url, change.url)
    if spelling is None:
        return None
    priority = -1.0 if change.priority is None else change.priority
    modified = (change.modified_ms or 0) / 1000
    wire = spelling.distinct_request_url
    return SitemapHint(spelling.url, wire, modified, priority=priority, is_deleted=change.change_type == "deleted")


def _build_hint(url: str, entry: SitemapEntry) -> SitemapHint | None:
    spelling = resolve_url(url, entry.loc)
    if spelling is None:
        return None
    return SitemapHint(
        spelling.url,
        spelling.distinct_request_url,
        entry.lastmod or 0.0,
        entry.lastmod_precision is DatePrecision.DAY,
        entry.changefreq,
        -1.0 if entry.priority is None else entry.priority,
    )


def _describe_problems(kind: SitemapKind, problems: dict[SitemapProblem, int]) -> str:
    found = ", ".join(f"{count} {problem}" for problem, count in problems.items() if count)
    return f"{kind}: {found}" if found else str(kind)


MAX_TVI_BYTES = 1 << 18  # bytes of a side file: it is meant to be small

ParsedFile = tuple[dict[str, Any], str]
"""Fields of a `Visit`, by name, and in one line what the file is and what is wrong with it."""


def parse_non_page(role: UrlRole, url: str, body: bytes, mime: str, charset: str) -> ParsedFile:
    """Read a file as what it was asked for."""
    if role is UrlRole.CHANGE_LIST:
        hints, until, following = parse_change_list_response(url, body)
        return {"sitemap_hints": hints, "change_list_until": until, "change_list_next": following}, ""
    if role is UrlRole.RESOURCE:
        seen = fingerprint_image(body) if mime.startswith("image/") else b""
        return ({"fingerprints": {"look": seen}} if seen else {}), ""
    if role is UrlRole.TVI_FILE:
        return {"fingerprints": {"table": body} if len(body) <= MAX_TVI_BYTES else {}}, ""
    hints, pointers, note = parse_sitemap_response(url, body, charset)
    return {"sitemap_hints": hints, "file_refs": pointers}, note

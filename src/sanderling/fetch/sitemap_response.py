"""Parse sitemaps, feeds, change lists, page requisites and TVI files in the worker."""

from typing import Any

from sanderling.discovery.dates import DatePrecision
from sanderling.discovery.entry_types import RESOURCESYNC_PATH, SitemapEntry, SitemapKind, SitemapProblem
from sanderling.discovery.sitemap_parser import parse_sitemap
from sanderling.fetch.link_resolution import truncate_long_links
from sanderling.fetch.requisite_response import find_nested_requisites
from sanderling.fingerprint.image_hash import fingerprint_image
from sanderling.models import FileRef, SitemapHint, UrlRole
from sanderling.page_fingerprints import PageFingerprints
from sanderling.publisher.changelist_parser import (
    ListedChange,
    find_changelist_in_document,
    find_changelist_in_header,
    parse_changelist,
)
from sanderling.urls.normalize import resolve_url

MAX_INDEX_SITEMAPS = 50_000  # sitemaps per index


def parse_sitemap_response(
    url: str, body: bytes, charset: str = ""
) -> tuple[tuple[SitemapHint, ...], tuple[FileRef, ...], str]:
    """Return the pages, the sitemaps, and a description of the file and its problems."""
    report = parse_sitemap([body], charset=charset)
    entries = [(entry, _build_hint(url, entry)) for entry in report.entries]
    hints = tuple(hint for _, hint in entries if hint is not None)
    hints += tuple(
        SitemapHint(url_start)
        for url_start in truncate_long_links(url, (entry.loc for entry, hint in entries if hint is None))
    )
    file_refs = tuple(
        FileRef(resolved.url, resolved.distinct_request_url, UrlRole.SITEMAP)
        for entry in report.sitemaps[:MAX_INDEX_SITEMAPS]
        if (resolved := resolve_url(url, entry.loc)) is not None
    )
    change_lists = _resolve_change_list(find_changelist_in_document(body, url))
    return (
        (() if RESOURCESYNC_PATH in url else hints),
        file_refs + change_lists,
        _describe_problems(report.kind, report.problems),
    )


def find_change_list(url: str, header: bytes) -> tuple[FileRef, ...]:
    """Return the change list named by the Link header of a page."""
    return (
        _resolve_change_list(find_changelist_in_header(header.decode("latin-1"), url)) if b"changes" in header else ()
    )


def _resolve_change_list(address: str | None) -> tuple[FileRef, ...]:
    resolved = resolve_url(address, address) if address else None
    return (FileRef(resolved.url, "", UrlRole.CHANGE_LIST),) if resolved else ()


def parse_change_list_response(url: str, body: bytes) -> tuple[tuple[SitemapHint, ...], str, str]:
    """Return the pages, the `until` time ("": no change list), and the next URL."""
    parsed = parse_changelist(body, url)
    hints = tuple(hint for change in parsed.changes if (hint := _build_change_hint(url, change)) is not None)
    next_url = resolve_url(url, parsed.next_url) if parsed.next_url else None
    return hints, parsed.until or "", (next_url.request_url if next_url else "")


def _build_change_hint(url: str, change: ListedChange) -> SitemapHint | None:
    resolved = resolve_url(url, change.url)
    if resolved is None:
        return None
    priority = -1.0 if change.priority is None else change.priority
    modified = (change.modified_ms or 0) / 1000
    request_url = resolved.distinct_request_url
    return SitemapHint(
        resolved.url, request_url, modified, priority=priority, is_deleted=change.change_type == "deleted"
    )


def _build_hint(url: str, entry: SitemapEntry) -> SitemapHint | None:
    resolved = resolve_url(url, entry.loc)
    if resolved is None:
        return None
    return SitemapHint(
        resolved.url,
        resolved.distinct_request_url,
        entry.lastmod or 0.0,
        entry.lastmod_precision is DatePrecision.DAY,
        entry.changefreq,
        -1.0 if entry.priority is None else entry.priority,
    )


def _describe_problems(kind: SitemapKind, problems: dict[SitemapProblem, int]) -> str:
    counts = ", ".join(f"{count} {problem}" for problem, count in problems.items() if count)
    return f"{kind}: {counts}" if counts else str(kind)


MAX_TVI_BYTES = 1 << 18  # larger TVI files are ignored

ParsedFile = tuple[dict[str, Any], str]
"""Fields of a `Visit`, and a description of the file's kind and problems."""


def parse_non_page(role: UrlRole, url: str, body: bytes, mime: str, charset: str) -> ParsedFile:
    """Parse a file according to the role it was requested for."""
    if role is UrlRole.CHANGE_LIST:
        hints, until, next_url = parse_change_list_response(url, body)
        return {"sitemap_hints": hints, "change_list_until": until, "change_list_next": next_url}, ""
    if role is UrlRole.REQUISITE:
        image_hash = fingerprint_image(body) if mime.startswith("image/") else b""
        requisites = find_nested_requisites(url, body, mime, charset)
        fields: dict[str, Any] = {"requisites": requisites} if requisites else {}
        return (fields | {"fingerprints": PageFingerprints(image_hash=image_hash)} if image_hash else fields), ""
    if role is UrlRole.TVI_FILE:
        return {"fingerprints": PageFingerprints(tvi_table=body)} if len(body) <= MAX_TVI_BYTES else {}, ""
    hints, file_refs, description = parse_sitemap_response(url, body, charset)
    return {"sitemap_hints": hints, "file_refs": file_refs}, description

"""Reading a sitemap or feed at the far end: hints and further sitemaps come home, already spelled."""

from typing import Any

from sanderling.discovery.dates import Precision
from sanderling.discovery.entry_types import RESOURCESYNC, Entry, Kind, Problem
from sanderling.discovery.sitemap_parser import read_sitemap
from sanderling.fetch.link_resolution import too_long
from sanderling.fingerprint.image_hash import look_mark
from sanderling.models import Hint, Pointer, Role
from sanderling.publisher.changelist_parser import Change, named_by_document, named_by_header, read_list
from sanderling.urls.normalize import resolve

INDEX_LIMIT = 50_000  # sitemaps of one index


def read_map(url: str, body: bytes, charset: str = "") -> tuple[tuple[Hint, ...], tuple[Pointer, ...], str]:
    """Read a file; give its pages, the sitemaps it names, and in one line what was wrong with it."""
    report = read_sitemap([body], charset=charset)
    found = [(entry, _hint(url, entry)) for entry in report.entries]
    hints = tuple(hint for _, hint in found if hint is not None)
    hints += tuple(Hint(start) for start in too_long(url, (entry.loc for entry, hint in found if hint is None)))
    pointers = tuple(
        Pointer(spelling.url, spelling.wire_if_different, Role.SITEMAP)
        for entry in report.sitemaps[:INDEX_LIMIT]
        if (spelling := resolve(url, entry.loc)) is not None
    )
    lists = _list_at(named_by_document(body, url))
    return (() if RESOURCESYNC in url else hints), pointers + lists, _note(report.kind, report.problems)


def list_named(url: str, header: bytes) -> tuple[Pointer, ...]:
    """Find the list of changes that the Link header of a page names."""
    return _list_at(named_by_header(header.decode("latin-1"), url)) if b"changes" in header else ()


def _list_at(address: str | None) -> tuple[Pointer, ...]:
    spelling = resolve(address, address) if address else None
    return (Pointer(spelling.url, "", Role.CHANGES),) if spelling else ()


def read_changes(url: str, body: bytes) -> tuple[tuple[Hint, ...], str, str]:
    """Read a list of changes: its pages, until when it speaks (empty: it is none), and where it goes on."""
    found = read_list(body, url)
    hints = tuple(hint for change in found.changes if (hint := _changed(url, change)) is not None)
    following = resolve(url, found.next) if found.next else None
    return hints, found.until or "", (following.wire if following else "")


def _changed(url: str, change: Change) -> Hint | None:
    spelling = resolve(url, change.url)
    if spelling is None:
        return None
    priority = -1.0 if change.priority is None else change.priority
    modified = (change.modified or 0) / 1000
    wire = spelling.wire_if_different
    return Hint(spelling.url, wire, modified, priority=priority, deleted=change.change == "deleted")


def _hint(url: str, entry: Entry) -> Hint | None:
    spelling = resolve(url, entry.loc)
    if spelling is None:
        return None
    return Hint(
        spelling.url,
        spelling.wire_if_different,
        entry.lastmod or 0.0,
        entry.lastmod_precision is Precision.DAY,
        entry.changefreq,
        -1.0 if entry.priority is None else entry.priority,
    )


def _note(kind: Kind, problems: dict[Problem, int]) -> str:
    found = ", ".join(f"{count} {problem}" for problem, count in problems.items() if count)
    return f"{kind}: {found}" if found else str(kind)


MAX_TABLE = 1 << 18  # bytes of a side file: it is meant to be small

Read = tuple[dict[str, Any], str]
"""Fields of a `Visit`, by name, and in one line what the file is and what is wrong with it."""


def read_beside(role: Role, url: str, body: bytes, mime: str, charset: str) -> Read:
    """Read a file as what it was asked for."""
    if role is Role.CHANGES:
        hints, until, following = read_changes(url, body)
        return {"hints": hints, "list_until": until, "list_next": following}, ""
    if role is Role.RESOURCE:
        seen = look_mark(body) if mime.startswith("image/") else b""
        return ({"marks": {"look": seen}} if seen else {}), ""
    if role is Role.SIDE:
        return {"marks": {"table": body} if len(body) <= MAX_TABLE else {}}, ""
    hints, pointers, note = read_map(url, body, charset)
    return {"hints": hints, "pointers": pointers}, note

"""Reading what is no page: lists of changes, sitemaps and feeds, files that pages use, tables beside a page."""

from typing import Any

from sanderling.migrants.maps import read_changes, read_map
from sanderling.pages.look import look_mark
from sanderling.records import Role

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

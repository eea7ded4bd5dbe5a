"""Delete pages permanently, and keep them out."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from sanderling.deletion.delete_pages import DeletionReport, delete_pages
from sanderling.deletion.selection import (
    DeletionPreview,
    DeletionSelection,
    cancel_age_selections,
    has_unfinished_age_selection,
    is_unfinished,
    list_blocked_patterns,
    preview_deletion,
    unblock_patterns,
)
from sanderling.errors import UsageError
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import resolve_known_url
from sanderling.urls.blocklist import WILDCARD, parse_pattern

__all__ = [
    "DeletionPreview",
    "DeletionReport",
    "DeletionSelection",
    "abandon_unfinished_deletion",
    "allow_again",
    "delete_pages",
    "has_unfinished_age_selection",
    "is_unfinished",
    "list_blocked_patterns",
    "preview_deletion",
    "resolve_deletion_pattern",
]


def resolve_deletion_pattern(folder: Path, text: str) -> str:
    """Return the key of a known URL, or a pattern. Raises UsageError if it is neither."""
    if WILDCARD not in text:
        with open_collection_read_only(folder) as collection, suppress(UsageError):
            return resolve_known_url(collection, text)[1]
    return parse_pattern(text)


def abandon_unfinished_deletion(folder: Path) -> DeletionReport:
    """Cancel the rest of an interrupted deletion by age, and finish those by URL."""
    cancel_age_selections(folder)
    return delete_pages(folder, DeletionSelection())


def allow_again(folder: Path, patterns: Sequence[str]) -> list[str]:
    """Let the next crawl fetch URLs again; deleted data is not restored. Raises UsageError if one is not blocked."""
    undone = unblock_patterns(folder, patterns)
    if missing := [pattern for pattern in patterns if pattern not in undone]:
        raise UsageError(f"{missing[0]!r} is not blocked; sanderling delete --list prints what is")
    return undone

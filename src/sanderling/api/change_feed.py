"""Feeds of changes."""

from collections.abc import Iterable

from sanderling.api.reports.view_models import ChangeRow
from sanderling.changes.feed import ChangeFeedEntry, build_feed_id, write_atom_entries


def write_change_feed(rows: Iterable[ChangeRow], title: str, name: str) -> str:
    """Return an Atom feed of changes; its id is derived from the name."""
    entries = [
        ChangeFeedEntry(row.url, row.at, row.title, row.kinds, f"significance {row.significance:.2f}", row.text)
        for row in rows
    ]
    return write_atom_entries(entries, title, build_feed_id(name))

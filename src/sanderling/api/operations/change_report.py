"""List changes, write them as a feed, and send alerts once."""

import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Literal

from msgspec import Struct

from sanderling.changes.alert_state import (
    AlertState,
    load_alert_states,
    lock_alert_state,
    save_alert_states,
)
from sanderling.changes.alerts import open_sender, send_alert
from sanderling.changes.change_groups import group_changes
from sanderling.changes.change_json import build_change_object
from sanderling.changes.change_query import (
    ChangeFilter,
    QueryRemarks,
    find_changes,
    find_lifecycle_changes,
    summarize_lifecycle_changes,
)
from sanderling.changes.classify import ChangeKind, validate_kinds
from sanderling.changes.feed import (
    ReportedChange,
    build_feed_id,
    list_change_parts,
    summarize_change,
    write_atom_feed,
    write_rss_feed,
)
from sanderling.errors import UsageError, build_write_error
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_urls

__all__ = [
    "ChangeFilter",
    "ChangeKind",
    "ChangeListing",
    "ReportedChange",
    "build_change_object",
    "get_alert_start",
    "list_change_parts",
    "list_changes",
    "send_new_alerts",
    "summarize_change",
    "validate_kinds",
    "write_feed",
]
ALERT_STATE_FILE = "alerted"  # file in the collection: of what alerts were sent


class ChangeListing(Struct, frozen=True):
    """Changes, newest first, and the reasons for changes that were left out."""

    changes: list[ReportedChange]
    other_pages: str = ""  # counts of new, gone and moved pages that the filter leaves out
    always_changing_urls: list[str] = []  # pages with a part that differs at every visit
    unreadable_urls: list[str] = []  # pages with a version that is damaged in the archive
    has_watched_part: bool = True  # False: no rule of what to watch matched


def list_changes(folder: Path, change_filter: ChangeFilter, since: float = 0.0, *, group: bool = True) -> ChangeListing:
    """List the changes since a time. `group`: a change that several pages share is one."""
    remarks = QueryRemarks([], [], [])
    with open_collection_read_only(folder) as collection:
        found = [
            *find_lifecycle_changes(change_filter, collection, since),
            *find_changes(change_filter, collection, since, remarks),
        ]
        ordered = sorted(found, key=lambda item: -item.seen_at)
        others = "" if change_filter.kinds else summarize_lifecycle_changes(change_filter, collection, since)
        unread = list(load_urls(collection.db, sorted(set(remarks.unreadable_url_ids))).values())
    is_found = not remarks.watched_parts_found or any(remarks.watched_parts_found)
    changes = list(group_changes(ordered)) if group else ordered
    return ChangeListing(changes, others, remarks.always_changing_urls, unread, is_found)


def write_feed(changes: Sequence[ReportedChange], form: Literal["atom", "rss"], name: str) -> str:
    """Return an Atom or RSS feed of the changes in a collection of this name."""
    write = write_atom_feed if form == "atom" else write_rss_feed
    return write(changes, f"Changes in {name}", build_feed_id(name))


def get_alert_start(folder: Path, key: str = "") -> float:
    """Return the time since which changes may be unsent. `key`: targets and conditions; empty: of the last alert."""
    known = load_alert_states(folder / ALERT_STATE_FILE)
    if key:
        return known.get(key, AlertState()).since
    return max((state.until for state in known.values()), default=0.0)


def send_new_alerts(
    folder: Path, changes: Sequence[ReportedChange], targets: Sequence[str], key: str, *, since_last: bool
) -> int:
    """Send an alert of changes, with `since_last` only of those not sent under this key. Returns their number."""
    remembers = os.access(folder, os.W_OK)
    if since_last and not remembers:
        raise UsageError(
            f"nothing was sent: {folder} is read-only, so the same changes would be sent again;"
            " use --since 1d instead of --since last"
        )
    # Runs at the same time read the same changes: they send one after the other, and each looks at what was sent.
    with lock_alert_state(folder / ALERT_STATE_FILE) if remembers else nullcontext():
        state = load_alert_states(folder / ALERT_STATE_FILE).get(key, AlertState())
        known, since = (set(state.sent_changes), state.since) if since_last else (set(), 0.0)
        unsent = [
            item
            for item in changes
            if item.is_reportable and item.seen_at >= since and (item.url, item.seen_at) not in known
        ]
        sent = send_alert(unsent, open_sender(targets))
        if unsent and not sent:
            raise UsageError("the alert could not be sent; check the address, or run with -v")
        state.add((item.url, item.seen_at) for item in changes)
        if remembers:
            _save_alert_state(folder / ALERT_STATE_FILE, key, state)
    return sent


def _save_alert_state(path: Path, key: str, state: AlertState) -> None:
    try:
        save_alert_states(path, load_alert_states(path) | {key: state})
    except OSError as error:
        raise build_write_error(f"the alert state to {path}", error) from None

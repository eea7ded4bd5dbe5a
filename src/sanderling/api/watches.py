"""Watches of a collection: definitions, the changes they reported, numbers, and the service that checks them."""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from sanderling.changes.feed import summarize_change
from sanderling.crawl.refresh import RefreshMode
from sanderling.crawl.request import parse_seed
from sanderling.crawl.watch_service import WatchService
from sanderling.errors import UsageError
from sanderling.monitor.conditions import HELP as CONDITION_HELP
from sanderling.monitor.delivery import send_message, validate_target
from sanderling.monitor.message_text import build_payload, format_change
from sanderling.monitor.outbox import Outbox, OutgoingMessage
from sanderling.monitor.watch import Watch
from sanderling.monitor.watch_file import (
    INTERNAL,
    build_watch,
    load_watch_digest,
    load_watch_file,
    parse_interval,
)
from sanderling.monitor.watch_store import WatchStore, has_watches
from sanderling.monitor.websub import HubAddress

__all__ = [
    "CONDITION_HELP",
    "HubAddress",
    "RefreshMode",
    "Watch",
    "WatchService",
    "WatchState",
    "WatchStore",
    "build_watch",
    "describe_definition",
    "format_change",
    "has_watches",
    "list_watch_states",
    "open_watches",
    "parse_page_url",
    "send_test_messages",
    "set_common_digest",
    "summarize_change",
    "update_watches_from_file",
]


class WatchState(Struct, frozen=True):
    """A watch with its number, its changes, and whether it is active."""

    id: int
    watch: Watch
    change_count: int
    last_change: float
    state: str  # active, paused, or not delivered: reason


def open_watches(folder: Path) -> WatchStore:
    """Open the watches of a collection, or create their tables. Close the result."""
    return WatchStore(folder)


def describe_definition(watch: Watch) -> dict[str, object]:
    """Return a watch with the keys of a `[[watch]]` table."""
    return {name: value for name, value in to_builtins(watch).items() if name not in INTERNAL}


def list_watch_states(store: WatchStore) -> Iterator[WatchState]:
    """Yield the watches with their state."""
    outbox = Outbox(store)
    for id_, watch in store.load_watches().items():
        error = outbox.get_last_error(id_)
        state = "paused" if watch.paused else f"not delivered: {error}" if error else "active"
        yield WatchState(id_, watch, *store.count_events(id_), state)


def update_watches_from_file(folder: Path, file: Path) -> None:
    """Add or update the watches of a settings file, if it exists."""
    watches = load_watch_file(file, time.time()) if file.is_file() else []
    digest = load_watch_digest(file) if file.is_file() else None
    if not watches and digest is None:
        return
    store = WatchStore(folder)
    if digest is not None:
        store.set_digest(*digest, time.time())
    known = {watch.name: watch for watch in store.load_watches().values()}
    for watch in watches:
        before = known.get(watch.name, watch)
        kept = replace(watch, added_at=before.added_at, baseline_at=before.baseline_at, paused=before.paused)
        if known.get(watch.name) != kept:
            store.save_watch(kept)
    store.close()


def set_common_digest(folder: Path, interval: str, targets: Sequence[str]) -> None:
    """Send the changes of all watches to these targets in one message per interval; empty: no longer."""
    checked = tuple(map(validate_target, targets))
    every = parse_interval("--digest-all", interval) if interval else 0.0
    if interval and every <= 0:
        raise UsageError("--digest-all must be longer than 0")
    store = WatchStore(folder)
    if every:
        store.set_digest(every, checked, time.time())
    else:
        store.save_digest(None)
    store.close()


def send_test_messages(store: WatchStore, watch: Watch) -> Iterator[tuple[str, str]]:
    """Send a message to every target, and yield target and error (empty: delivered)."""
    if not watch.notify:
        raise UsageError(f"watch {watch.name!r} notifies no one; add --notify ADDRESS")
    payload = build_payload(watch, [])
    key, now = store.get_webhook_key(), time.time()
    for target in watch.notify:
        message = OutgoingMessage(0, f"test-{now:.6f}", target, 0, json.dumps(payload).encode())
        yield target, send_message(message, key, now)


def parse_page_url(text: str) -> str:
    """Return the key of a URL, which may lack its scheme. Raises UsageError if it cannot be crawled."""
    return parse_seed(text).url

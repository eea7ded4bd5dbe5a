"""Crawl a set of shards, divide a collection into shards, and join them."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from sanderling.crawl.request import CrawlRequest, CrawlSummary
from sanderling.crawl.sharding.shard_supervisor import ShardSupervisor, open_supervisor
from sanderling.crawl.stop import CrawlProgress
from sanderling.search.background_indexer import index_in_background
from sanderling.storage.collection import delete_collection, open_collection_read_only
from sanderling.storage.reports import load_totals
from sanderling.storage.shard_conversion import join_shards, split_collection
from sanderling.storage.shard_set import get_shard_folder, is_shard_set, open_control

__all__ = [
    "ShardState",
    "ShardSupervisor",
    "crawl_shards",
    "is_shard_set",
    "join_collection",
    "list_shards",
    "split_into_shards",
]


class ShardState(Struct, frozen=True):
    """Size of a shard."""

    shard: int
    folder: str
    hosts: int
    pages: int
    queued: int
    is_crawling: bool


def crawl_shards(
    folder: Path,
    request: CrawlRequest,
    on_tick: Callable[[CrawlProgress], None],
    report: Callable[[str], None],
    *,
    on_start: Callable[[ShardSupervisor], None] | None = None,
    keep_index: bool = True,
    clean: bool = False,
) -> CrawlSummary:
    """Crawl with a process per shard, and index each shard. `on_start` gets the supervisor, to stop it."""
    if clean and is_shard_set(folder):
        delete_collection(folder)
    supervisor = open_supervisor(folder, request, report)
    if on_start:
        on_start(supervisor)
    with ExitStack() as indexers:
        for shard_folder in supervisor.shard_folders:
            indexers.enter_context(index_in_background(shard_folder, report, keep_index))
        return supervisor.run(on_tick)


def split_into_shards(folder: Path, count: int) -> None:
    """Divide a collection into shards; a set is divided again."""
    split_collection(folder, count, time.time())


def join_collection(folder: Path) -> None:
    """Make one collection of the shards of a set."""
    join_shards(folder, time.time())


def list_shards(folder: Path) -> list[ShardState]:
    control = open_control(folder)
    try:
        rows = control.load_shards()
    finally:
        control.close()
    now, states = time.time(), []
    for row in rows:
        shard_folder = get_shard_folder(folder, row.id)
        with open_collection_read_only(shard_folder) as collection:
            totals = load_totals(collection.db)
        queued, is_crawling = totals.urls.get("queued", 0), bool(row.owner) and row.until > now
        states.append(ShardState(row.id, str(shard_folder), totals.hosts, totals.pages, queued, is_crawling))
    return states

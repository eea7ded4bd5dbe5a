"""Send the pages of a collection to a sink, once or continuously."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from sanderling.errors import DatabaseUnavailable, SinkUnavailable
from sanderling.export.export_rows import ExportQuery, validate_query
from sanderling.export.file_sink import FileSink
from sanderling.export.postgres_sink import PostgresSink
from sanderling.export.sink import Sink, SinkFollower, SinkOptions, list_columns, lock_sink_state
from sanderling.export.webhook_sink import WebhookSink
from sanderling.plugins.plugin_registry import PluginGroup, has_plugin, load_plugin
from sanderling.storage.collection import open_collection_read_only

POLL_SECONDS = 2.0
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 2.0, 300.0
SINKS: dict[str, Callable[[SinkOptions], Sink]] = {
    "postgresql": PostgresSink,
    "postgres": PostgresSink,
    "http": WebhookSink,
    "https": WebhookSink,
}
"""Sinks by scheme, besides those of plugins; other addresses are folders of files."""


class SinkRequest(Struct, frozen=True):
    """What is sent where."""

    target: str
    query: ExportQuery = ExportQuery()
    format: str = "jsonl"  # of files
    table: str = "sanderling_pages"  # of databases
    includes_unchanged: bool = False  # also visits that found a page unchanged
    restart: bool = False  # send all pages again


class SinkReport(Struct, frozen=True):
    """Rows sent to a target by a run, and the last visit it has now."""

    target: str
    rows: int
    cursor: int


def open_sink(options: SinkOptions) -> Sink:
    """Open a sink. Raises UsageError for a target that cannot work, SinkUnavailable for one that does not now."""
    scheme, separator, _ = options.target.partition("://")
    build: Callable[[SinkOptions], Sink] = SINKS.get(scheme if separator else "", FileSink)
    if separator and scheme not in SINKS and has_plugin(PluginGroup.SINKS, scheme):
        build = load_plugin(PluginGroup.SINKS, scheme)
    return build(options)


def run_sink(
    folder: Path,
    request: SinkRequest,
    *,
    stopped: threading.Event | None = None,
    on_retry: Callable[[str], None] | None = None,
) -> SinkReport:
    """Send what the sink does not have. With `on_retry`, wait for more pages, and try again after errors.

    `on_retry` is called with the reason of each pause after an error; `stopped` ends the run after a batch.
    """
    stopped, rows, delay = stopped or threading.Event(), 0, FIRST_RETRY_SECONDS
    validate_query(request.query)
    with lock_sink_state(folder, request.target, restart=request.restart) as (file, state):
        columns = list_columns(request.query)
        options = SinkOptions(request.target, columns, request.format, request.table, state.signing_key)
        while not stopped.is_set():
            try:
                with open_collection_read_only(folder) as collection, closing(open_sink(options)) as sink:
                    follower = SinkFollower(
                        collection, file, state, request.query, includes_unchanged=request.includes_unchanged
                    )
                    for count in _write_batches(follower, sink, stopped, is_following=on_retry is not None):
                        rows, delay = rows + count, FIRST_RETRY_SECONDS
                break
            except (SinkUnavailable, DatabaseUnavailable) as error:
                if on_retry is None:
                    raise
                on_retry(f"{error}; trying again in {delay:.0f} s")
                stopped.wait(delay)
                delay = min(2 * delay, MAX_RETRY_SECONDS)
        return SinkReport(state.target, rows, state.cursor)


def _write_batches(
    follower: SinkFollower, sink: Sink, stopped: threading.Event, *, is_following: bool
) -> Iterator[int]:
    """Write batches until nothing is pending, or until stopped."""
    while not stopped.is_set():
        count = follower.write_next(sink)
        if count is not None:
            yield count
        elif is_following:
            stopped.wait(POLL_SECONDS)
        else:
            return

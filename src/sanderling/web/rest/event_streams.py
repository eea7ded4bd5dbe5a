"""Server-sent events: progress of a crawl, and changes as they are stored.

The id of an event is the number of the visit it comes from. A client that reconnects with `Last-Event-ID`, as browsers
do, continues behind it and misses nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from sanderling.api.change_stream import get_last_visit, load_changes_after
from sanderling.errors import SanderlingError
from sanderling.web.live import MAX_STREAMS, STREAM_SECONDS, LiveStreams
from sanderling.web.rest import answers
from sanderling.web.rest.crawl_operations import build_crawl_answer, require_job
from sanderling.web.rest.operation import ApiCall, ApiError, Operation
from sanderling.web.rest.page_operations import build_change_entry

UPDATE_SECONDS = 1.0
KEEP_ALIVE_SECONDS = 15.0  # so that proxies do not close a quiet stream
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
Poll = Callable[[], tuple[list[bytes], bool]]
"""Return the next events, and whether they are the last."""


class ChangeStreamParameters(Struct, frozen=True, forbid_unknown_fields=True):
    after: Annotated[int, Meta(ge=-1, le=10**15, description="id of the last event received; -1: only new ones")] = -1


def stream_crawl(call: ApiCall) -> Response:
    """Send the progress of a crawl each second, and its result at the end."""
    require_job(call)

    def poll() -> tuple[list[bytes], bool]:
        job = require_job(call)
        if job.ended_at:
            return [format_event("end", build_crawl_answer(job))], True
        try:
            status = call.app_state.crawl_view.get_status()
        except SanderlingError:  # the first crawl creates its tables
            return [], False
        progress = answers.CrawlProgressEntry(
            status.pages, status.waiting, status.in_flight, status.visits, status.pages_per_second,
            status.bytes_per_second,
        )  # fmt: skip
        return [format_event("progress", progress)], False

    return open_stream(call, poll)


def stream_changes(call: ApiCall) -> Response:
    """Send each change as it is stored."""
    with call.services.open_collection() as collection:
        cursor = _get_start(call, get_last_visit(collection))

    def poll() -> tuple[list[bytes], bool]:
        nonlocal cursor
        with call.services.open_collection() as collection:
            changes, cursor = load_changes_after(collection, cursor)
            events = [format_event("change", build_change_entry(change), visit) for visit, change in changes]
        return events, False

    return open_stream(call, poll)


def _get_start(call: ApiCall, last_visit: int) -> int:
    """Return the visit after which a stream of changes starts: the header of a reconnect is newer than the address."""
    sent = call.request.headers.get("last-event-id", "") if call.request is not None else ""
    if sent.isascii() and sent.isdigit() and len(sent) < 16:
        return int(sent)
    after: int = call.parameters.after
    return last_visit if after < 0 else after


def open_stream(call: ApiCall, poll: Poll) -> Response:
    """Open a stream. Raises ApiError when too many are open."""
    assert call.request is not None
    streams: LiveStreams = call.request.app.state.streams
    if streams.open_count >= MAX_STREAMS:
        raise ApiError(503, "too many open streams; close one first", {"Retry-After": "10"})
    return StreamingResponse(_generate_events(call, streams, poll), 200, STREAM_HEADERS, "text/event-stream")


async def _generate_events(call: ApiCall, streams: LiveStreams, poll: Poll) -> AsyncIterator[bytes]:
    assert call.request is not None
    loop = asyncio.get_running_loop()
    streams.open_count += 1
    quiet_since, ends_at = loop.time(), loop.time() + STREAM_SECONDS
    try:
        yield b": connected\n\n"
        while loop.time() < ends_at and not streams.stop_event.is_set() and not await call.request.is_disconnected():
            events, is_end = await run_in_threadpool(poll)
            for event in events:
                yield event
            if is_end:
                return
            if events:
                quiet_since = loop.time()
            elif loop.time() - quiet_since >= KEEP_ALIVE_SECONDS:
                yield b": waiting\n\n"
                quiet_since = loop.time()
            try:
                await asyncio.wait_for(streams.stop_event.wait(), UPDATE_SECONDS)
            except TimeoutError:
                continue
    finally:
        streams.open_count -= 1


def format_event(name: str, value: object, id_: int | None = None) -> bytes:
    """Format an event; JSON has no line breaks."""
    head = f"event: {name}\n" if id_ is None else f"id: {id_}\nevent: {name}\n"
    return head.encode() + b"data: " + msgspec.json.encode(value) + b"\n\n"


STREAM_OPERATIONS = (
    Operation(
        name="stream_crawl", method="GET", path="/crawls/{id}/events", is_stream=True,
        summary="Follow a crawl: events `progress` each second, then `end` with the result",
        run=stream_crawl, answer=answers.CrawlProgressEntry,
    ),
    Operation(
        name="stream_changes", method="GET", path="/changes/events", is_stream=True,
        summary="Follow the collection: an event `change` for each change, with the visit as id",
        run=stream_changes, answer=answers.ChangeEntry, parameters=ChangeStreamParameters,
    ),
)  # fmt: skip

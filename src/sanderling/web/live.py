"""Numbers as they change: server-sent events for the dashboard, text for Prometheus."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from sanderling.web.queries.signal_stats import SignalRow, signal_rows
from sanderling.web.state import Rooms, rooms_of, session_of
from sanderling.web.view_models import HostRow, MigrantRow, Status

EVERY_SECONDS = 1.0
MOST_STREAMS = 40
LIVE_SECONDS = 3600.0  # then the browser asks again by itself


class Pulse(msgspec.Struct, frozen=True):
    """What the dashboard gets each second."""

    status: Status
    hosts: list[HostRow]
    migrants: list[MigrantRow]
    signals: list[SignalRow]


class Streams:
    """How many dashboards are being fed; a feed ends when its reader leaves or the app stops."""

    def __init__(self) -> None:
        self.open = 0
        self.over = asyncio.Event()


def pulse(rooms: Rooms) -> Pulse:
    """One look at everything that moves."""
    indexed, until = rooms.library.size()
    status = rooms.window.status()
    status = msgspec.structs.replace(status, indexed=indexed, index_behind=max(0, status.visits - until))
    return Pulse(status, rooms.window.hosts(20), rooms.window.migrants(), signal_rows(rooms))


async def stream(request: Request) -> Response:
    """GET /api/live."""
    rooms, streams = rooms_of(request), request.app.state.streams
    if rooms.public and await run_in_threadpool(session_of, request) is None:
        return PlainTextResponse("please log in", 401)
    if streams.open >= MOST_STREAMS:
        return PlainTextResponse("too many dashboards are open", 503)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_beats(request, rooms, streams), 200, headers, "text/event-stream")


async def _beats(request: Request, rooms: Rooms, streams: Streams) -> AsyncIterator[bytes]:
    streams.open += 1
    try:
        for _ in range(int(LIVE_SECONDS / EVERY_SECONDS)):
            if streams.over.is_set() or await request.is_disconnected():
                return
            seen = await run_in_threadpool(pulse, rooms)
            yield b"data: " + msgspec.json.encode(seen) + b"\n\n"
            try:
                await asyncio.wait_for(streams.over.wait(), EVERY_SECONDS)
            except TimeoutError:
                continue
    finally:
        streams.open -= 1


# Name, kind, help, and how it is read off the status: docs/search.md lists the same.
METRICS = (
    ("sanderling_pages", "gauge", "Stored pages.", lambda s: s.pages),
    ("sanderling_visits_total", "counter", "Visits ever made.", lambda s: s.visits),
    ("sanderling_urls_waiting", "gauge", "URLs in the queue.", lambda s: s.waiting),
    ("sanderling_urls_in_flight", "gauge", "URLs in the hands of migrants.", lambda s: s.in_flight),
    ("sanderling_crawl_running", "gauge", "1 while a crawl runs.", lambda s: int(s.running)),
    ("sanderling_pages_per_second", "gauge", "Visits per second over ten seconds.", lambda s: s.pages_per_second),
    ("sanderling_bytes_per_second", "gauge", "Bytes received per second.", lambda s: s.bytes_per_second),
    ("sanderling_downloaded_bytes_total", "counter", "Bytes received ever.", lambda s: s.bytes_downloaded),
    ("sanderling_saved_bytes_total", "counter", "Bytes of bodies that were not sent again.", lambda s: s.bytes_saved),
    ("sanderling_stored_bytes", "gauge", "Bytes of stored bodies.", lambda s: s.bytes_stored),
    ("sanderling_archive_bytes", "gauge", "Bytes of WARC files.", lambda s: s.bytes_archived),
    ("sanderling_changed_pages_day", "gauge", "Changes noted in the last day.", lambda s: s.changed_today),
    ("sanderling_fresh_ratio", "gauge", "Share of pages visited in the last day.", lambda s: s.fresh),
    ("sanderling_indexed_pages", "gauge", "Pages in the search index.", lambda s: s.indexed),
    ("sanderling_index_behind_visits", "gauge", "Visits not yet in the index.", lambda s: s.index_behind),
)


def metrics(request: Request) -> Response:
    """GET /metrics, in the text format of Prometheus."""
    rooms = rooms_of(request)
    if rooms.public and session_of(request) is None:
        return PlainTextResponse("please log in", 401)
    status = pulse(rooms).status
    lines = []
    for name, kind, text, read in METRICS:
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {float(read(status)):g}"]
    lines += ["# HELP sanderling_urls Known URLs by state.", "# TYPE sanderling_urls gauge"]
    lines += [f'sanderling_urls{{state="{state}"}} {count}' for state, count in sorted(status.urls.items())]
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")

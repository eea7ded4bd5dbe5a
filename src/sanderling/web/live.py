"""Server-sent events for the dashboard, metrics for Prometheus."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from sanderling.api.reports.signal_stats import SignalRow, list_signals
from sanderling.api.reports.view_models import CrawlStatus, HostStatusRow, WorkerRow
from sanderling.web.state import AppState, get_app_state, get_session

UPDATE_SECONDS = 1.0
MAX_STREAMS = 40
STREAM_SECONDS = 3600.0  # then the browser reconnects


class DashboardUpdate(msgspec.Struct, frozen=True):
    status: CrawlStatus
    hosts: list[HostStatusRow]
    workers: list[WorkerRow]
    signals: list[SignalRow]


class LiveStreams:
    """Counts open streams and ends them on shutdown."""

    def __init__(self) -> None:
        self.open_count = 0
        self.stop_event = asyncio.Event()


def build_dashboard_update(app_state: AppState) -> DashboardUpdate:
    indexed_pages, last_batch = app_state.search_service.get_index_state()
    status = app_state.crawl_view.get_status()
    status = msgspec.structs.replace(status, indexed_pages=indexed_pages, index_lag=max(0, status.visits - last_batch))
    view = app_state.crawl_view
    return DashboardUpdate(status, view.list_hosts(20), view.list_workers(), list_signals(view, app_state.event_log))


async def stream_updates(request: Request) -> Response:
    """GET /api/live."""
    app_state, streams = get_app_state(request), request.app.state.streams
    if app_state.is_public and await run_in_threadpool(get_session, request) is None:
        return PlainTextResponse("please log in", 401)
    if streams.open_count >= MAX_STREAMS:
        return PlainTextResponse("too many open dashboards; close one and reload", 503)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_generate_events(request, app_state, streams), 200, headers, "text/event-stream")


async def _generate_events(request: Request, app_state: AppState, streams: LiveStreams) -> AsyncIterator[bytes]:
    streams.open_count += 1
    try:
        for _ in range(int(STREAM_SECONDS / UPDATE_SECONDS)):
            if streams.stop_event.is_set() or await request.is_disconnected():
                return
            update = await run_in_threadpool(build_dashboard_update, app_state)
            yield b"data: " + msgspec.json.encode(update) + b"\n\n"
            try:
                await asyncio.wait_for(streams.stop_event.wait(), UPDATE_SECONDS)
            except TimeoutError:
                continue
    finally:
        streams.open_count -= 1


# Name, type, help, value; also listed in docs/explanation/search.md.
METRICS = (
    ("sanderling_pages", "gauge", "Stored pages.", lambda s: s.pages),
    ("sanderling_visits_total", "counter", "Visits in total.", lambda s: s.visits),
    ("sanderling_urls_waiting", "gauge", "URLs in the queue.", lambda s: s.waiting),
    ("sanderling_urls_in_flight", "gauge", "URLs leased to workers.", lambda s: s.in_flight),
    ("sanderling_crawl_running", "gauge", "1 while a crawl runs.", lambda s: int(s.running)),
    ("sanderling_pages_per_second", "gauge", "Visits per second over ten seconds.", lambda s: s.pages_per_second),
    ("sanderling_bytes_per_second", "gauge", "Bytes received per second.", lambda s: s.bytes_per_second),
    ("sanderling_downloaded_bytes_total", "counter", "Bytes received in total.", lambda s: s.bytes_downloaded),
    ("sanderling_saved_bytes_total", "counter", "Bytes of bodies not sent again (304).", lambda s: s.bytes_saved),
    ("sanderling_stored_bytes", "gauge", "Bytes of stored bodies.", lambda s: s.bytes_stored),
    ("sanderling_archive_bytes", "gauge", "Bytes of WARC files.", lambda s: s.bytes_archived),
    ("sanderling_changed_pages_day", "gauge", "Changes detected in the last day.", lambda s: s.changed_today),
    ("sanderling_fresh_ratio", "gauge", "Share of pages visited in the last day.", lambda s: s.fresh_ratio),
    ("sanderling_indexed_pages", "gauge", "Pages in the search index.", lambda s: s.indexed_pages),
    ("sanderling_index_behind_visits", "gauge", "Visits not yet in the index.", lambda s: s.index_lag),
)


def render_metrics(request: Request) -> Response:
    app_state = get_app_state(request)
    if app_state.is_public and get_session(request) is None:
        return PlainTextResponse("please log in", 401)
    status = build_dashboard_update(app_state).status
    lines = []
    for name, kind, text, read in METRICS:
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {float(read(status)):g}"]
    lines += ["# HELP sanderling_urls Known URLs by state.", "# TYPE sanderling_urls gauge"]
    lines += [f'sanderling_urls{{state="{state}"}} {count}' for state, count in sorted(status.urls.items())]
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


def check_health(request: Request) -> Response:
    """GET /healthz."""
    app_state = get_app_state(request)
    app_state.event_log.db.execute("SELECT 1")
    return JSONResponse({"status": "ok", "indexed": app_state.search_service.get_index_state()[0]})

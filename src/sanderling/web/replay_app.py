"""The replay application. It runs on a port of its own, so that stored pages do not share an origin with the dashboard.

Scripts of stored pages do not run, and the browser may load nothing but the archive.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from sanderling.api.replay.capture_store import CaptureStore, CdxjEntry, ReplayCapture, find_nearest
from sanderling.api.replay.cdx_api import find_rows, format_row, parse_query
from sanderling.api.replay.memento import MementoLinks, build_capture_path, build_etag, parse_accept_datetime
from sanderling.api.replay.replay_body import RAW, build_body
from sanderling.api.replay.replay_url import (
    ReplayTarget,
    build_replay_path,
    format_http_date,
    join_url,
    parse_target,
)
from sanderling.api.replay.rewriting import FRAME, build_banner
from sanderling.api.replay.time_line import STYLE, build_marks, build_time_line
from sanderling.errors import UsageError
from sanderling.web.middleware import ClientRateLimiter, SecurityMiddleware
from sanderling.web.state import AppState, get_app_state, get_session

CONTENT_POLICY = (
    "sandbox allow-same-origin; default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline';"
    " font-src 'self' data:; media-src 'self' data:; frame-src 'self'; object-src 'none'; script-src 'none';"
    " connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
HEADERS = {"Content-Security-Policy": CONTENT_POLICY, "X-Frame-Options": "SAMEORIGIN", "Referrer-Policy": "no-referrer"}
CDX_TYPES = {"json": "text/x-ndjson", "cdxj": "text/x-cdxj", "text": "text/plain", "link": "application/link-format"}
Handler = Callable[[Request], Response]


def build_replay_app(
    app_state: AppState, host_names: Iterable[str] = (), rate_limiter: ClientRateLimiter | None = None
) -> SecurityMiddleware:
    """Build the application. On a public server it requires a login at the dashboard."""
    routes = [
        Route("/", _require_session(show_start)),
        Route("/cdx", _require_session(query_cdx)),
        Route("/web/cdx", _require_session(query_cdx)),
        Route("/web/timemap/link/{path:path}", _require_session(show_timemap)),
        Route("/web/*/{path:path}", _require_session(show_time_line)),
        Route("/web/{path:path}", _require_session(replay)),
        Route("/healthz", lambda _: PlainTextResponse("ok")),
    ]
    app = Starlette(routes=routes)
    app.state.app_state = app_state
    app.state.captures = CaptureStore(app_state.crawl_view.folder)
    return SecurityMiddleware(app, host_names, rate_limiter)


def _require_session(handler: Handler) -> Handler:
    def guarded(request: Request) -> Response:
        if get_app_state(request).is_public and get_session(request) is None:
            return _render_message("Log in at the search page first.", 403)
        return handler(request)

    return guarded


def show_start(request: Request) -> Response:
    """List the seeds."""
    seeds = get_app_state(request).crawl_view.list_seeds()[:200]
    items = "".join(f'<li><a href="/web/{escape(seed)}">{escape(seed)}</a>' for seed in seeds)
    hint = "A page at a time: <code>/web/20261119/URL</code>, its captures: <code>/web/*/URL</code>"
    return _render_page("Archive", f"<ul>{items}</ul><p>{hint}", 200)


def query_cdx(request: Request) -> Response:
    """GET /cdx: captures as in other CDX servers."""
    try:
        query = parse_query(request.query_params, request.query_params.getlist("filter"))
        rows = find_rows(query, _get_captures(request))
    except UsageError as error:
        return JSONResponse({"message": str(error)}, 400)
    if query.output == "link":
        return RedirectResponse(f"/web/timemap/link/{query.url}", 307)

    def stream() -> Iterator[str]:
        for row in rows:
            yield format_row(row, query)

    return StreamingResponse(stream(), headers={"Cache-Control": "no-store"}, media_type=CDX_TYPES[query.output])


def show_timemap(request: Request) -> Response:
    target = parse_target(f"/web/{_get_raw_target(request).removeprefix('/web/timemap/link/')}")
    captures = _get_captures(request).list_captures(target.url) if target else []
    if target is None or not captures:
        return _render_message("This URL is not in the archive.", 404)
    links = MementoLinks(_get_origin(request), target.url, captures)
    return Response(links.build_timemap(), headers={"Cache-Control": "no-store"}, media_type=CDX_TYPES["link"])


def show_time_line(request: Request) -> Response:
    """List the captures of a URL by year and day."""
    target = parse_target(_get_raw_target(request).replace("/web/*/", "/web/", 1))
    captures = _get_captures(request).list_captures(target.url) if target else []
    if target is None or not captures:
        return _render_missing(target.url if target else "")
    return Response(build_time_line(target.url, captures), headers=HEADERS, media_type="text/html; charset=utf-8")


def replay(request: Request) -> Response:
    """Answer as a time gate, or with a capture."""
    target = parse_target(_get_raw_target(request))
    if target is None:
        return _render_message("The address has the form /web/20261119080000/https://example.org/", 404)
    return _replay_capture(request, target) if target.timestamp else _answer_time_gate(request, target)


def _answer_time_gate(request: Request, target: ReplayTarget) -> Response:
    """Redirect to the capture nearest to the header Accept-Datetime (RFC 7089, pattern 2.1)."""
    at = parse_accept_datetime(request.headers.get("accept-datetime", ""))
    if at is None:
        return _render_message("Accept-Datetime has the form: Thu, 19 Nov 2026 08:00:00 GMT", 400)
    captures = _get_captures(request).list_captures(target.url)
    nearest = find_nearest(captures, at)
    if nearest is None:
        return _render_missing(target.url)
    links = MementoLinks(_get_origin(request), target.url, captures)
    headers = {"Vary": "accept-datetime", "Link": links.build_header(nearest), "Cache-Control": "no-store"}
    return RedirectResponse(build_capture_path(nearest, captures), 302, headers)


def _replay_capture(request: Request, target: ReplayTarget) -> Response:
    store = _get_captures(request)
    capture = store.load_nearest(target.url, target.at, target.number)
    if capture is None:
        return _render_missing(target.url)
    entry = capture.entry
    is_page = target.modifier in ("", FRAME)
    headers = {**HEADERS, "Memento-Datetime": format_http_date(entry.captured_at), "ETag": build_etag(entry)}
    captures = store.list_captures(target.url) if is_page or target.modifier == RAW else []
    if captures:
        headers["Link"] = MementoLinks(_get_origin(request), entry.url, captures).build_header(entry)
    status = capture.record.status or entry.status or 200
    if 300 <= status < 400 and (location := capture.record.get_header("Location")):
        joined = join_url(entry.url, location)
        path = build_replay_path(joined, entry.captured_at, target.modifier) if joined else "/"
        return RedirectResponse(path, status, headers)
    banner = "" if target.modifier else _build_banner(capture, captures)
    body, content_type = build_body(capture, target.modifier, banner)
    return Response(body, status if status != 304 else 200, headers, content_type)


def _build_banner(capture: ReplayCapture, captures: Sequence[CdxjEntry]) -> str:
    entry = capture.entry
    place = next((n for n, other in enumerate(captures) if other == entry), 0)
    links = [("all captures", f"/web/*/{entry.url}")]
    if place + 1 < len(captures):
        links.insert(0, ("next", build_capture_path(captures[place + 1], captures)))
    if place > 0:
        links.insert(0, ("previous", build_capture_path(captures[place - 1], captures)))
    text = f"{format_http_date(entry.captured_at)}, capture {place + 1} of {len(captures)}"
    return build_banner(entry.url, text, links, build_marks(captures, entry))


def _get_captures(request: Request) -> CaptureStore:
    store: CaptureStore = request.app.state.captures
    return store


def _get_origin(request: Request) -> str:
    return f"{request.url.scheme}://{request.headers.get('host', '')}"


def _get_raw_target(request: Request) -> str:
    """Return path and query as they were sent: escapes are part of the archived URL."""
    path = request.scope.get("raw_path") or request.scope["path"].encode()
    query = request.scope.get("query_string", b"")
    target: bytes = path.partition(b"?")[0] + (b"?" + query if query else b"")
    return target.decode("latin-1")


def _render_missing(url: str) -> Response:
    """Say that a URL is not stored, with a link to the live page and to what is stored."""
    live = escape(url) if url.startswith(("http://", "https://")) else ""
    link = f' or open <a href="{live}" rel="noreferrer">the live page</a>' if live else ""
    text = f'<p>This URL is not in the archive.<p>See <a href="/">what is archived</a>{link}.'
    return _render_page(url or "Not in the archive", text, 404)


def _render_message(text: str, status: int) -> Response:
    return _render_page("Archive", f"<p>{escape(text)}", status)


def _render_page(title: str, body: str, status: int) -> Response:
    page = (
        f'<!doctype html><html lang="en"><title>{escape(title)}</title><style>{STYLE}</style><h1>{escape(title)}</h1>'
    )
    return Response(f"{page}{body}</html>", status, HEADERS, "text/html; charset=utf-8")

"""Watches: list, history with a plot, add, pause, resume, and remove."""

from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sanderling.api.types import ReportedChange, Watch
from sanderling.api.watches import WatchStore, build_watch, has_watches, parse_page_url
from sanderling.errors import SanderlingError
from sanderling.web.forms import check_permission, deny_request, read_form
from sanderling.web.rendering import render_template
from sanderling.web.state import get_app_state
from sanderling.web.views import require_login

FORM_FIELDS = ("name", "every", "selector", "conditions", "notify")
MAX_EVENTS = 20  # of each watch
PLOT_WIDTH, PLOT_HEIGHT = 240, 40
MAX_PLOT_POINTS = 200


class WatchRow(Struct, frozen=True):
    id: int
    watch: Watch
    events: list[ReportedChange]
    plot: str  # points of a polyline; empty: fewer than two numbers
    last_value: str


@require_login
def watches_page(request: Request) -> Response:
    """GET /watches."""
    rows = _load_rows(request)
    return render_template(
        request, "watches.html", {"rows": rows, "error": request.query_params.get("error", "")[:500]}
    )


async def change_watches(request: Request) -> Response:
    """POST /watches: add a watch, or pause, resume, or remove it."""
    form = await read_form(request)
    if check_permission(request, form) is None:
        return deny_request()
    if form.get("do") == "pick":
        return RedirectResponse(f"/watches/part?url={quote(form.get('url', '').strip(), safe='')}", 303)
    error = await run_in_threadpool(_apply_watch_form, request, form)
    return RedirectResponse(f"/watches?error={quote(error)}" if error else "/watches", 303)


@require_login
def pick_part(request: Request) -> Response:
    """GET /watches/part: the stored copy of a page, in which a click selects the part to watch."""
    text, number = request.query_params.get("url", ""), request.query_params.get("watch", "")
    app_state = get_app_state(request)
    url, error = "", ""
    try:
        url = parse_page_url(text)
    except SanderlingError as problem:
        error = str(problem)
    body = app_state.crawl_view.load_body(url) if url else None
    details: dict[str, object] = {"url": url or text, "body": body, "selector": "", "watch": "", "error": error}
    if number.isdigit() and has_watches(app_state.crawl_view.folder):
        store = WatchStore(app_state.crawl_view.folder)
        watch = store.load_watches().get(int(number))
        store.close()
        if watch is not None:
            details |= {"watch": number, "selector": watch.selector[0] if watch.selector else ""}
    return render_template(request, "watch_part.html", details)


def _apply_watch_form(request: Request, form: dict[str, str]) -> str:
    """Apply a form. Returns an error, or an empty string."""
    app_state, action = get_app_state(request), form.get("do", "")
    store = WatchStore(app_state.crawl_view.folder)
    try:
        if action == "add":
            table: dict[str, object] = {name: form[name].strip() for name in FORM_FIELDS if form.get(name, "").strip()}
            key = "sites" if form.get("site") == "on" else "urls"
            store.save_watch(build_watch(table | {key: form.get("url", "").strip()}, app_state.clock()))
        else:
            id_, watch = store.find_watch(form.get("watch", ""))
            if action == "remove":
                store.delete_watch(id_)
            elif action == "select":
                store.save_watch(replace(watch, selector=(form.get("selector", "").strip(),)))
            elif action in ("pause", "resume"):
                store.save_watch(replace(watch, paused=action == "pause"))
    except SanderlingError as error:
        return str(error)
    finally:
        store.close()
    return ""


def _load_rows(request: Request) -> list[WatchRow]:
    folder = get_app_state(request).crawl_view.folder
    if not has_watches(folder):
        return []
    store = WatchStore(folder)
    try:
        rows = []
        for id_, watch in store.load_watches().items():
            values = store.load_values(id_) if watch.is_single_page else []
            last = f"{values[-1][2]:g} {values[-1][3]}" if values else ""
            points = [(at, value) for _, at, value, _ in values[-MAX_PLOT_POINTS:]]
            rows.append(WatchRow(id_, watch, store.load_events(id_, MAX_EVENTS), plot_values(points), last))
        return rows
    finally:
        store.close()


def plot_values(points: list[tuple[float, float]]) -> str:
    """Return the points of an SVG polyline that holds each value until the next; empty with fewer than two."""
    if len(points) < 2:
        return ""
    start, low = points[0][0], min(value for _, value in points)
    duration = max(points[-1][0] - start, 1.0)
    span = max(value for _, value in points) - low or 1.0
    drawn, before = [], points[0][1]
    for at, value in points:
        x = round((at - start) / duration * PLOT_WIDTH, 1)
        drawn += [f"{x},{_scale(before, low, span)}", f"{x},{_scale(value, low, span)}"]
        before = value
    return " ".join(drawn)


def _scale(value: float, low: float, span: float) -> float:
    return round(PLOT_HEIGHT - 2 - (value - low) / span * (PLOT_HEIGHT - 4), 1)

"""Pages about the crawl."""

from collections.abc import Callable
from functools import wraps
from itertools import pairwise

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sanderling.api.change_feed import write_change_feed
from sanderling.api.replay.replay_url import build_replay_path
from sanderling.api.replay.sanitize import PICKER, build_content_policy, is_embeddable, make_nonce, sanitize_page
from sanderling.api.reports.signal_stats import list_signals
from sanderling.api.reports.view_models import StoredBody
from sanderling.api.searching.user_feedback import ACTION_NUMBERS, UserAction, UserEvent
from sanderling.api.types import ChangeKind, DiffOperation
from sanderling.web.rendering import render_template
from sanderling.web.state import DAY_SECONDS, get_app_state, get_session
from sanderling.web.tracking import can_track, get_client_id, is_own_query, set_client_cookie

PageHandler = Callable[[Request], Response]
CHANGE_KINDS = tuple(map(str, ChangeKind))
MAX_URL_LENGTH = 8_000
CHANGES_PER_PAGE = 50


def require_login(handler: PageHandler) -> PageHandler:
    """Redirect anonymous clients of a public server to the login page."""

    @wraps(handler)
    def guarded(request: Request) -> Response:
        if get_app_state(request).is_public and get_session(request) is None:
            return RedirectResponse("/login", 303)
        return handler(request)

    return guarded


def get_int_param(request: Request, name: str, maximum: int = 10**15) -> int:
    """Return an integer parameter; 0 if missing or invalid."""
    text = request.query_params.get(name, "")
    return min(int(text), maximum) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def get_url_param(request: Request) -> str:
    return request.query_params.get("url", "")[:MAX_URL_LENGTH]


def get_version_params(request: Request) -> tuple[int, int]:
    """Return the visits to compare, by default the last two versions."""
    old, new = get_app_state(request).crawl_view.find_last_versions(get_url_param(request))
    return get_int_param(request, "old") or old, get_int_param(request, "new") or new


def render_missing(request: Request, target: str) -> Response:
    return render_template(request, "missing.html", {"target": target}, 404)


# Stored pages


def view_page(request: Request) -> Response:
    """Show a stored page with a toolbar. Opening a result counts as a click."""
    app_state, url = get_app_state(request), get_url_param(request)
    body = app_state.crawl_view.load_body(url, get_int_param(request, "visit"), float(get_int_param(request, "at")))
    if body is None:
        return render_missing(request, url)
    client = get_client_id(request)
    query_id, position = request.query_params.get("qid", "")[:64], get_int_param(request, "p", 10_000)
    if query_id and is_own_query(app_state, query_id, client):
        app_state.event_log.record_events(
            [UserEvent(client, UserAction.CLICK, app_state.clock(), query_id, url, position=position)]
        )
    has_screenshot = app_state.crawl_view.load_screenshot(url, body.visit) is not None
    context = {"body": body, "page": app_state.crawl_view.get_page(url), "has_screenshot": has_screenshot,
             "query_id": query_id, "position": position, "tracking": bool(client),
             "q": request.query_params.get("q", "")[:400],
             "replay_url": _build_replay_url(request, body)}  # fmt: skip
    response = render_template(request, "view.html", context)
    set_client_cookie(response, request, client)
    return response


def _build_replay_url(request: Request, body: StoredBody) -> str:
    """Return the address of the page in the replay; empty if there is none, or a proxy is in front."""
    port, host = get_app_state(request).replay_port, request.url.hostname or ""
    if not port or request.url.scheme == "https":
        return ""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{build_replay_path(body.url, body.at)}"


def stored_page(request: Request) -> Response:
    body = get_app_state(request).crawl_view.load_body(
        get_url_param(request), get_int_param(request, "visit"), float(get_int_param(request, "at"))
    )
    if body is None:
        return _build_sandboxed_response(
            b"<!doctype html><p>This page is not stored.", "", allow_scripts=False, status=404
        )
    nonce, scripts = make_nonce(), can_track(request)
    if request.query_params.get("pick"):
        page = sanitize_page(body, nonce, allow_scripts=True, script=PICKER)
        return _build_sandboxed_response(page, nonce, allow_scripts=True)
    return _build_sandboxed_response(sanitize_page(body, nonce, allow_scripts=scripts), nonce, allow_scripts=scripts)


def _build_sandboxed_response(page: bytes, nonce: str, *, allow_scripts: bool, status: int = 200) -> Response:
    headers = {
        "Content-Security-Policy": build_content_policy(nonce, allow_scripts=allow_scripts),
        "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
    return Response(page, status, headers, "text/html; charset=utf-8")


def stored_resource(request: Request) -> Response:
    """GET /stored/part: an image or stylesheet."""
    body = get_app_state(request).crawl_view.load_body(
        get_url_param(request), at=float(get_int_param(request, "at")) + DAY_SECONDS
    )
    if body is None or not is_embeddable(body.mime):
        return Response(b"", 404, {"Cross-Origin-Resource-Policy": "cross-origin"})
    headers = {"Cross-Origin-Resource-Policy": "cross-origin", "Cache-Control": "private, max-age=600",
               "Content-Security-Policy": "sandbox; default-src 'none'"}  # fmt: skip
    return Response(body.content, 200, headers, body.mime)


def stored_file(request: Request) -> Response:
    body = get_app_state(request).crawl_view.load_body(get_url_param(request), get_int_param(request, "visit"))
    if body is None:
        return render_missing(request, get_url_param(request))
    name = "".join(c for c in body.url.rstrip("/").rsplit("/", 1)[-1].split("?")[0] if c.isalnum() or c in "._-")[-80:]
    headers = {"Content-Disposition": f'attachment; filename="{name or "page"}"'}
    return Response(body.content, 200, headers, "application/octet-stream")


def stored_screenshot(request: Request) -> Response:
    """GET /stored/screenshot: the picture of a rendered page."""
    picture = get_app_state(request).crawl_view.load_screenshot(get_url_param(request), get_int_param(request, "visit"))
    if picture is None:
        return render_missing(request, get_url_param(request))
    mime = "image/png" if picture.body.startswith(b"\x89PNG") else "image/jpeg"
    headers = {"Content-Security-Policy": "sandbox; default-src 'none'", "Cache-Control": "private, max-age=600",
               "X-Content-Type-Options": "nosniff"}  # fmt: skip
    return Response(picture.body, 200, headers, mime)


# History and changes


@require_login
def history_page(request: Request) -> Response:
    app_state, url = get_app_state(request), get_url_param(request)
    page, versions = app_state.crawl_view.get_page(url), app_state.crawl_view.list_visits(url, 200)
    if not versions:
        return render_missing(request, url)
    stored = [version for version in versions if version.stored and version.outcome == "fetched"]
    previous = {newer.visit: older.visit for newer, older in pairwise(stored)}
    first, last = versions[-1].at, versions[0].at
    duration = max(last - first, 1.0)
    points = [(round(20 + 960 * (v.at - first) / duration, 1), v) for v in versions]
    context = {
        "url": url,
        "page": page,
        "versions": versions,
        "previous": previous,
        "points": points,
        "first": first,
        "last": last,
    }
    return render_template(request, "history.html", context)


@require_login
def diff_page(request: Request) -> Response:
    url, (old, new), crawl_view = get_url_param(request), get_version_params(request), get_app_state(request).crawl_view
    report = crawl_view.compare_versions(url, old, new)
    before, after = crawl_view.load_body(url, old), crawl_view.load_body(url, new)
    if report is None or before is None or after is None:
        return render_missing(request, url)
    context = {
        "url": url,
        "report": report,
        "before": before,
        "after": after,
        "pictures": crawl_view.list_pictures(url, (before.visit, after.visit), report),
        "DiffOperation": DiffOperation,
    }
    return render_template(request, "diff.html", context)


@require_login
def changes_page(request: Request) -> Response:
    kind, site, days = _get_change_filters(request)
    app_state, page = get_app_state(request), max(1, get_int_param(request, "page", 1000))
    since = app_state.clock() - days * DAY_SECONDS if days else 0.0
    rows = app_state.crawl_view.list_changes(kind, site, since, (page - 1) * CHANGES_PER_PAGE, CHANGES_PER_PAGE + 1)
    context = {
        "rows": rows[:CHANGES_PER_PAGE],
        "has_next": len(rows) > CHANGES_PER_PAGE,
        "kinds": CHANGE_KINDS,
        "kind": kind,
        "site": site,
        "days": days,
        "page": page,
    }
    return render_template(request, "changes.html", context)


@require_login
def changes_feed(request: Request) -> Response:
    kind, site, _ = _get_change_filters(request)
    rows = get_app_state(request).crawl_view.list_changes(kind, site, 0.0, 0, CHANGES_PER_PAGE)
    title = " ".join(word for word in ("Changes", kind and f"({kind})", site and f"of {site}") if word)
    return Response(write_change_feed(rows, title, f"changes {kind} {site}"), media_type="application/atom+xml")


def _get_change_filters(request: Request) -> tuple[str, str, int]:
    params = request.query_params
    kind = params.get("kind", "") if params.get("kind", "") in CHANGE_KINDS else ""
    return kind, params.get("site", "")[:200].strip().lower(), get_int_param(request, "days", 3650)


@require_login
def due_page(request: Request) -> Response:
    return render_template(request, "due.html", {"rows": get_app_state(request).crawl_view.list_due_urls(100)})


# Crawl and user statistics


@require_login
def dashboard_page(request: Request) -> Response:
    app_state = get_app_state(request)
    crawl_view = app_state.crawl_view
    context = {
        "status": crawl_view.get_status(),
        "hosts": crawl_view.list_hosts(20),
        "workers": crawl_view.list_workers(),
        "errors": crawl_view.list_errors(12),
        "reasons": crawl_view.count_reasons(),
        "rates": crawl_view.compute_visit_rates(60),
        "freshness": crawl_view.compute_freshness(),
        "signals": list_signals(app_state.crawl_view, app_state.event_log),
        "unmet_queries": app_state.event_log.list_unmet_queries(8),
        "index": app_state.search_service.get_index_state(),
    }
    return render_template(request, "dashboard.html", context)


@require_login
def stats_page(request: Request) -> Response:
    app_state = get_app_state(request)
    days = get_int_param(request, "days", 3650) or 30
    since = app_state.clock() - days * DAY_SECONDS
    tables = {group: app_state.event_log.count_events(group, since) for group in ("action", "page", "query", "day")}
    context = {
        "tables": tables,
        "days": days,
        "learned": app_state.event_log.list_top_weights(),
        "action_numbers": ACTION_NUMBERS,
        "tracking": app_state.is_tracking,
    }
    return render_template(request, "stats.html", context)

"""Pages that show the crawl: stored pages, their history, changes, the dashboard, what is due, what users do."""

from collections.abc import Callable
from functools import wraps
from itertools import pairwise

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sanderling.changes.feed import ChangeFeedEntry, build_feed_id, write_atom_entries
from sanderling.changes.fingerprint_diff import BlockAction as Happened
from sanderling.changes.word_diff import DiffOperation
from sanderling.search.feedback.events import ACTION_NUMBERS, UserAction, UserEvent
from sanderling.search.feedback.unmet_queries import list_unmet_queries
from sanderling.web.queries.signal_stats import list_signals
from sanderling.web.rendering import render_template
from sanderling.web.sanitize import build_content_policy, is_embeddable, make_nonce, sanitize_page
from sanderling.web.state import DAY_SECONDS, get_app_state, get_session
from sanderling.web.tracking import can_track, get_client_id, is_own_query, set_client_cookie

PageHandler = Callable[[Request], Response]
CHANGE_KINDS = ("content", "structure", "presentation", "behaviour", "media", "links")
MAX_URL_LENGTH = 8_000
CHANGES_PER_PAGE = 50


def require_login(handler: PageHandler) -> PageHandler:
    """Where the app is open to the world, what it shows of the crawl is for those who log in."""

    @wraps(handler)
    def guarded(request: Request) -> Response:
        if get_app_state(request).is_public and get_session(request) is None:
            return RedirectResponse("/login", 303)
        return handler(request)

    return guarded


def get_int_param(request: Request, name: str, maximum: int = 10**15) -> int:
    """A whole number from the address; 0 if there is none."""
    text = request.query_params.get(name, "")
    return min(int(text), maximum) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def get_url_param(request: Request) -> str:
    """The URL the address asks about."""
    return request.query_params.get("url", "")[:MAX_URL_LENGTH]


def get_version_params(request: Request) -> tuple[int, int]:
    """The visits whose bodies the address asks to compare; where it names none, the last two versions."""
    old, new = get_app_state(request).crawl_view.find_last_versions(get_url_param(request))
    return get_int_param(request, "old") or old, get_int_param(request, "new") or new


def render_missing(request: Request, what: str) -> Response:
    """A page that says what is not here."""
    return render_template(request, "missing.html", {"what": what}, 404)


# Stored pages


def view_page(request: Request) -> Response:
    """GET /view: a stored page in a frame, with its tool bar; being opened from a result counts as a click."""
    rooms, url = get_app_state(request), get_url_param(request)
    body = rooms.crawl_view.load_body(url, get_int_param(request, "visit"), float(get_int_param(request, "at")))
    if body is None:
        return render_missing(request, url)
    client = get_client_id(request)
    query_id, position = request.query_params.get("qid", "")[:64], get_int_param(request, "p", 10_000)
    if query_id and is_own_query(rooms, query_id, client):
        rooms.event_log.record_events(
            [UserEvent(client, UserAction.CLICK, rooms.clock(), query_id, url, position=position)]
        )
    about = {"body": body, "page": rooms.crawl_view.get_page(url), "query_id": query_id, "position": position,
             "tracking": bool(client), "q": request.query_params.get("q", "")[:400]}  # fmt: skip
    response = render_template(request, "view.html", about)
    set_client_cookie(response, request, client)
    return response


def stored_page(request: Request) -> Response:
    """GET /stored: the stored page itself, harmless, for the frame."""
    body = get_app_state(request).crawl_view.load_body(
        get_url_param(request), get_int_param(request, "visit"), float(get_int_param(request, "at"))
    )
    if body is None:
        return _build_sandboxed_response(
            b"<!doctype html><p>This page is not stored.", "", allow_scripts=False, status=404
        )
    nonce, scripts = make_nonce(), can_track(request)
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
    """GET /stored/part: an image or a style sheet of a stored page."""
    body = get_app_state(request).crawl_view.load_body(
        get_url_param(request), at=float(get_int_param(request, "at")) + DAY_SECONDS
    )
    if body is None or not is_embeddable(body.mime):
        return Response(b"", 404, {"Cross-Origin-Resource-Policy": "cross-origin"})
    headers = {"Cross-Origin-Resource-Policy": "cross-origin", "Cache-Control": "private, max-age=600",
               "Content-Security-Policy": "sandbox; default-src 'none'"}  # fmt: skip
    return Response(body.content, 200, headers, body.mime)


def stored_file(request: Request) -> Response:
    """GET /stored/file: the body as it came, to be saved."""
    body = get_app_state(request).crawl_view.load_body(get_url_param(request), get_int_param(request, "visit"))
    if body is None:
        return render_missing(request, get_url_param(request))
    name = "".join(c for c in body.url.rstrip("/").rsplit("/", 1)[-1].split("?")[0] if c.isalnum() or c in "._-")[-80:]
    headers = {"Content-Disposition": f'attachment; filename="{name or "page"}"'}
    return Response(body.content, 200, headers, "application/octet-stream")


# Their past


@require_login
def history_page(request: Request) -> Response:
    """GET /history: every visit to a page, on a line of time and as a list."""
    rooms, url = get_app_state(request), get_url_param(request)
    page, versions = rooms.crawl_view.get_page(url), rooms.crawl_view.list_visits(url, 200)
    if not versions:
        return render_missing(request, url)
    stored = [version for version in versions if version.stored and version.outcome == "fetched"]
    before = {newer.visit: older.visit for newer, older in pairwise(stored)}
    first, last = versions[-1].at, versions[0].at
    spread = max(last - first, 1.0)
    marks = [(round(20 + 960 * (v.at - first) / spread, 1), v) for v in versions]
    return render_template(request, "history.html", {"url": url, "page": page, "versions": versions, "before": before,
                                             "marks": marks, "first": first, "last": last})  # fmt: skip


@require_login
def diff_page(request: Request) -> Response:
    """GET /diff: two versions side by side, word by word."""
    url, (old, new), window = get_url_param(request), get_version_params(request), get_app_state(request).crawl_view
    report = window.compare_versions(url, old, new)
    before, after = window.load_body(url, old), window.load_body(url, new)
    if report is None or before is None or after is None:
        return render_missing(request, url)
    about = {
        "url": url,
        "report": report,
        "before": before,
        "after": after,
        "Mark": DiffOperation,
        "Happened": Happened,
    }
    return render_template(request, "diff.html", about)


@require_login
def changes_page(request: Request) -> Response:
    """GET /changes: what changed, by kind, site and time."""
    kind, site, days = _get_change_filters(request)
    rooms, page = get_app_state(request), max(1, get_int_param(request, "page", 1000))
    since = rooms.clock() - days * DAY_SECONDS if days else 0.0
    rows = rooms.crawl_view.list_changes(kind, site, since, (page - 1) * CHANGES_PER_PAGE, CHANGES_PER_PAGE + 1)
    about = {
        "rows": rows[:CHANGES_PER_PAGE],
        "more": len(rows) > CHANGES_PER_PAGE,
        "kinds": CHANGE_KINDS,
        "kind": kind,
        "site": site,
        "days": days,
        "page": page,
    }
    return render_template(request, "changes.html", about)


@require_login
def changes_feed(request: Request) -> Response:
    """GET /changes.atom: the newest changes of a kind and a site, to subscribe to."""
    kind, site, _ = _get_change_filters(request)
    rows = get_app_state(request).crawl_view.list_changes(kind, site, 0.0, 0, CHANGES_PER_PAGE)
    entries = [
        ChangeFeedEntry(row.url, row.at, row.title, row.kinds, f"significance {row.significance:.2f}") for row in rows
    ]
    about = " ".join(word for word in ("Changes", kind and f"({kind})", site and f"of {site}") if word)
    body = write_atom_entries(entries, about, build_feed_id(f"changes {kind} {site}"))
    return Response(body, media_type="application/atom+xml")


def _get_change_filters(request: Request) -> tuple[str, str, int]:
    """The kind of changes, the site and the days the address asks about."""
    asked = request.query_params
    kind = asked.get("kind", "") if asked.get("kind", "") in CHANGE_KINDS else ""
    return kind, asked.get("site", "")[:200].strip().lower(), get_int_param(request, "days", 3650)


@require_login
def due_page(request: Request) -> Response:
    """GET /due: what is visited next, and why."""
    return render_template(request, "due.html", {"rows": get_app_state(request).crawl_view.list_due_urls(100)})


# The crawl, and its users


@require_login
def dashboard_page(request: Request) -> Response:
    """GET /dashboard: the crawl as it runs; the numbers move by themselves."""
    rooms = get_app_state(request)
    window = rooms.crawl_view
    about = {
        "status": window.get_status(),
        "hosts": window.list_hosts(20),
        "migrants": window.list_workers(),
        "errors": window.list_errors(12),
        "reasons": window.count_reasons(),
        "rates": window.compute_visit_rates(60),
        "freshness": window.compute_freshness(),
        "signals": list_signals(rooms),
        "briefs": list_unmet_queries(rooms.event_log, limit=8),
        "index": rooms.search_service.get_index_state(),
    }
    return render_template(request, "dashboard.html", about)


@require_login
def stats_page(request: Request) -> Response:
    """GET /stats: what users do, per action, page, question and day."""
    rooms = get_app_state(request)
    days = get_int_param(request, "days", 3650) or 30
    since = rooms.clock() - days * DAY_SECONDS
    tables = {by: rooms.event_log.count_events(by, since) for by in ("action", "page", "query", "day")}
    learned = rooms.event_log.db.execute(
        "SELECT key, url, weight, clicks, examined, clients, pattern, apriori FROM weights"
        " WHERE weight <> 0 AND key <> '' ORDER BY abs(weight) DESC LIMIT 30"
    ).fetchall()
    about = {"tables": tables, "days": days, "learned": learned, "pids": ACTION_NUMBERS, "tracking": rooms.is_tracking}
    return render_template(request, "stats.html", about)

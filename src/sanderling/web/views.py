"""Pages that show the crawl: stored pages, their history, changes, the dashboard, what is due, what users do."""

from collections.abc import Callable
from functools import wraps
from itertools import pairwise

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sanderling.changes.diff import Action as Happened
from sanderling.changes.feed import Entry, atom_of, feed_id
from sanderling.changes.word_diff import Mark
from sanderling.search.feedback.events import PIDS, Action, Event
from sanderling.search.feedback.unmet_queries import briefs
from sanderling.web.queries.signal_stats import signal_rows
from sanderling.web.rendering import render
from sanderling.web.sanitize import harmless, is_part, new_nonce, policy
from sanderling.web.state import DAY, rooms_of, session_of
from sanderling.web.tracking import client_of, is_own, may_track, remember

Handler = Callable[[Request], Response]
KINDS = ("content", "structure", "presentation", "behaviour", "media", "links")
LONGEST_URL = 8_000
PER_PAGE = 50


def for_insiders(handler: Handler) -> Handler:
    """Where the app is open to the world, what it shows of the crawl is for those who log in."""

    @wraps(handler)
    def guarded(request: Request) -> Response:
        if rooms_of(request).public and session_of(request) is None:
            return RedirectResponse("/login", 303)
        return handler(request)

    return guarded


def whole(request: Request, name: str, most: int = 10**15) -> int:
    """A whole number from the address; 0 if there is none."""
    text = request.query_params.get(name, "")
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def url_of(request: Request) -> str:
    """The URL the address asks about."""
    return request.query_params.get("url", "")[:LONGEST_URL]


def versions_of(request: Request) -> tuple[int, int]:
    """The visits whose bodies the address asks to compare; where it names none, the last two versions."""
    old, new = rooms_of(request).window.last_two(url_of(request))
    return whole(request, "old") or old, whole(request, "new") or new


def missing(request: Request, what: str) -> Response:
    """A page that says what is not here."""
    return render(request, "missing.html", {"what": what}, 404)


# Stored pages


def view_page(request: Request) -> Response:
    """GET /view: a stored page in a frame, with its tool bar; being opened from a result counts as a click."""
    rooms, url = rooms_of(request), url_of(request)
    body = rooms.window.body(url, whole(request, "visit"), float(whole(request, "at")))
    if body is None:
        return missing(request, url)
    client = client_of(request)
    query_id, position = request.query_params.get("qid", "")[:64], whole(request, "p", 10_000)
    if query_id and is_own(rooms, query_id, client):
        rooms.log.record([Event(client, Action.CLICK, rooms.clock(), query_id, url, position=position)])
    about = {"body": body, "page": rooms.window.page(url), "query_id": query_id, "position": position,
             "tracking": bool(client), "q": request.query_params.get("q", "")[:400]}  # fmt: skip
    response = render(request, "view.html", about)
    remember(response, request, client)
    return response


def stored_page(request: Request) -> Response:
    """GET /stored: the stored page itself, harmless, for the frame."""
    body = rooms_of(request).window.body(url_of(request), whole(request, "visit"), float(whole(request, "at")))
    if body is None:
        return _inside(b"<!doctype html><p>This page is not stored.", "", scripts=False, status=404)
    nonce, scripts = new_nonce(), may_track(request)
    return _inside(harmless(body, nonce, scripts=scripts), nonce, scripts=scripts)


def _inside(page: bytes, nonce: str, *, scripts: bool, status: int = 200) -> Response:
    headers = {
        "Content-Security-Policy": policy(nonce, scripts=scripts), "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
    }  # fmt: skip
    return Response(page, status, headers, "text/html; charset=utf-8")


def stored_part(request: Request) -> Response:
    """GET /stored/part: an image or a style sheet of a stored page."""
    body = rooms_of(request).window.body(url_of(request), at=float(whole(request, "at")) + DAY)
    if body is None or not is_part(body.mime):
        return Response(b"", 404, {"Cross-Origin-Resource-Policy": "cross-origin"})
    headers = {"Cross-Origin-Resource-Policy": "cross-origin", "Cache-Control": "private, max-age=600",
               "Content-Security-Policy": "sandbox; default-src 'none'"}  # fmt: skip
    return Response(body.body, 200, headers, body.mime)


def stored_file(request: Request) -> Response:
    """GET /stored/file: the body as it came, to be saved."""
    body = rooms_of(request).window.body(url_of(request), whole(request, "visit"))
    if body is None:
        return missing(request, url_of(request))
    name = "".join(c for c in body.url.rstrip("/").rsplit("/", 1)[-1].split("?")[0] if c.isalnum() or c in "._-")[-80:]
    headers = {"Content-Disposition": f'attachment; filename="{name or "page"}"'}
    return Response(body.body, 200, headers, "application/octet-stream")


# Their past


@for_insiders
def history_page(request: Request) -> Response:
    """GET /history: every visit to a page, on a line of time and as a list."""
    rooms, url = rooms_of(request), url_of(request)
    page, versions = rooms.window.page(url), rooms.window.history(url, 200)
    if not versions:
        return missing(request, url)
    stored = [version for version in versions if version.stored and version.outcome == "fetched"]
    before = {newer.visit: older.visit for newer, older in pairwise(stored)}
    first, last = versions[-1].at, versions[0].at
    spread = max(last - first, 1.0)
    marks = [(round(20 + 960 * (v.at - first) / spread, 1), v) for v in versions]
    return render(request, "history.html", {"url": url, "page": page, "versions": versions, "before": before,
                                             "marks": marks, "first": first, "last": last})  # fmt: skip


@for_insiders
def diff_page(request: Request) -> Response:
    """GET /diff: two versions side by side, word by word."""
    url, (old, new), window = url_of(request), versions_of(request), rooms_of(request).window
    report = window.compare(url, old, new)
    before, after = window.body(url, old), window.body(url, new)
    if report is None or before is None or after is None:
        return missing(request, url)
    about = {"url": url, "report": report, "before": before, "after": after, "Mark": Mark, "Happened": Happened}
    return render(request, "diff.html", about)


@for_insiders
def changes_page(request: Request) -> Response:
    """GET /changes: what changed, by kind, site and time."""
    kind, site, days = _chosen_changes(request)
    rooms, page = rooms_of(request), max(1, whole(request, "page", 1000))
    since = rooms.clock() - days * DAY if days else 0.0
    rows = rooms.window.changes(kind, site, since, (page - 1) * PER_PAGE, PER_PAGE + 1)
    about = {"rows": rows[:PER_PAGE], "more": len(rows) > PER_PAGE, "kinds": KINDS, "kind": kind, "site": site,
             "days": days, "page": page}  # fmt: skip
    return render(request, "changes.html", about)


@for_insiders
def changes_feed(request: Request) -> Response:
    """GET /changes.atom: the newest changes of a kind and a site, to subscribe to."""
    kind, site, _ = _chosen_changes(request)
    rows = rooms_of(request).window.changes(kind, site, 0.0, 0, PER_PAGE)
    entries = [Entry(row.url, row.at, row.title, row.kinds, f"significance {row.significance:.2f}") for row in rows]
    about = " ".join(word for word in ("Changes", kind and f"({kind})", site and f"of {site}") if word)
    body = atom_of(entries, about, feed_id(f"changes {kind} {site}"))
    return Response(body, media_type="application/atom+xml")


def _chosen_changes(request: Request) -> tuple[str, str, int]:
    """The kind of changes, the site and the days the address asks about."""
    asked = request.query_params
    kind = asked.get("kind", "") if asked.get("kind", "") in KINDS else ""
    return kind, asked.get("site", "")[:200].strip().lower(), whole(request, "days", 3650)


@for_insiders
def due_page(request: Request) -> Response:
    """GET /due: what is visited next, and why."""
    return render(request, "due.html", {"rows": rooms_of(request).window.due(100)})


# The crawl, and its users


@for_insiders
def dashboard_page(request: Request) -> Response:
    """GET /dashboard: the crawl as it runs; the numbers move by themselves."""
    rooms = rooms_of(request)
    window = rooms.window
    about = {
        "status": window.status(), "hosts": window.hosts(20), "migrants": window.migrants(),
        "errors": window.errors(12), "reasons": window.reasons(), "rates": window.rates(60),
        "freshness": window.freshness(), "signals": signal_rows(rooms), "briefs": briefs(rooms.log, most=8),
        "index": rooms.library.size(),
    }  # fmt: skip
    return render(request, "dashboard.html", about)


@for_insiders
def stats_page(request: Request) -> Response:
    """GET /stats: what users do, per action, page, question and day."""
    rooms = rooms_of(request)
    days = whole(request, "days", 3650) or 30
    since = rooms.clock() - days * DAY
    tables = {by: rooms.log.tallies(by, since) for by in ("action", "page", "query", "day")}
    learned = rooms.log.db.execute(
        "SELECT key, url, weight, clicks, examined, clients, pattern, apriori FROM weights"
        " WHERE weight <> 0 AND key <> '' ORDER BY abs(weight) DESC LIMIT 30"
    ).fetchall()
    about = {"tables": tables, "days": days, "learned": learned, "pids": PIDS, "tracking": rooms.tracking}
    return render(request, "stats.html", about)

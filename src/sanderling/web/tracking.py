"""Events of behaviour, as the browser reports them. First party, a random number for a name, no address kept.

A browser that sends Do-Not-Track or Global Privacy Control is not recorded at all and gets no cookie; one switch in the
settings turns recording off for everybody.
"""

import secrets
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sanderling.search.feedback.event_log import build_query_key
from sanderling.search.feedback.events import UserAction, UserEvent
from sanderling.search.feedback.unmet_queries import add_unmet_query
from sanderling.web.middleware import is_same_origin
from sanderling.web.state import DAY_SECONDS, AppState, get_app_state

CLIENT_COOKIE = "sanderling_client"
COOKIE_SECONDS = 180 * 86400
MAX_EVENTS = 100  # in one report
MAX_UNMET_QUERIES = 20
MAX_UNMET_PER_CLIENT = 5  # a day
REPHRASE_SECONDS = 120.0
MAX_DWELL_SECONDS = 6 * 3600.0


class ReportedEvent(Struct, frozen=True):
    """One line of a report."""

    action: UserAction
    count: int = 1
    value: float = 0.0


class TrackingReport(Struct, frozen=True):
    """What a page reports about itself."""

    events: list[ReportedEvent]
    query_id: str = ""
    url: str = ""
    position: int = 0


class SearchRating(Struct, frozen=True):
    """What somebody says of a search."""

    query_id: str
    found: bool
    stars: int = 0


def can_track(request: Request) -> bool:
    """Is recording switched on, and does this browser not object?"""
    objects = request.headers.get("dnt") == "1" or request.headers.get("sec-gpc") == "1"
    return get_app_state(request).is_tracking and not objects


def get_client_id(request: Request) -> str:
    """The random name of this browser; a new one if it has none; empty if it must not have one."""
    if not can_track(request):
        return ""
    known = request.cookies.get(CLIENT_COOKIE, "")
    return known if 16 <= len(known) <= 64 and known.isalnum() else secrets.token_hex(16)


def set_client_cookie(response: Response, request: Request, client: str) -> None:
    """Give the browser its name, for our own pages only; take it away where it must not have one."""
    if client and request.cookies.get(CLIENT_COOKIE) != client:
        secure = request.url.scheme == "https"
        response.set_cookie(CLIENT_COOKIE, client, COOKIE_SECONDS, httponly=True, samesite="strict", secure=secure)
    elif not client and CLIENT_COOKIE in request.cookies:
        response.delete_cookie(CLIENT_COOKIE)


async def record_events(request: Request) -> Response:
    """POST /api/events: a page reports what was done on it."""
    if not is_same_origin(request):
        return JSONResponse({"error": "reports come from our own pages only"}, 403)
    client = request.cookies.get(CLIENT_COOKIE, "")
    if not can_track(request) or not client:
        return JSONResponse({"taken": 0})
    told = await _parse_body(request, TrackingReport)
    if told is None or len(told.events) > MAX_EVENTS:
        return JSONResponse({"error": "no report"}, 422)
    rooms = get_app_state(request)
    query_id = told.query_id if is_own_query(rooms, told.query_id, client) else ""
    events = [_build_event(done, told, client, query_id, rooms.clock()) for done in told.events]
    return JSONResponse({"taken": rooms.event_log.record_events(events)})


def _build_event(reported: ReportedEvent, report: TrackingReport, client: str, query_id: str, now: float) -> UserEvent:
    value = max(0.0, min(reported.value, MAX_DWELL_SECONDS))
    return UserEvent(
        client,
        reported.action,
        now,
        query_id,
        report.url,
        position=max(0, report.position),
        count=reported.count,
        value=value,
    )


async def record_rating(request: Request) -> Response:
    """POST /api/rating: did you find it? If not, more is looked for."""
    if not is_same_origin(request):
        return JSONResponse({"error": "ratings come from our own pages only"}, 403)
    client = request.cookies.get(CLIENT_COOKIE, "")
    rated = await _parse_body(request, SearchRating)
    rooms = get_app_state(request)
    if rated is None or not can_track(request) or not is_own_query(rooms, rated.query_id, client):
        return JSONResponse({"error": "no search to rate"}, 422)
    now = rooms.clock()
    stars = rated.stars if 1 <= rated.stars <= 5 else (5 if rated.found else 1)
    rooms.event_log.record_events(
        [UserEvent(client, UserAction.RATING, now, rated.query_id, object_id_field="query", value=stars)]
    )
    if rated.found:
        return JSONResponse({"brief": None})
    return JSONResponse({"brief": report_unmet_query(rooms, rated.query_id, client, now)})


def report_unmet_query(app_state: AppState, query_id: str, client: str, now: float) -> int | None:
    """Raise Low_Rating and crawl_more for a search, unless too much is asked for already.

    None where the owner has not switched it on: a visitor must not steer a crawl, not even one that runs anyway.
    """
    if not app_state.should_crawl_unmet:
        return None
    query, urls = _load_ranking(app_state, query_id)
    db = app_state.event_log.db
    (waiting,) = db.execute("SELECT count(*) FROM briefs WHERE state <> 'answered'").fetchone()
    (mine,) = db.execute(
        "SELECT count(*) FROM events WHERE client_id = ? AND action_name = 'rating' AND value < 3 AND at > ?",
        (client, now - DAY_SECONDS),
    ).fetchone()
    if not query or waiting >= MAX_UNMET_QUERIES or mine > MAX_UNMET_PER_CLIENT:
        return None
    return add_unmet_query(app_state.event_log, query, urls, len(urls), now).id


def find_abandoned_query(app_state: AppState, client: str, query: str, now: float) -> str:
    """The search this client gave up on by typing another: its last one, a moment ago, nothing opened from it."""
    if not client:
        return ""
    row = app_state.event_log.db.execute(
        "SELECT query_id, key FROM rankings WHERE client_id = ? AND at > ? AND first_position = 1"
        " ORDER BY at DESC LIMIT 1",
        (client, now - REPHRASE_SECONDS),
    ).fetchone()
    if row is None or row[1] == build_query_key(query) or not set(row[1].split()) & set(build_query_key(query).split()):
        return ""
    sql = "SELECT 1 FROM events WHERE query_id = ? AND action_name IN ('click', 'rating') LIMIT 1"
    return "" if app_state.event_log.db.execute(sql, (row[0],)).fetchone() else str(row[0])


def is_own_query(app_state: AppState, query_id: str, client: str) -> bool:
    sql = "SELECT 1 FROM rankings WHERE query_id = ? AND client_id = ?"
    return bool(client and app_state.event_log.db.execute(sql, (query_id, client)).fetchone())


def _load_ranking(app_state: AppState, query_id: str) -> tuple[str, list[str]]:
    row = app_state.event_log.db.execute("SELECT query, urls FROM rankings WHERE query_id = ?", (query_id,)).fetchone()
    return (row[0], msgspec.json.decode(row[1], type=list[str])) if row else ("", [])


async def _parse_body(request: Request, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None

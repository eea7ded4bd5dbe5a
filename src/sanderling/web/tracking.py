"""Record user events, first party, under a random id, unless Do-Not-Track or Global Privacy Control is set."""

import secrets
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sanderling.api.searching.search_service import MAX_QUERY_LENGTH
from sanderling.api.searching.user_feedback import UserAction, UserEvent
from sanderling.web.middleware import is_same_origin
from sanderling.web.state import AppState, get_app_state

CLIENT_COOKIE = "sanderling_client"
COOKIE_SECONDS = 180 * 86400
MAX_EVENTS = 100  # per report
MAX_DWELL_SECONDS = 6 * 3600.0


class ReportedEvent(Struct, frozen=True):
    action: UserAction
    count: int = 1
    value: float = 0.0


class TrackingReport(Struct, frozen=True):
    """The events of a page, sent by track.js."""

    events: list[ReportedEvent]
    query_id: str = ""
    url: str = ""
    position: int = 0


class SearchRating(Struct, frozen=True):
    query_id: str
    found: bool
    stars: int = 0


def can_track(request: Request) -> bool:
    opted_out = request.headers.get("dnt") == "1" or request.headers.get("sec-gpc") == "1"
    return get_app_state(request).is_tracking and not opted_out


def get_client_id(request: Request) -> str:
    """Return the id of this browser; "" if it must not be tracked."""
    if not can_track(request):
        return ""
    client_id = request.cookies.get(CLIENT_COOKIE, "")
    return client_id if 16 <= len(client_id) <= 64 and client_id.isalnum() else secrets.token_hex(16)


def set_client_cookie(response: Response, request: Request, client: str) -> None:
    """Set the client cookie, or delete it if tracking is not allowed."""
    if client and request.cookies.get(CLIENT_COOKIE) != client:
        secure = request.url.scheme == "https"
        response.set_cookie(CLIENT_COOKIE, client, COOKIE_SECONDS, httponly=True, samesite="strict", secure=secure)
    elif not client and CLIENT_COOKIE in request.cookies:
        response.delete_cookie(CLIENT_COOKIE)


async def record_events(request: Request) -> Response:
    """POST /api/events."""
    if not is_same_origin(request):
        return JSONResponse({"error": "reports are accepted only from this site"}, 403)
    client = request.cookies.get(CLIENT_COOKIE, "")
    if not can_track(request) or not client:
        return JSONResponse({"taken": 0})
    report = await _parse_body(request, TrackingReport)
    if report is None or len(report.events) > MAX_EVENTS:
        return JSONResponse({"error": "not a valid report"}, 422)
    app_state = get_app_state(request)
    query_id = report.query_id if is_own_query(app_state, report.query_id, client) else ""
    events = [_build_event(event, report, client, query_id, app_state.clock()) for event in report.events]
    return JSONResponse({"taken": app_state.event_log.record_events(events)})


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
    """POST /api/rating: a bad rating becomes an unmet query."""
    if not is_same_origin(request):
        return JSONResponse({"error": "ratings are accepted only from this site"}, 403)
    client = request.cookies.get(CLIENT_COOKIE, "")
    rating = await _parse_body(request, SearchRating)
    app_state = get_app_state(request)
    if rating is None or not can_track(request) or not is_own_query(app_state, rating.query_id, client):
        return JSONResponse({"error": "unknown search, or tracking is off"}, 422)
    now = app_state.clock()
    stars = rating.stars if 1 <= rating.stars <= 5 else (5 if rating.found else 1)
    app_state.event_log.record_events(
        [UserEvent(client, UserAction.RATING, now, rating.query_id, object_id_field="query", value=stars)]
    )
    if rating.found:
        return JSONResponse({"brief": None})
    return JSONResponse({"brief": report_unmet_query(app_state, rating.query_id, client, now)})


def report_unmet_query(app_state: AppState, query_id: str, client: str, now: float) -> int | None:
    """Store an unmet query if these may be crawled, and return its id; None if it is not stored."""
    return app_state.event_log.report_unmet_query(query_id, client, now) if app_state.should_crawl_unmet else None


def get_unmet_query_state(request: Request) -> Response:
    """GET /api/more: state and new pages of an unmet query."""
    found = get_app_state(request).event_log.find_unmet_query(request.query_params.get("q", "")[:MAX_QUERY_LENGTH])
    return JSONResponse({"state": found.state, "found": found.new_page_count} if found else {"state": "", "found": 0})


def is_own_query(app_state: AppState, query_id: str, client: str) -> bool:
    return bool(client) and app_state.event_log.is_query_of(query_id, client)


async def _parse_body(request: Request, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None

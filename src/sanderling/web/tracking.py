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

from sanderling.search.feedback.event_log import query_key
from sanderling.search.feedback.events import Action, Event
from sanderling.search.feedback.unmet_queries import not_satisfied
from sanderling.web.middleware import is_same_origin
from sanderling.web.state import DAY, Rooms, rooms_of

COOKIE = "sanderling_client"
COOKIE_SECONDS = 180 * 86400
MOST_EVENTS = 100  # in one report
MOST_OPEN_BRIEFS = 20
PER_CLIENT_BRIEFS = 5  # a day
RETYPED_SECONDS = 120.0
LONGEST_DWELL = 6 * 3600.0


class Done(Struct, frozen=True):
    """One line of a report."""

    action: Action
    count: int = 1
    value: float = 0.0


class Told(Struct, frozen=True):
    """What a page reports about itself."""

    events: list[Done]
    query_id: str = ""
    url: str = ""
    position: int = 0


class Rated(Struct, frozen=True):
    """What somebody says of a search."""

    query_id: str
    found: bool
    stars: int = 0


def may_track(request: Request) -> bool:
    """Is recording switched on, and does this browser not object?"""
    objects = request.headers.get("dnt") == "1" or request.headers.get("sec-gpc") == "1"
    return rooms_of(request).tracking and not objects


def client_of(request: Request) -> str:
    """The random name of this browser; a new one if it has none; empty if it must not have one."""
    if not may_track(request):
        return ""
    known = request.cookies.get(COOKIE, "")
    return known if 16 <= len(known) <= 64 and known.isalnum() else secrets.token_hex(16)


def remember(response: Response, request: Request, client: str) -> None:
    """Give the browser its name, for our own pages only; take it away where it must not have one."""
    if client and request.cookies.get(COOKIE) != client:
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, client, COOKIE_SECONDS, httponly=True, samesite="strict", secure=secure)
    elif not client and COOKIE in request.cookies:
        response.delete_cookie(COOKIE)


async def take_events(request: Request) -> Response:
    """POST /api/events: a page reports what was done on it."""
    if not is_same_origin(request):
        return JSONResponse({"error": "reports come from our own pages only"}, 403)
    client = request.cookies.get(COOKIE, "")
    if not may_track(request) or not client:
        return JSONResponse({"taken": 0})
    told = await _body(request, Told)
    if told is None or len(told.events) > MOST_EVENTS:
        return JSONResponse({"error": "no report"}, 422)
    rooms = rooms_of(request)
    query_id = told.query_id if is_own(rooms, told.query_id, client) else ""
    events = [_event(done, told, client, query_id, rooms.clock()) for done in told.events]
    return JSONResponse({"taken": rooms.log.record(events)})


def _event(done: Done, told: Told, client: str, query_id: str, now: float) -> Event:
    value = max(0.0, min(done.value, LONGEST_DWELL))
    return Event(
        client, done.action, now, query_id, told.url, position=max(0, told.position), count=done.count, value=value
    )


async def take_rating(request: Request) -> Response:
    """POST /api/rating: did you find it? If not, more is looked for."""
    if not is_same_origin(request):
        return JSONResponse({"error": "ratings come from our own pages only"}, 403)
    client = request.cookies.get(COOKIE, "")
    rated = await _body(request, Rated)
    rooms = rooms_of(request)
    if rated is None or not may_track(request) or not is_own(rooms, rated.query_id, client):
        return JSONResponse({"error": "no search to rate"}, 422)
    now = rooms.clock()
    stars = rated.stars if 1 <= rated.stars <= 5 else (5 if rated.found else 1)
    rooms.log.record([Event(client, Action.RATING, now, rated.query_id, object_id_field="query", value=stars)])
    if rated.found:
        return JSONResponse({"brief": None})
    return JSONResponse({"brief": ask_for_more(rooms, rated.query_id, client, now)})


def ask_for_more(rooms: Rooms, query_id: str, client: str, now: float) -> int | None:
    """Raise Low_Rating and crawl_more for a search, unless too much is asked for already.

    None where the owner has not switched it on: a visitor must not steer a crawl, not even one that runs anyway.
    """
    if not rooms.sends_for_more:
        return None
    query, urls = _shown(rooms, query_id)
    db = rooms.log.db
    (waiting,) = db.execute("SELECT count(*) FROM briefs WHERE state <> 'answered'").fetchone()
    (mine,) = db.execute(
        "SELECT count(*) FROM events WHERE client_id = ? AND action_name = 'rating' AND value < 3 AND at > ?",
        (client, now - DAY),
    ).fetchone()
    if not query or waiting >= MOST_OPEN_BRIEFS or mine > PER_CLIENT_BRIEFS:
        return None
    return not_satisfied(rooms.log, query, urls, len(urls), now).id


def retyped(rooms: Rooms, client: str, query: str, now: float) -> str:
    """The search this client gave up on by typing another: its last one, a moment ago, nothing opened from it."""
    if not client:
        return ""
    row = rooms.log.db.execute(
        "SELECT query_id, key FROM rankings WHERE client_id = ? AND at > ? AND first_position = 1"
        " ORDER BY at DESC LIMIT 1",
        (client, now - RETYPED_SECONDS),
    ).fetchone()
    if row is None or row[1] == query_key(query) or not set(row[1].split()) & set(query_key(query).split()):
        return ""
    sql = "SELECT 1 FROM events WHERE query_id = ? AND action_name IN ('click', 'rating') LIMIT 1"
    return "" if rooms.log.db.execute(sql, (row[0],)).fetchone() else str(row[0])


def is_own(rooms: Rooms, query_id: str, client: str) -> bool:
    sql = "SELECT 1 FROM rankings WHERE query_id = ? AND client_id = ?"
    return bool(client and rooms.log.db.execute(sql, (query_id, client)).fetchone())


def _shown(rooms: Rooms, query_id: str) -> tuple[str, list[str]]:
    row = rooms.log.db.execute("SELECT query, urls FROM rankings WHERE query_id = ?", (query_id,)).fetchone()
    return (row[0], msgspec.json.decode(row[1], type=list[str])) if row else ("", [])


async def _body(request: Request, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None

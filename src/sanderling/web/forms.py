"""Forms: login, settings, the crawl's start and stop, and everybody's own data."""

import json
import secrets
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse

from sanderling.web.auth import COOKIE, SESSION_SECONDS, Session
from sanderling.web.middleware import is_same_origin
from sanderling.web.rendering import render
from sanderling.web.state import MORE, RETENTION, TRACKING, rooms_of, session_of
from sanderling.web.tracking import COOKIE as CLIENT
from sanderling.web.tracking import may_track

MOST_FIELDS = 20


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a posted form; the guard has bounded its size."""
    try:
        fields = parse_qs((await request.body()).decode(), max_num_fields=MOST_FIELDS, keep_blank_values=True)
    except (ValueError, UnicodeDecodeError):
        return {}
    return {name: values[0] for name, values in fields.items()}


def permitted(request: Request, form: dict[str, str]) -> Session | None:
    """Who may change things: logged in, from our own page, with the token of this session."""
    session = session_of(request)
    if session is None or not is_same_origin(request):
        return None
    return session if secrets.compare_digest(form.get("csrf", "").encode(), session.csrf.encode()) else None


def login_page(request: Request) -> Response:
    """GET /login."""
    return render(request, "login.html", {"wrong": False})


async def log_in(request: Request) -> Response:
    """POST /login."""
    form = await form_of(request)
    rooms = rooms_of(request)
    session = None
    if is_same_origin(request):
        session = await run_in_threadpool(rooms.door.enter, form.get("password", ""), rooms.clock())
    if session is None:
        return render(request, "login.html", {"wrong": True}, 403)
    response = RedirectResponse("/settings", 303)
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, session.id, int(SESSION_SECONDS), httponly=True, samesite="strict", secure=secure)
    return response


async def log_out(request: Request) -> Response:
    """POST /logout."""
    session = permitted(request, await form_of(request))
    if session is None:
        return refused()
    rooms_of(request).door.leave(session.id)
    response = RedirectResponse("/", 303)
    response.delete_cookie(COOKIE)
    return response


def settings_page(request: Request) -> Response:
    """GET /settings."""
    if session_of(request) is None:
        return RedirectResponse("/login", 303)
    return render(request, "settings.html", _settings(request) | {"said": "", "wrong": ""})


def _settings(request: Request) -> dict[str, object]:
    rooms = rooms_of(request)
    about = {"tracking": rooms.tracking, "retention": rooms.retention_days, "more": rooms.sends_for_more}
    return about | {"status": rooms.window.status()}


async def change_settings(request: Request) -> Response:
    """POST /settings: one form at a time, named by its field `do`."""
    form = await form_of(request)
    if permitted(request, form) is None:
        return refused()
    said, wrong = await run_in_threadpool(_apply, request, form)
    about = await run_in_threadpool(_settings, request)
    return await run_in_threadpool(render, request, "settings.html", about | {"said": said, "wrong": wrong})


def _apply(request: Request, form: dict[str, str]) -> tuple[str, str]:
    """Do what a form asks; what to say, or what is wrong."""
    rooms, do = rooms_of(request), form.get("do", "")
    if do == "privacy":
        days = form.get("retention", "")
        if not days.isdigit() or not 1 <= int(days) <= 3650:
            return "", "Days to keep behaviour: a number from 1 to 3650."
        rooms.door.set(TRACKING, "on" if form.get("tracking") == "on" else "off")
        rooms.door.set(RETENTION, str(int(days)))
        rooms.door.set(MORE, "on" if form.get("more") == "on" else "off")
        return "Saved.", ""
    if do == "erase":
        return f"Erased {rooms.log.erase():,} records of behaviour, and what was learned from them.", ""
    if do == "password":
        wrong = rooms.door.change_password(form.get("old", ""), form.get("new", ""))
        return ("" if wrong else "The password was changed; log in again."), wrong
    if do == "start":
        seeds = tuple(form.get("seeds", "").split())[:100]
        if any(not seed.startswith(("http://", "https://")) for seed in seeds):
            return "", "Each address to begin with starts with http:// or https://."
        return rooms.window.start(seeds).capitalize() + ".", ""
    if do in ("stop", "pause"):
        said = rooms.window.stop() if do == "stop" else rooms.window.pause()
        return said.capitalize() + ".", ""
    return "", "There is nothing to do of that name."


def refused() -> Response:
    """Not without a login, and not from elsewhere."""
    return PlainTextResponse("Please log in; changes come from our own pages only.", 403)


# What everybody may do with their own data


def privacy_page(request: Request) -> Response:
    """GET /privacy: what is recorded, and everybody's own part of it."""
    rooms, client = rooms_of(request), request.cookies.get(CLIENT, "")
    mine = sum(1 for _ in rooms.log.export(client)) if client else 0
    about = {"recorded": may_track(request), "tracking": rooms.tracking, "mine": mine,
             "retention": rooms.retention_days, "said": request.query_params.get("said") == "erased"}  # fmt: skip
    return render(request, "privacy.html", about)


def export_own(request: Request) -> Response:
    """GET /privacy/export: everything recorded under this browser's name; all of it for who is logged in."""
    rooms, client = rooms_of(request), request.cookies.get(CLIENT, "")
    everybody = request.query_params.get("all") == "1" and session_of(request) is not None
    rows = rooms.log.export("" if everybody else client) if everybody or client else iter(())
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    headers = {"Content-Disposition": 'attachment; filename="behaviour.jsonl"', "Cache-Control": "no-store"}
    return StreamingResponse(lines, 200, headers, "application/jsonl")


async def erase_own(request: Request) -> Response:
    """POST /privacy/erase: forget this browser."""
    client = request.cookies.get(CLIENT, "")
    if not is_same_origin(request):
        return refused()
    if client:
        await run_in_threadpool(rooms_of(request).log.erase, client)
    response = RedirectResponse("/privacy?said=erased", 303)
    response.delete_cookie(CLIENT)
    return response

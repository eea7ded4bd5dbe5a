"""Forms: login, settings, the crawl's start and stop, and everybody's own data."""

import json
import secrets
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse

from sanderling.web.auth import SESSION_COOKIE, SESSION_SECONDS, LoginSession
from sanderling.web.middleware import is_same_origin
from sanderling.web.rendering import render_template
from sanderling.web.state import CRAWL_MORE_SETTING, RETENTION_SETTING, TRACKING_SETTING, get_app_state, get_session
from sanderling.web.tracking import CLIENT_COOKIE as CLIENT
from sanderling.web.tracking import can_track

MAX_FIELDS = 20


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a posted form; the guard has bounded its size."""
    try:
        fields = parse_qs((await request.body()).decode(), max_num_fields=MAX_FIELDS, keep_blank_values=True)
    except (ValueError, UnicodeDecodeError):
        return {}
    return {name: values[0] for name, values in fields.items()}


def check_permission(request: Request, form: dict[str, str]) -> LoginSession | None:
    """Who may change things: logged in, from our own page, with the token of this session."""
    session = get_session(request)
    if session is None or not is_same_origin(request):
        return None
    return session if secrets.compare_digest(form.get("csrf", "").encode(), session.csrf.encode()) else None


def login_page(request: Request) -> Response:
    """GET /login."""
    return render_template(request, "login.html", {"wrong": False})


async def log_in(request: Request) -> Response:
    """POST /login."""
    form = await read_form(request)
    rooms = get_app_state(request)
    session = None
    if is_same_origin(request):
        session = await run_in_threadpool(rooms.auth_store.log_in, form.get("password", ""), rooms.clock())
    if session is None:
        return render_template(request, "login.html", {"wrong": True}, 403)
    response = RedirectResponse("/settings", 303)
    secure = request.url.scheme == "https"
    response.set_cookie(
        SESSION_COOKIE, session.id, int(SESSION_SECONDS), httponly=True, samesite="strict", secure=secure
    )
    return response


async def log_out(request: Request) -> Response:
    """POST /logout."""
    session = check_permission(request, await read_form(request))
    if session is None:
        return deny_request()
    get_app_state(request).auth_store.log_out(session.id)
    response = RedirectResponse("/", 303)
    response.delete_cookie(SESSION_COOKIE)
    return response


def settings_page(request: Request) -> Response:
    """GET /settings."""
    if get_session(request) is None:
        return RedirectResponse("/login", 303)
    return render_template(request, "settings.html", _build_settings_context(request) | {"said": "", "wrong": ""})


def _build_settings_context(request: Request) -> dict[str, object]:
    rooms = get_app_state(request)
    about = {"tracking": rooms.is_tracking, "retention": rooms.retention_days, "more": rooms.should_crawl_unmet}
    return about | {"status": rooms.crawl_view.get_status()}


async def change_settings(request: Request) -> Response:
    """POST /settings: one form at a time, named by its field `do`."""
    form = await read_form(request)
    if check_permission(request, form) is None:
        return deny_request()
    said, wrong = await run_in_threadpool(_apply_form, request, form)
    about = await run_in_threadpool(_build_settings_context, request)
    return await run_in_threadpool(render_template, request, "settings.html", about | {"said": said, "wrong": wrong})


def _apply_form(request: Request, form: dict[str, str]) -> tuple[str, str]:
    """Do what a form asks; what to say, or what is wrong."""
    rooms, do = get_app_state(request), form.get("do", "")
    if do == "privacy":
        days = form.get("retention", "")
        if not days.isdigit() or not 1 <= int(days) <= 3650:
            return "", "Days to keep behaviour: a number from 1 to 3650."
        rooms.auth_store.set_setting(TRACKING_SETTING, "on" if form.get("tracking") == "on" else "off")
        rooms.auth_store.set_setting(RETENTION_SETTING, str(int(days)))
        rooms.auth_store.set_setting(CRAWL_MORE_SETTING, "on" if form.get("more") == "on" else "off")
        return "Saved.", ""
    if do == "erase":
        return f"Erased {rooms.event_log.erase():,} records of behaviour, and what was learned from them.", ""
    if do == "password":
        wrong = rooms.auth_store.change_password(form.get("old", ""), form.get("new", ""))
        return ("" if wrong else "The password was changed; log in again."), wrong
    if do == "start":
        seeds = tuple(form.get("seeds", "").split())[:100]
        if any(not seed.startswith(("http://", "https://")) for seed in seeds):
            return "", "Each address to begin with starts with http:// or https://."
        return rooms.crawl_view.start_crawl(seeds).capitalize() + ".", ""
    if do in ("stop", "pause"):
        said = rooms.crawl_view.stop_crawl() if do == "stop" else rooms.crawl_view.pause_crawl()
        return said.capitalize() + ".", ""
    return "", "There is nothing to do of that name."


def deny_request() -> Response:
    """Not without a login, and not from elsewhere."""
    return PlainTextResponse("Please log in; changes come from our own pages only.", 403)


# What everybody may do with their own data


def privacy_page(request: Request) -> Response:
    """GET /privacy: what is recorded, and everybody's own part of it."""
    rooms, client = get_app_state(request), request.cookies.get(CLIENT, "")
    mine = sum(1 for _ in rooms.event_log.export(client)) if client else 0
    about = {"recorded": can_track(request), "tracking": rooms.is_tracking, "mine": mine,
             "retention": rooms.retention_days, "said": request.query_params.get("said") == "erased"}  # fmt: skip
    return render_template(request, "privacy.html", about)


def export_own_events(request: Request) -> Response:
    """GET /privacy/export: everything recorded under this browser's name; all of it for who is logged in."""
    rooms, client = get_app_state(request), request.cookies.get(CLIENT, "")
    everybody = request.query_params.get("all") == "1" and get_session(request) is not None
    rows = rooms.event_log.export("" if everybody else client) if everybody or client else iter(())
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    headers = {"Content-Disposition": 'attachment; filename="behaviour.jsonl"', "Cache-Control": "no-store"}
    return StreamingResponse(lines, 200, headers, "application/jsonl")


async def erase_own_events(request: Request) -> Response:
    """POST /privacy/erase: forget this browser."""
    client = request.cookies.get(CLIENT, "")
    if not is_same_origin(request):
        return deny_request()
    if client:
        await run_in_threadpool(get_app_state(request).event_log.erase, client)
    response = RedirectResponse("/privacy?said=erased", 303)
    response.delete_cookie(CLIENT)
    return response

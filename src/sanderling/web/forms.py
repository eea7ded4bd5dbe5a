"""Login, settings, crawl control, privacy."""

import json
import secrets
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse

from sanderling.errors import UsageError
from sanderling.web.auth import SESSION_COOKIE, SESSION_SECONDS, LoginSession
from sanderling.web.middleware import is_same_origin
from sanderling.web.rendering import render_template
from sanderling.web.rest.api_tokens import TokenScope, TokenStore, parse_scopes
from sanderling.web.state import (
    CRAWL_MORE_SETTING,
    DAY_SECONDS,
    RETENTION_SETTING,
    TRACKING_SETTING,
    get_app_state,
    get_session,
)
from sanderling.web.tracking import CLIENT_COOKIE, can_track

MAX_FIELDS = 20


async def read_form(request: Request) -> dict[str, str]:
    """Parse a form; empty if invalid."""
    try:
        fields = parse_qs((await request.body()).decode(), max_num_fields=MAX_FIELDS, keep_blank_values=True)
    except (ValueError, UnicodeDecodeError):
        return {}
    return {name: values[0] for name, values in fields.items()}


def check_permission(request: Request, form: dict[str, str]) -> LoginSession | None:
    """Return the session of a logged-in, same-origin request with CSRF token."""
    session = get_session(request)
    if session is None or not is_same_origin(request):
        return None
    return session if secrets.compare_digest(form.get("csrf", "").encode(), session.csrf.encode()) else None


def login_page(request: Request) -> Response:
    return render_template(request, "login.html", {"is_wrong": False})


async def log_in(request: Request) -> Response:
    """POST /login."""
    form = await read_form(request)
    app_state = get_app_state(request)
    session = None
    if is_same_origin(request):
        session = await run_in_threadpool(app_state.auth_store.log_in, form.get("password", ""), app_state.clock())
    if session is None:
        return render_template(request, "login.html", {"is_wrong": True}, 403)
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
    if get_session(request) is None:
        return RedirectResponse("/login", 303)
    return render_template(request, "settings.html", _build_settings_context(request) | {"message": "", "error": ""})


def _build_settings_context(request: Request) -> dict[str, object]:
    app_state = get_app_state(request)
    return {
        "tracking": app_state.is_tracking,
        "retention": app_state.retention_days,
        "crawl_unmet": app_state.should_crawl_unmet,
        "status": app_state.crawl_view.get_status(),
        "tokens": request.app.state.rest_services.tokens.list_tokens(),
        "scopes": tuple(TokenScope),
        "token": "",
    }


async def change_settings(request: Request) -> Response:
    """POST /settings: apply the form named by the field `do`."""
    form = await read_form(request)
    if check_permission(request, form) is None:
        return deny_request()
    token, message, error = "", "", ""
    if form.get("do") in ("create_token", "revoke_token"):
        token, message, error = await run_in_threadpool(_apply_token_form, request, form)
    else:
        message, error = await run_in_threadpool(_apply_form, request, form)
    context = await run_in_threadpool(_build_settings_context, request)
    context |= {"message": message, "error": error, "token": token}
    return await run_in_threadpool(render_template, request, "settings.html", context)


def _apply_form(request: Request, form: dict[str, str]) -> tuple[str, str]:
    """Apply a form. Returns (message, error)."""
    app_state, action = get_app_state(request), form.get("do", "")
    if action == "privacy":
        days = form.get("retention", "")
        if not days.isdigit() or not 1 <= int(days) <= 3650:
            return "", "Retention must be a number of days from 1 to 3650."
        app_state.auth_store.set_setting(TRACKING_SETTING, "on" if form.get("tracking") == "on" else "off")
        app_state.auth_store.set_setting(RETENTION_SETTING, str(int(days)))
        app_state.auth_store.set_setting(CRAWL_MORE_SETTING, "on" if form.get("more") == "on" else "off")
        return "Saved.", ""
    if action == "erase":
        return f"Erased {app_state.event_log.erase():,} records and all learned weights.", ""
    if action == "password":
        error = app_state.auth_store.change_password(form.get("old", ""), form.get("new", ""))
        return ("" if error else "Password changed; log in again."), error
    if action == "start":
        seeds = tuple(form.get("seeds", "").split())[:100]
        if any(not seed.startswith(("http://", "https://")) for seed in seeds):
            return "", "Each seed URL must start with http:// or https://."
        return app_state.crawl_view.start_crawl(seeds).capitalize() + ".", ""
    if action in ("stop", "pause"):
        message = app_state.crawl_view.stop_crawl() if action == "stop" else app_state.crawl_view.pause_crawl()
        return message.capitalize() + ".", ""
    return "", "Unknown form."


def _apply_token_form(request: Request, form: dict[str, str]) -> tuple[str, str, str]:
    """Create or revoke a token of the API. Returns (secret, message, error)."""
    tokens: TokenStore = request.app.state.rest_services.tokens
    try:
        if form["do"] == "revoke_token":
            return "", f"Token {tokens.revoke_token(form.get('token', '')).name} revoked.", ""
        days = form.get("days", "")
        if days and not (days.isascii() and days.isdigit() and 1 <= int(days[:9]) <= 3650):
            return "", "", "A token is valid for 1 to 3650 days."
        scopes = parse_scopes([scope for scope in TokenScope if form.get(f"scope_{scope}") == "on"])
        lifetime = int(days) * DAY_SECONDS if days else 0.0
        token, secret = tokens.create_token(form.get("name", ""), scopes, get_app_state(request).clock(), lifetime)
    except UsageError as error:
        return "", "", f"{error}."
    return secret, f"Token {token.name} created. It is shown only now.", ""


def deny_request() -> Response:
    return PlainTextResponse("Log in, and submit the form from this site.", 403)


# Privacy: each client's own records


def privacy_page(request: Request) -> Response:
    app_state, client = get_app_state(request), request.cookies.get(CLIENT_COOKIE, "")
    context = {
        "recorded": can_track(request),
        "tracking": app_state.is_tracking,
        "record_count": sum(1 for _ in app_state.event_log.export(client)) if client else 0,
        "retention": app_state.retention_days,
        "erased": request.query_params.get("message") == "erased",
    }
    return render_template(request, "privacy.html", context)


def export_own_events(request: Request) -> Response:
    """Export records of this client; of all with a login and all=1."""
    app_state, client = get_app_state(request), request.cookies.get(CLIENT_COOKIE, "")
    all_clients = request.query_params.get("all") == "1" and get_session(request) is not None
    rows = app_state.event_log.export("" if all_clients else client) if all_clients or client else iter(())
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    headers = {"Content-Disposition": 'attachment; filename="behavior.jsonl"', "Cache-Control": "no-store"}
    return StreamingResponse(lines, 200, headers, "application/jsonl")


async def erase_own_events(request: Request) -> Response:
    """POST /privacy/erase."""
    client = request.cookies.get(CLIENT_COOKIE, "")
    if not is_same_origin(request):
        return deny_request()
    if client:
        await run_in_threadpool(get_app_state(request).event_log.erase, client)
    response = RedirectResponse("/privacy?message=erased", 303)
    response.delete_cookie(CLIENT_COOKIE)
    return response

"""Render Jinja templates with autoescaping."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sanderling import __version__
from sanderling.api.types import TextRun
from sanderling.web.state import get_app_state, get_session

WEB_FOLDER = Path(__file__).parent
TEMPLATE_ENVIRONMENT = Environment(
    loader=FileSystemLoader(WEB_FOLDER / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True,
)  # fmt: skip
STATIC_FOLDER = WEB_FOLDER / "static"


def render_template(request: Request, name: str, context: Mapping[str, object], status: int = 200) -> Response:
    session = get_session(request)
    app_state = get_app_state(request)
    frame = {
        "path": request.url.path,
        "session": session,
        "csrf": session.csrf if session else "",
        "version": __version__,
        "can_view_crawl": session is not None or not app_state.is_public,
        "now": app_state.clock(),
        "q": "",
    }
    page = TEMPLATE_ENVIRONMENT.get_template(name).render(frame | dict(context))
    return HTMLResponse(page, status, {"Cache-Control": "no-store", "Vary": "Cookie, DNT, Sec-GPC"})


def format_age(at: float, now: float) -> str:
    """Format the time since `at` in its largest unit."""
    if not at:
        return "never"
    seconds = now - at
    is_past = seconds >= 0
    for size, unit in ((31_536_000, "year"), (2_592_000, "month"), (86_400, "day"), (3_600, "hour"), (60, "minute")):
        count = int(abs(seconds) // size)
        if count:
            text = f"{count} {unit}{'s' if count > 1 else ''}"
            return f"{text} ago" if is_past else f"in {text}"
    return "just now" if is_past else "in a moment"


def format_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M") if 0 < at < 1e11 else "–"


def format_iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds") if 0 < at < 1e11 else ""


def format_size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def format_number(count: float) -> str:
    return f"{count:,.0f}".replace(",", "\u202f")


def format_duration(seconds: float) -> str:
    return (
        time.strftime("%H:%M:%S", time.gmtime(seconds))
        if seconds >= 3600
        else f"{seconds // 60:.0f}:{seconds % 60:02.0f}"
    )


TEMPLATE_ENVIRONMENT.filters.update(
    ago=format_age,
    moment=format_time,
    iso=format_iso,
    size=format_size,
    number=format_number,
    duration=format_duration,
)


def render_text_runs(runs: tuple[TextRun, ...]) -> str:
    """Return text as HTML with <mark> around matches; the text is escaped."""
    return str(
        Markup("").join(
            Markup("<mark>{}</mark>").format(run.text) if run.is_match else escape(run.text) for run in runs
        )
    )

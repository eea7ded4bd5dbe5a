"""The app put together: routes, the guard before them, what starts and ends with it."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from sanderling.web import api, forms, live, search_view, tracking, views
from sanderling.web.live import Streams
from sanderling.web.middleware import Buckets, Guard
from sanderling.web.rendering import STATIC, render
from sanderling.web.state import Housekeeping, Rooms


class Assets(StaticFiles):
    """Our own files; they may also be loaded by stored pages, whose origin is not ours."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        """Say so in a header."""
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        response.headers["Cache-Control"] = "public, max-age=300"
        return response


def page_routes() -> list[BaseRoute]:
    """Pages for people."""
    return [
        Route("/", search_view.search_page),
        Route("/view", views.view_page),
        Route("/stored", views.stored_page),
        Route("/stored/part", views.stored_part),
        Route("/stored/file", views.stored_file),
        Route("/history", views.history_page),
        Route("/diff", views.diff_page),
        Route("/changes", views.changes_page),
        Route("/changes.atom", views.changes_feed),
        Route("/due", views.due_page),
        Route("/dashboard", views.dashboard_page),
        Route("/stats", views.stats_page),
        Route("/login", forms.login_page, methods=["GET"]),
        Route("/login", forms.log_in, methods=["POST"]),
        Route("/logout", forms.log_out, methods=["POST"]),
        Route("/settings", forms.settings_page, methods=["GET"]),
        Route("/settings", forms.change_settings, methods=["POST"]),
        Route("/privacy", forms.privacy_page),
        Route("/privacy/export", forms.export_own),
        Route("/privacy/erase", forms.erase_own, methods=["POST"]),
    ]


def api_routes() -> list[BaseRoute]:
    """JSON for programs."""
    read: dict[str, Callable[[Request], object]] = {
        "status": api.status, "changes": api.changes, "page": api.page, "history": api.history, "diff": api.diff,
        "due": api.due, "hosts": api.hosts, "migrants": api.migrants, "briefs": api.wanted, "stats": api.stats,
    }  # fmt: skip
    return [
        Route("/api", api.root),
        Route("/api/openapi.json", api.description),
        Route("/api/search", api.search),
        Route("/api/more", api.more),
        *(Route(f"/api/{name}", api.answering(answer)) for name, answer in read.items()),
        Route("/api/live", live.stream),
        Route("/api/events", tracking.take_events, methods=["POST"]),
        Route("/api/rating", tracking.take_rating, methods=["POST"]),
        Route("/metrics", live.metrics),
        Route("/healthz", api.health),
    ]


def _not_found(request: Request, _: Exception) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": "not found"}, 404)
    return render(request, "missing.html", {"what": request.url.path}, 404)


def build(rooms: Rooms, names: Iterable[str] = (), buckets: Buckets | None = None) -> Guard:
    """Put the app together; nothing runs yet."""
    routes = [*page_routes(), *api_routes(), Mount("/static", Assets(directory=STATIC))]
    app = Starlette(routes=routes, lifespan=_life, exception_handlers={404: _not_found})
    app.state.rooms = rooms
    app.state.streams = Streams()
    return Guard(app, names, buckets)


@asynccontextmanager
async def _life(app: Starlette) -> AsyncIterator[None]:
    chores = Housekeeping(app.state.rooms)
    chores.start()
    yield
    app.state.streams.over.set()
    chores.stop()

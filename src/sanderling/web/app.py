"""Routes, middleware, lifespan."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from sanderling.web import forms, live, search_view, similar_view, tracking, views, watch_pages
from sanderling.web.live import LiveStreams
from sanderling.web.middleware import ClientRateLimiter, SecurityMiddleware
from sanderling.web.rendering import STATIC_FOLDER, render_template
from sanderling.web.rest.operation import build_error
from sanderling.web.rest.routes import build_rest_routes
from sanderling.web.rest.services import open_rest_services
from sanderling.web.state import AppState, MaintenanceThread


class StaticAssets(StaticFiles):
    """Static files that stored pages may load across origins."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        response.headers["Cache-Control"] = "public, max-age=300"
        return response


def build_page_routes() -> list[BaseRoute]:
    return [
        Route("/", search_view.search_page),
        Route("/view", views.view_page),
        Route("/stored", views.stored_page),
        Route("/stored/part", views.stored_resource),
        Route("/stored/file", views.stored_file),
        Route("/stored/screenshot", views.stored_screenshot),
        Route("/history", views.history_page),
        Route("/diff", views.diff_page),
        Route("/changes", views.changes_page),
        Route("/changes.atom", views.changes_feed),
        Route("/watches", watch_pages.watches_page, methods=["GET"]),
        Route("/watches", watch_pages.change_watches, methods=["POST"]),
        Route("/similar", similar_view.similar_page, methods=["GET"]),
        Route("/similar", similar_view.save_similar, methods=["POST"]),
        Route("/watches/part", watch_pages.pick_part),
        Route("/due", views.due_page),
        Route("/dashboard", views.dashboard_page),
        Route("/stats", views.stats_page),
        Route("/login", forms.login_page, methods=["GET"]),
        Route("/login", forms.log_in, methods=["POST"]),
        Route("/logout", forms.log_out, methods=["POST"]),
        Route("/settings", forms.settings_page, methods=["GET"]),
        Route("/settings", forms.change_settings, methods=["POST"]),
        Route("/privacy", forms.privacy_page),
        Route("/privacy/export", forms.export_own_events),
        Route("/privacy/erase", forms.erase_own_events, methods=["POST"]),
    ]


def build_script_routes() -> list[BaseRoute]:
    """Build the routes that the scripts of the pages and monitoring systems use."""
    return [
        Route("/api/more", tracking.get_unmet_query_state),
        Route("/api/live", live.stream_updates),
        Route("/api/events", tracking.record_events, methods=["POST"]),
        Route("/api/rating", tracking.record_rating, methods=["POST"]),
        Route("/metrics", live.render_metrics),
        Route("/healthz", live.check_health),
    ]


def _render_http_error(request: Request, error: Exception) -> Response:
    """Render a missing page; errors of the API are JSON."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    if request.url.path.startswith("/api/"):
        text = {404: "not found", 405: "method not allowed"}.get(status, "the request failed")
        headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
        return build_error(status, text, headers)
    if status == 404:
        return render_template(request, "missing.html", {"target": request.url.path}, 404)
    assert isinstance(error, HTTPException)
    return PlainTextResponse(error.detail, status, error.headers)


def build_app(
    app_state: AppState, host_names: Iterable[str] = (), rate_limiter: ClientRateLimiter | None = None
) -> SecurityMiddleware:
    """Build the ASGI application without starting anything."""
    assets = Mount("/static", StaticAssets(directory=STATIC_FOLDER))
    routes = [*build_page_routes(), *build_rest_routes(), *build_script_routes(), assets]
    app = Starlette(routes=routes, lifespan=_lifespan, exception_handlers={HTTPException: _render_http_error})
    app.state.app_state = app_state
    app.state.rest_services = open_rest_services(app_state.crawl_view.folder)
    app.state.streams = LiveStreams()
    return SecurityMiddleware(app, host_names, rate_limiter)


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    maintenance = MaintenanceThread(app.state.app_state)
    maintenance.start()
    yield
    app.state.streams.stop_event.set()
    maintenance.stop()
    app.state.rest_services.close()

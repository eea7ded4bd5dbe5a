"""Routes, middleware, lifespan."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from sanderling.web import api, forms, live, search_view, tracking, views, watch_pages
from sanderling.web.live import LiveStreams
from sanderling.web.middleware import ClientRateLimiter, SecurityMiddleware
from sanderling.web.rendering import STATIC_FOLDER, render_template
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
        Route("/history", views.history_page),
        Route("/diff", views.diff_page),
        Route("/changes", views.changes_page),
        Route("/changes.atom", views.changes_feed),
        Route("/watches", watch_pages.watches_page, methods=["GET"]),
        Route("/watches", watch_pages.change_watches, methods=["POST"]),
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


def build_api_routes() -> list[BaseRoute]:
    endpoints: dict[str, Callable[[Request], object]] = {
        "status": api.get_status,
        "changes": api.get_changes,
        "page": api.get_page,
        "history": api.get_history,
        "diff": api.get_diff,
        "due": api.get_due_urls,
        "hosts": api.get_hosts,
        "workers": api.get_workers,
        "unmet-queries": api.get_unmet_queries,
        "stats": api.get_stats,
    }
    return [
        Route("/api", api.redirect_to_openapi),
        Route("/api/openapi.json", api.get_openapi),
        Route("/api/search", api.search_api),
        Route("/api/more", api.get_unmet_query_state),
        *(Route(f"/api/{name}", api.make_json_handler(endpoint)) for name, endpoint in endpoints.items()),
        Route("/api/live", live.stream_updates),
        Route("/api/events", tracking.record_events, methods=["POST"]),
        Route("/api/rating", tracking.record_rating, methods=["POST"]),
        Route("/metrics", live.render_metrics),
        Route("/healthz", api.check_health),
    ]


def _render_not_found(request: Request, _: Exception) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": "not found"}, 404)
    return render_template(request, "missing.html", {"target": request.url.path}, 404)


def build_app(
    app_state: AppState, host_names: Iterable[str] = (), rate_limiter: ClientRateLimiter | None = None
) -> SecurityMiddleware:
    """Build the ASGI application without starting anything."""
    routes = [*build_page_routes(), *build_api_routes(), Mount("/static", StaticAssets(directory=STATIC_FOLDER))]
    app = Starlette(routes=routes, lifespan=_lifespan, exception_handlers={404: _render_not_found})
    app.state.app_state = app_state
    app.state.streams = LiveStreams()
    return SecurityMiddleware(app, host_names, rate_limiter)


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    maintenance = MaintenanceThread(app.state.app_state)
    maintenance.start()
    yield
    app.state.streams.stop_event.set()
    maintenance.stop()

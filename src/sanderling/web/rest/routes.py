"""All operations of the HTTP API, and their routes."""

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from sanderling.web.rest.crawl_operations import CRAWL_OPERATIONS
from sanderling.web.rest.event_streams import STREAM_OPERATIONS
from sanderling.web.rest.openapi import build_openapi_document
from sanderling.web.rest.operation import API_PREFIX, build_routes
from sanderling.web.rest.page_operations import PAGE_OPERATIONS
from sanderling.web.rest.status_operations import STATUS_OPERATIONS
from sanderling.web.rest.watch_operations import WATCH_OPERATIONS

OPERATIONS = (*STATUS_OPERATIONS, *PAGE_OPERATIONS, *CRAWL_OPERATIONS, *WATCH_OPERATIONS, *STREAM_OPERATIONS)
OPENAPI_DOCUMENT = build_openapi_document(OPERATIONS)


def get_openapi(_: Request) -> Response:
    """GET /api/v1/openapi.json."""
    return JSONResponse(OPENAPI_DOCUMENT)


def redirect_to_openapi(_: Request) -> Response:
    return RedirectResponse(f"{API_PREFIX}/openapi.json", 302)


def build_rest_routes() -> list[BaseRoute]:
    """Build the routes. The description is open to everyone."""
    return [
        Route("/api", redirect_to_openapi),
        Route("/api/openapi.json", redirect_to_openapi),
        Route(f"{API_PREFIX}/openapi.json", get_openapi),
        *build_routes(OPERATIONS),
    ]

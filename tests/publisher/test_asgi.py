"""Tests of the ASGI middleware in a real server on loopback."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request as UrlRequest
from urllib.request import urlopen

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from tests.publisher.conftest import BROWSER, parse_listing

from sanderling.publisher import AsgiPublisher, PublishedSite, RequestRecorder


async def page(request: Request) -> Response:
    if request.path_params["name"] == "members" and "cookie" not in request.headers:
        return Response(status_code=403)
    return HTMLResponse(f"<p>{request.path_params['name']} <!--Vol#n-->{request.url.query}<!--/Vol#n-->")


async def robots(request: Request) -> Response:
    return PlainTextResponse("User-agent: *\nDisallow: /x")


APP = Starlette(routes=[Route("/robots.txt", robots), Route("/{name}", page)])

Get = Callable[..., tuple[int, dict[str, str], bytes]]


@contextmanager
def run_server(app: AsgiPublisher) -> Iterator[Get]:
    """Serve until the end of the block. Requests wait in the socket until the server is ready."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            yield lambda path, method="GET": get(address + path, method)
        finally:
            server.should_exit = True
            thread.join()


def get(url: str, method: str) -> tuple[int, dict[str, str], bytes]:
    try:
        with urlopen(UrlRequest(url, method=method, headers={"User-Agent": BROWSER}), timeout=20) as response:
            return response.status, {name.lower(): value for name, value in response.headers.items()}, response.read()
    except HTTPError as error:
        with error:
            return error.code, {}, error.read()


def test_views_become_priorities_and_disallowed_pages_are_not_listed(site: PublishedSite) -> None:
    configured_site = PublishedSite(site.base_url, site.state_file, page_parameters=("id",), serve_tvi_files=True)
    with run_server(AsgiPublisher(APP, configured_site)) as visit:
        for path in ("/a", "/a", "/b?id=2&utm=9", "/b?id=2", "/x1", "/members"):
            visit(path)
        assert parse_listing(visit("/changes.xml?LAST_VISIT=0")[2]) == [
            ("/a", 1.0, "created"),
            ("/b?id=2", 1.0, "created"),
        ]
        assert b"Sitemap: https://example.org/sitemap.xml" in visit("/robots.txt")[2]
        assert visit("/a")[1]["link"].startswith("<https://example.org/changes.xml>")
        assert visit("/sitemap.xml", "HEAD")[2] == b""
        assert visit("/changes.xml?LAST_VISIT=soon")[0] == 400
        assert json.loads(visit("/a.tvi")[2]) == {"n": ""}


def test_recorded_requests_are_written_at_shutdown(site: PublishedSite) -> None:
    with run_server(AsgiPublisher(APP, site)) as visit:
        visit("/late")
    with run_server(AsgiPublisher(APP, site)) as visit:
        assert parse_listing(visit("/changes.xml")[2]) == [("/late", 1.0, "created")]


def test_other_protocols_are_passed_through(site: PublishedSite) -> None:
    seen = []

    async def inner(
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        seen.append(scope["type"])

    async def receive() -> MutableMapping[str, Any]:
        return {}

    async def send(message: MutableMapping[str, Any]) -> None:
        seen.append(message)

    asyncio.run(AsgiPublisher(inner, site, RequestRecorder(site))({"type": "websocket"}, receive, send))
    assert seen == ["websocket"]

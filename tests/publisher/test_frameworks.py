"""Tests of the middleware with FastAPI, Flask, and Django (WSGI and ASGI)."""

import asyncio
import gzip
from collections.abc import Callable, Iterator
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from tests.publisher.conftest import BROWSER, parse_listing

from sanderling.publisher import AsgiPublisher, PublishedSite, RequestRecorder, WsgiPublisher, recorder

TEXT = {"words": "the tide comes in"}
VISITS = iter(range(10**6))
Get = Callable[[str], tuple[int, bytes]]


def clock() -> float:
    """Return a time that advances ten seconds per call."""
    return 1_700_000_000.0 + 10 * next(VISITS)


def page() -> str:
    """Return a page with a token and a duration that differ at every request."""
    visit = next(VISITS)
    form = f'<form><input type="hidden" name="csrf" value="{visit}"></form><!-- {visit} -->'
    return f"<html><body>{form}<p>{TEXT['words']}</p><p>made in 0.{visit:03} seconds</p></body></html>"


def flask_app() -> Any:
    from flask import Flask

    app = Flask("site")
    app.add_url_rule("/a", "a", page)
    app.add_url_rule("/hidden", "hidden", lambda: (page(), 200, [("X-Robots-Tag", "NOINDEX"), ("X-Robots-Tag", "all")]))
    return app


def fastapi_app() -> Any:
    from fastapi import FastAPI
    from fastapi.middleware.gzip import GZipMiddleware
    from fastapi.responses import HTMLResponse

    async def a() -> HTMLResponse:
        return HTMLResponse(page())

    async def hidden() -> HTMLResponse:
        return HTMLResponse(page(), headers={"X-Robots-Tag": "none"})

    app = FastAPI()
    app.add_api_route("/a", a)
    app.add_api_route("/hidden", hidden)
    app.add_api_route("/zipped", a)
    app.add_middleware(GZipMiddleware, minimum_size=10)
    return app


def set_up_django() -> None:
    import django
    from django.conf import settings
    from django.http import HttpResponse
    from django.urls import path
    from django.views.decorators.gzip import gzip_page

    if not settings.configured:
        urls = (
            path("a", lambda request: HttpResponse(page())),
            path("zipped", gzip_page(lambda request: HttpResponse(page() + "<p>sand</p>" * 100))),
            path("hidden", lambda request: HttpResponse(page(), headers={"X-Robots-Tag": "googlebot: NoIndex"})),
        )
        settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=urls, SECRET_KEY="test", DEBUG=False, LOGGING_CONFIG=None)
        django.setup()


def django_wsgi() -> Any:
    set_up_django()
    from django.core.wsgi import get_wsgi_application

    return get_wsgi_application()


def django_asgi() -> Any:
    set_up_django()
    from django.core.asgi import get_asgi_application

    return get_asgi_application()


def request_wsgi(app: WsgiPublisher, target: str) -> tuple[int, bytes]:
    path, _, query = target.partition("?")
    environ: dict[str, Any] = {"HTTP_USER_AGENT": BROWSER, "QUERY_STRING": query}
    setup_testing_defaults(environ)
    environ["PATH_INFO"] = path
    if path == "/zipped":
        environ["HTTP_ACCEPT_ENCODING"] = "gzip"
    statuses: list[int] = []

    def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
        statuses.append(int(status[:3]))
        return lambda data: None

    found: Any = app(environ, start)
    try:
        return statuses[-1] if statuses else 0, b"".join(found)
    finally:
        if hasattr(found, "close"):
            found.close()


async def request_asgi(app: AsgiPublisher, target: str) -> tuple[int, bytes]:
    path, _, query = target.partition("?")
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": path, "raw_path": path.encode(), "root_path": "", "query_string": query.encode(),
        "headers": [(b"host", b"example.org"), (b"user-agent", BROWSER.encode())],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    if path == "/zipped":
        scope["headers"].append((b"accept-encoding", b"gzip"))
    sent: list[Any] = []
    asked: list[bool] = []

    async def receive() -> Any:
        if asked:
            await asyncio.Event().wait()
        asked.append(True)
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


APPS = {"flask": flask_app, "django": django_wsgi, "fastapi": fastapi_app, "django-asgi": django_asgi}


@pytest.fixture(params=APPS)
def get(request: pytest.FixtureRequest, site: PublishedSite) -> Iterator[Get]:
    TEXT["words"] = "the tide comes in"
    app = APPS[request.param]()
    if request.param in ("flask", "django"):
        wsgi = WsgiPublisher(app, site, RequestRecorder(site, clock))
        yield lambda target: request_wsgi(wsgi, target)
        wsgi.recorder.close()
    else:
        asgi = AsgiPublisher(app, site, RequestRecorder(site, clock))
        yield lambda target: asyncio.run(request_asgi(asgi, target))
        asgi.recorder.close()


def changes(get: Get) -> list[tuple[str, str]]:
    status, body = get("/changes.xml?LAST_VISIT=0")
    assert status == 200
    return [(path, change) for path, _, change in parse_listing(body)]


def test_lists_and_robots_txt_are_served(get: Get) -> None:
    assert get("/a")[0] == 200
    assert get("/robots.txt")[0] == 200
    assert get("/sitemap.xml")[0] == 200
    assert changes(get) == [("/a", "created")]


def test_changed_text_is_detected_and_volatile_text_is_ignored(get: Get) -> None:
    get("/a")
    before = get("/sitemap.xml")[1]
    get("/a")
    assert get("/changes.xml?LAST_VISIT=0")[1].count(b"<lastmod>") == 1
    assert find_lastmods(get("/sitemap.xml")[1]) == find_lastmods(before)
    TEXT["words"] = "the tide goes out"
    get("/a")
    assert find_lastmods(get("/sitemap.xml")[1]) != find_lastmods(before)


@pytest.mark.parametrize("get", ["django", "fastapi", "django-asgi"], indirect=True)
def test_changes_of_pages_that_the_application_compresses_are_detected(get: Get) -> None:
    assert gzip.decompress(get("/zipped")[1]).startswith(b"<html>")
    before = get("/sitemap.xml")[1]
    get("/zipped")
    assert find_lastmods(get("/sitemap.xml")[1]) == find_lastmods(before)
    TEXT["words"] = "the tide goes out"
    get("/zipped")
    assert find_lastmods(get("/sitemap.xml")[1]) != find_lastmods(before)


def find_lastmods(xml: bytes) -> list[bytes]:
    return [part.partition(b"</lastmod>")[0] for part in xml.split(b"<lastmod>")[1:]]


def test_noindex_pages_are_not_listed(get: Get) -> None:
    get("/hidden")
    get("/a")
    assert changes(get) == [("/a", "created")]


def test_pending_private_pages_are_bounded(site: PublishedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "MAX_PENDING_REQUESTS", 10)
    full = RequestRecorder(site, clock)
    for number in range(25):
        full.record(recorder.ServedRequest(f"/members/{number}", 403, BROWSER))
    assert full.dropped_requests == 15

"""Tests of the WSGI middleware."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest
from tests.publisher.conftest import BROWSER, parse_listing
from tests.support.simulated_clock import SimulatedClock

from sanderling.publisher import PublishedSite, RequestRecorder, WsgiPublisher
from sanderling.revisit.tvi import parse_table, patch_page

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"

Pages = dict[str, tuple[str, list[tuple[str, str]], bytes]]
HTML = ("Content-Type", "text/html; charset=utf-8")


@pytest.fixture
def pages() -> Pages:
    return {
        "/": ("200 OK", [HTML], b"home"),
        "/a": ("200 OK", [HTML, ("ETag", '"1"')], b"a"),
        "/logo.png": ("200 OK", [("Content-Type", "image/png")], b"png"),
        "/secret": ("401 Unauthorized", [HTML], b"who are you?"),
        "/forbidden/x": ("200 OK", [HTML], b"x"),
        "/robots.txt": ("200 OK", [("Content-Type", "text/plain")], b"User-agent: *\nDisallow: /forbidden/\n"),
    }


Get = Callable[..., tuple[int, dict[str, str], bytes]]


@pytest.fixture
def recorder(site: PublishedSite) -> Iterator[RequestRecorder]:
    recorder = RequestRecorder(site, SimulatedClock(1_700_000_000.0))
    yield recorder
    recorder.close()


@pytest.fixture
def get(site: PublishedSite, recorder: RequestRecorder, pages: Pages) -> Get:
    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        status, headers, body = pages.get(environ["PATH_INFO"], ("404 Not Found", [HTML], b"nothing here"))
        start_response(status, list(headers))
        return [body]

    return lambda path, **headers: send_request(WsgiPublisher(app, site, recorder), path, **headers)


Response = tuple[int, dict[str, str], bytes]


def send_request(app: Any, path: str, *, method: str = "GET", agent: str = BROWSER, **headers: str) -> Response:
    target, _, query = path.partition("?")
    environ: dict[str, Any] = {"REQUEST_METHOD": method, "HTTP_USER_AGENT": agent, "QUERY_STRING": query}
    environ |= {f"HTTP_{name.upper()}": value for name, value in headers.items()}
    setup_testing_defaults(environ)
    environ |= {"PATH_INFO": target, "REMOTE_ADDR": "66.249.66.1"}
    response_start: list[Any] = []

    def start_response(status: str, response_headers: list[tuple[str, str]], *rest: Any) -> Any:
        response_start[:] = [int(status[:3]), dict(response_headers)]
        return lambda data: None

    chunks: Any = validator(app)(environ, start_response)
    body = b"".join(chunks)
    chunks.close()
    return response_start[0], response_start[1], body


def changes(get: Get) -> list[tuple[str, float, str]]:
    return parse_listing(get("/changes.xml?LAST_VISIT=0")[2])


def test_viewed_pages_are_listed_with_priorities(get: Get) -> None:
    for path in ("/", "/", "/a", "/logo.png", "/secret", "/forbidden/x", "/missing"):
        get(path)
    assert changes(get) == [("/", 1.0, "created"), ("/a", 0.5, "created")]


def test_response_is_unchanged_except_for_the_link_header(get: Get) -> None:
    status, headers, body = get("/a")
    assert (status, body, headers["ETag"]) == (200, b"a", '"1"')
    assert headers["Link"].startswith('<https://example.org/changes.xml>; rel="changes"')


def test_crawler_requests_are_not_counted_as_views(get: Get, recorder: RequestRecorder) -> None:
    get("/a")
    for _ in range(5):
        get("/", agent=GOOGLEBOT)
    assert changes(get) == [("/a", 1.0, "created"), ("/", 0.0, "created")]
    assert recorder.get_connection().execute("SELECT name, verified, visits FROM crawlers").fetchall() == [
        ("googlebot", 0, 5)
    ]


def test_verified_crawlers_are_counted_separately(site: PublishedSite, get: Get, pages: Pages) -> None:
    recorder = RequestRecorder(site, verify_crawler=lambda agent, address: address == "66.249.66.1")

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        start_response("200 OK", [HTML])
        return [b""]

    send_request(WsgiPublisher(app, site, recorder), "/", agent=GOOGLEBOT)
    recorder.flush()
    assert recorder.get_connection().execute("SELECT name, verified, visits FROM crawlers").fetchall() == [
        ("googlebot", 1, 1)
    ]
    recorder.close()


def test_page_served_only_with_cookie_or_password_is_not_listed(get: Get) -> None:
    get("/", cookie="session=1")
    get("/a", authorization="Basic x")
    assert changes(get) == []
    get("/")
    assert [path for path, _, _ in changes(get)] == ["/"]


def test_changed_validator_is_a_change_and_404_is_a_deletion(get: Get, pages: Pages) -> None:
    get("/a")
    get("/")
    changes(get)
    pages["/a"] = ("200 OK", [HTML, ("ETag", '"2"')], b"a2")
    del pages["/"]
    get("/a")
    get("/")
    rows = parse_listing(get("/changes.xml?LAST_VISIT=2023-11-14T22:13:20.001Z")[2])
    assert [(path, change) for path, _, change in rows] == [("/a", "updated"), ("/", "deleted")]


def test_page_that_requires_a_login_is_removed_from_the_list(get: Get, pages: Pages) -> None:
    get("/a")
    assert len(changes(get)) == 1
    pages["/a"] = ("302 Found", [HTML, ("Location", "/login")], b"")
    get("/a")
    assert changes(get) == []


def test_application_reports_changes_itself(get: Get, recorder: RequestRecorder) -> None:
    get("/a")
    changes(get)
    get("/")
    recorder.mark_changed("/article/7")
    recorder.mark_deleted("/a")
    assert changes(get) == [("/", 1.0, "created"), ("/article/7", 0.0, "created"), ("/a", 0.0, "deleted")]


def test_sitemap_line_is_added_to_robots_txt(get: Get, pages: Pages) -> None:
    body = get("/robots.txt")[2].decode()
    assert body == "User-agent: *\nDisallow: /forbidden/\n\nSitemap: https://example.org/sitemap.xml\n"
    pages["/robots.txt"] = ("200 OK", [("Content-Type", "text/plain")], body.encode())
    assert get("/robots.txt")[2].decode() == body
    del pages["/robots.txt"]
    assert get("/robots.txt")[2] == b"Sitemap: https://example.org/sitemap.xml\n"
    pages["/robots.txt"] = ("503 Busy", [HTML], b"later")
    assert get("/robots.txt")[0] == 503


def test_head_has_no_body(get: Get) -> None:
    status, headers, body = get("/sitemap.xml", method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) > 0


def test_tvi_file_patches_an_old_copy(site: PublishedSite, recorder: RequestRecorder) -> None:
    pages = {"/shares.html": b"<p><!--Vol#price-->12.50<!--/Vol#price-->"}

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        body = pages.get(environ["PATH_INFO"])
        start_response("200 OK" if body else "404 Not Found", [HTML])
        return [body or b""]

    publisher = WsgiPublisher(app, PublishedSite(site.base_url, site.state_file, serve_tvi_files=True), recorder)
    stored_copy = pages["/shares.html"]
    pages["/shares.html"] = b"<p><!--Vol#price-->13.75<!--/Vol#price-->"
    status, headers, tvi_body = send_request(publisher, "/shares.tvi")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert patch_page(stored_copy, parse_table(tvi_body) or {}) == pages["/shares.html"]
    assert send_request(publisher, "/other.tvi")[0] == 404


def test_failed_write_is_retried(site: PublishedSite, recorder: RequestRecorder, get: Get) -> None:
    get("/")
    broken = recorder.get_connection()
    broken.close()
    recorder.flush()
    recorder._db = None
    get("/a")
    assert changes(get) == [("/", 1.0, "created"), ("/a", 1.0, "created")]

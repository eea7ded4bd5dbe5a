"""A WSGI application behind the middleware."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest
from tests.publisher.conftest import BROWSER, listed

from sanderling.clock import SimulatedClock
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
def desk(site: PublishedSite) -> Iterator[RequestRecorder]:
    desk = RequestRecorder(site, SimulatedClock(1_700_000_000.0))
    yield desk
    desk.close()


@pytest.fixture
def get(site: PublishedSite, desk: RequestRecorder, pages: Pages) -> Get:
    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        status, headers, body = pages.get(environ["PATH_INFO"], ("404 Not Found", [HTML], b"nothing here"))
        start_response(status, list(headers))
        return [body]

    return lambda path, **headers: ask(WsgiPublisher(app, site, desk), path, **headers)


Reply = tuple[int, dict[str, str], bytes]


def ask(app: Any, path: str, *, method: str = "GET", agent: str = BROWSER, **headers: str) -> Reply:
    target, _, query = path.partition("?")
    environ: dict[str, Any] = {"REQUEST_METHOD": method, "HTTP_USER_AGENT": agent, "QUERY_STRING": query}
    environ |= {f"HTTP_{name.upper()}": value for name, value in headers.items()}
    setup_testing_defaults(environ)
    environ |= {"PATH_INFO": target, "REMOTE_ADDR": "66.249.66.1"}
    said: list[Any] = []

    def start(status: str, sent: list[tuple[str, str]], *rest: Any) -> Any:
        said[:] = [int(status[:3]), dict(sent)]
        return lambda data: None

    found: Any = validator(app)(environ, start)
    body = b"".join(found)
    found.close()
    return said[0], said[1], body


def changes(get: Get) -> list[tuple[str, float, str]]:
    return listed(get("/changes.xml?LAST_VISIT=0")[2])


def test_pages_served_to_people_are_listed_with_their_views(get: Get) -> None:
    for path in ("/", "/", "/a", "/logo.png", "/secret", "/forbidden/x", "/missing"):
        get(path)
    assert changes(get) == [("/", 1.0, "created"), ("/a", 0.5, "created")]


def test_the_visitors_answer_is_untouched_but_for_the_link(get: Get) -> None:
    status, headers, body = get("/a")
    assert (status, body, headers["ETag"]) == (200, b"a", '"1"')
    assert headers["Link"].startswith('<https://example.org/changes.xml>; rel="changes"')


def test_crawlers_are_served_but_not_counted(get: Get, desk: RequestRecorder) -> None:
    get("/a")
    for _ in range(5):
        get("/", agent=GOOGLEBOT)
    assert changes(get) == [("/a", 1.0, "created"), ("/", 0.0, "created")]
    assert desk.get_connection().execute("SELECT name, verified, visits FROM crawlers").fetchall() == [
        ("googlebot", 0, 5)
    ]


def test_verified_crawlers_are_kept_apart(site: PublishedSite, get: Get, pages: Pages) -> None:
    desk = RequestRecorder(site, verify_crawler=lambda agent, address: address == "66.249.66.1")

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        start_response("200 OK", [HTML])
        return [b""]

    ask(WsgiPublisher(app, site, desk), "/", agent=GOOGLEBOT)
    desk.flush()
    assert desk.get_connection().execute("SELECT name, verified, visits FROM crawlers").fetchall() == [
        ("googlebot", 1, 1)
    ]
    desk.close()


def test_a_page_only_ever_seen_with_a_cookie_or_password_is_not_listed(get: Get) -> None:
    get("/", cookie="session=1")
    get("/a", authorization="Basic x")
    assert changes(get) == []
    get("/")
    assert [path for path, _, _ in changes(get)] == ["/"]


def test_a_changed_validator_is_a_change_and_a_404_a_deletion(get: Get, pages: Pages) -> None:
    get("/a")
    get("/")
    changes(get)
    pages["/a"] = ("200 OK", [HTML, ("ETag", '"2"')], b"a2")
    del pages["/"]
    get("/a")
    get("/")
    rows = listed(get("/changes.xml?LAST_VISIT=2023-11-14T22:13:20.001Z")[2])
    assert [(path, change) for path, _, change in rows] == [("/a", "updated"), ("/", "deleted")]


def test_a_page_that_begins_to_ask_for_a_login_vanishes_from_the_list(get: Get, pages: Pages) -> None:
    get("/a")
    assert len(changes(get)) == 1
    pages["/a"] = ("302 Found", [HTML, ("Location", "/login")], b"")
    get("/a")
    assert changes(get) == []


def test_an_application_may_say_itself_what_changed(get: Get, desk: RequestRecorder) -> None:
    get("/a")
    changes(get)
    get("/")
    desk.mark_changed("/article/7")
    desk.mark_deleted("/a")
    assert changes(get) == [("/", 1.0, "created"), ("/article/7", 0.0, "created"), ("/a", 0.0, "deleted")]


def test_robots_txt_gets_the_line_that_names_the_sitemap(get: Get, pages: Pages) -> None:
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


def test_the_side_file_patches_an_old_copy(site: PublishedSite, desk: RequestRecorder) -> None:
    served = {"/shares.html": b"<p><!--Vol#price-->12.50<!--/Vol#price-->"}

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        body = served.get(environ["PATH_INFO"])
        start_response("200 OK" if body else "404 Not Found", [HTML])
        return [body or b""]

    volatile = WsgiPublisher(app, PublishedSite(site.base_url, site.state_file, serve_tvi_files=True), desk)
    old = served["/shares.html"]
    served["/shares.html"] = b"<p><!--Vol#price-->13.75<!--/Vol#price-->"
    status, headers, side = ask(volatile, "/shares.tvi")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert patch_page(old, parse_table(side) or {}) == served["/shares.html"]
    assert ask(volatile, "/other.tvi")[0] == 404


def test_notes_that_cannot_be_written_are_kept(site: PublishedSite, desk: RequestRecorder, get: Get) -> None:
    get("/")
    broken = desk.get_connection()
    broken.close()
    desk.flush()
    desk._db = None
    get("/a")
    assert changes(get) == [("/", 1.0, "created"), ("/a", 1.0, "created")]

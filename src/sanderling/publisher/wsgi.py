"""Middleware for WSGI applications (Flask, Django, Pyramid ...).

application = WsgiPublisher(application, Site("https://example.org", Path("/var/lib/site/publisher.db")))
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from http.client import responses
from typing import TYPE_CHECKING, Any

from sanderling.publisher.body_digest import BodyDigest, needs_digest
from sanderling.publisher.discovery import ROBOTS, Robots, link_header, side_answer
from sanderling.publisher.paths import encoded, with_query
from sanderling.publisher.published_site import Site
from sanderling.publisher.recorder import Desk, Visit
from sanderling.publisher.responses import Answer, Ask, answer, ours
from sanderling.publisher.robots import forbids_index
from sanderling.publisher.state_db import connect
from sanderling.publisher.volatile_files import ENDING, LARGEST, page_paths

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class WsgiPublisher:
    """Wraps an application: notes visits, and answers for the lists itself."""

    def __init__(self, app: "WSGIApplication", site: Site, desk: Desk | None = None) -> None:
        self.app, self.site = app, site
        self.desk = desk or Desk(site)
        self.robots = Robots(self.desk)
        self.link = ("Link", link_header(site))
        self.started = False

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if not self.started:
            self.started = True
            self.desk.start()
        path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        if ours(self.site, path):
            return self._answer(environ, path, start_response)
        if path == ROBOTS:
            return self._robots(environ, start_response)
        if self.site.volatile and path.endswith(ENDING):
            return self._side_file(environ, path, start_response)
        if environ["REQUEST_METHOD"] != "GET":
            return self.app(environ, start_response)
        return self._watch(environ, path, start_response)

    def _watch(self, environ: "WSGIEnvironment", path: str, start_response: "StartResponse") -> Iterable[bytes]:
        pending: list[list[tuple[str, str]]] = []
        begun: list[str] = []  # a generator begins its response with its first chunk

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            begun[:] = [status]
            if needs_digest(int(status[:3]), {name.lower(): value for name, value in headers}):
                pending[:] = [headers]
            else:
                pending.clear()
                self._note(environ, path, int(status[:3]), headers)
            return start_response(status, [*headers, self.link], *rest)

        def end(mark: str) -> None:
            if pending:
                self._note(environ, path, 200, [*pending.pop(), ("ETag", mark)])

        found = self.app(environ, start)
        return found if begun and not pending else Digested(found, end)

    def _note(self, environ: "WSGIEnvironment", path: str, status: int, headers: list[tuple[str, str]]) -> None:
        spelled = encoded(path.encode("latin-1", "replace"))
        if spelled is None:
            return
        if self.site.kept_parameters:
            spelled = with_query(spelled, environ.get("QUERY_STRING", ""), self.site.kept_parameters)
        sent = {name.lower(): value for name, value in headers}
        self.desk.see(
            Visit(
                spelled,
                status,
                environ.get("HTTP_USER_AGENT", ""),
                "HTTP_AUTHORIZATION" not in environ and "HTTP_COOKIE" not in environ,
                sent.get("content-type", "").lower(),
                sent.get("etag", ""),
                sent.get("last-modified", ""),
                forbids_index(value for name, value in headers if name.lower() == "x-robots-tag"),
                environ.get("REMOTE_ADDR", ""),
            )
        )

    def _answer(self, environ: "WSGIEnvironment", path: str, start_response: "StartResponse") -> Iterable[bytes]:
        if self.robots.is_due():
            _, _, body = self._ask_app({**environ, "PATH_INFO": ROBOTS, "SCRIPT_NAME": "", "REQUEST_METHOD": "GET"})
            self.robots.learn(body)
        ask = Ask(path, environ.get("QUERY_STRING", ""), environ["REQUEST_METHOD"], headers_of(environ))
        self.desk.flush()
        with closing(connect(self.site.state)) as db:
            return reply(answer(self.site, db, ask, self.desk.now()), start_response, ask.method == "HEAD")

    def _robots(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        status, headers, body = self._ask_app(environ)
        return reply(self.robots.amend(status, headers, body), start_response, environ["REQUEST_METHOD"] == "HEAD")

    def _side_file(self, environ: "WSGIEnvironment", path: str, start_response: "StartResponse") -> Iterable[bytes]:
        for page in page_paths(path):
            found = side_answer(*self._ask_app({**environ, "PATH_INFO": page, "SCRIPT_NAME": ""}))
            if found:
                return reply(found, start_response, environ["REQUEST_METHOD"] == "HEAD")
        return self.app(environ, start_response)

    def _ask_app(self, environ: "WSGIEnvironment") -> tuple[int, list[tuple[str, str]], bytes]:
        """Ask the application itself, and keep what it says."""
        said: list[Any] = [500, []]

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:  # noqa: ARG001 - WSGI's signature
            said[:] = [int(status[:3]), headers]
            return lambda data: None  # noqa: ARG005 - the old way to write, which nobody uses

        found = self.app(environ, start)
        try:
            body = b"".join(_at_most(found, LARGEST))
        finally:
            if hasattr(found, "close"):
                found.close()
        return said[0], said[1], body


class Digested:
    """A response body that passes through; its digest is reported once it was sent completely."""

    def __init__(self, chunks: Iterable[bytes], end: Callable[[str], None]) -> None:
        self.chunks, self.end = chunks, end

    def __iter__(self) -> Iterator[bytes]:
        body = BodyDigest()
        for chunk in self.chunks:
            body.add(chunk)
            yield chunk
        self.end(body.mark())

    def close(self) -> None:
        """Close the wrapped body, as WSGI demands."""
        if hasattr(self.chunks, "close"):
            self.chunks.close()


def _at_most(chunks: Iterable[bytes], most: int) -> Iterator[bytes]:
    for chunk in chunks:
        yield chunk[:most]
        most -= len(chunk)
        if most <= 0:
            return


def headers_of(environ: "WSGIEnvironment") -> dict[str, str]:
    """Give the headers of a request, names in lower case."""
    return {name[5:].replace("_", "-").lower(): str(environ[name]) for name in environ if name.startswith("HTTP_")}


def reply(answer: Answer, start_response: "StartResponse", head: bool) -> Iterable[bytes]:
    """Send an answer back."""
    headers = [*answer.headers, ("Content-Length", str(len(answer.body)))]
    start_response(f"{answer.status} {responses.get(answer.status, 'Other')}", headers)
    return [] if head else [answer.body]

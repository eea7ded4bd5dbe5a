"""Middleware for WSGI applications (Flask, Django, Pyramid ...).

application = WsgiPublisher(application, Site("https://example.org", Path("/var/lib/site/publisher.db")))
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from http.client import responses
from typing import TYPE_CHECKING, Any

from sanderling.publisher.body_digest import BodyDigest, should_digest
from sanderling.publisher.discovery import ROBOTS_PATH, RobotsRewriter, build_link_header, build_tvi_response
from sanderling.publisher.paths import add_page_parameters, canonicalize_decoded_path
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.recorder import RequestRecorder, ServedRequest
from sanderling.publisher.responses import ListingRequest, ListingResponse, build_response, is_publisher_path
from sanderling.publisher.robots_rules import has_noindex
from sanderling.publisher.state_db import open_state_db
from sanderling.publisher.volatile_files import MAX_PAGE_LENGTH, TVI_SUFFIX, list_page_paths

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class WsgiPublisher:
    """Wraps an application: notes visits, and answers for the lists itself."""

    def __init__(self, app: "WSGIApplication", site: PublishedSite, recorder: RequestRecorder | None = None) -> None:
        self.app, self.site = app, site
        self.recorder = recorder or RequestRecorder(site)
        self.robots_rewriter = RobotsRewriter(self.recorder)
        self.link_header = ("Link", build_link_header(site))
        self.is_started = False

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if not self.is_started:
            self.is_started = True
            self.recorder.start()
        path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        if is_publisher_path(self.site, path):
            return self._send_listing(environ, path, start_response)
        if path == ROBOTS_PATH:
            return self._send_robots(environ, start_response)
        if self.site.serve_tvi_files and path.endswith(TVI_SUFFIX):
            return self._send_tvi_file(environ, path, start_response)
        if environ["REQUEST_METHOD"] != "GET":
            return self.app(environ, start_response)
        return self._record_response(environ, path, start_response)

    def _record_response(
        self, environ: "WSGIEnvironment", path: str, start_response: "StartResponse"
    ) -> Iterable[bytes]:
        pending: list[list[tuple[str, str]]] = []
        begun: list[str] = []  # a generator begins its response with its first chunk

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            begun[:] = [status]
            if should_digest(int(status[:3]), {name.lower(): value for name, value in headers}):
                pending[:] = [headers]
            else:
                pending.clear()
                self._record_request(environ, path, int(status[:3]), headers)
            return start_response(status, [*headers, self.link_header], *rest)

        def end(mark: str) -> None:
            if pending:
                self._record_request(environ, path, 200, [*pending.pop(), ("ETag", mark)])

        found = self.app(environ, start)
        return found if begun and not pending else DigestedBody(found, end)

    def _record_request(
        self, environ: "WSGIEnvironment", path: str, status: int, headers: list[tuple[str, str]]
    ) -> None:
        spelled = canonicalize_decoded_path(path.encode("latin-1", "replace"))
        if spelled is None:
            return
        if self.site.page_parameters:
            spelled = add_page_parameters(spelled, environ.get("QUERY_STRING", ""), self.site.page_parameters)
        sent = {name.lower(): value for name, value in headers}
        self.recorder.record(
            ServedRequest(
                spelled,
                status,
                environ.get("HTTP_USER_AGENT", ""),
                "HTTP_AUTHORIZATION" not in environ and "HTTP_COOKIE" not in environ,
                sent.get("content-type", "").lower(),
                sent.get("etag", ""),
                sent.get("last-modified", ""),
                has_noindex(value for name, value in headers if name.lower() == "x-robots-tag"),
                environ.get("REMOTE_ADDR", ""),
            )
        )

    def _send_listing(self, environ: "WSGIEnvironment", path: str, start_response: "StartResponse") -> Iterable[bytes]:
        if self.robots_rewriter.is_refresh_due():
            _, _, body = self._call_app(
                {**environ, "PATH_INFO": ROBOTS_PATH, "SCRIPT_NAME": "", "REQUEST_METHOD": "GET"}
            )
            self.robots_rewriter.load_rules(body)
        ask = ListingRequest(
            path, environ.get("QUERY_STRING", ""), environ["REQUEST_METHOD"], get_request_headers(environ)
        )
        self.recorder.flush()
        with closing(open_state_db(self.site.state_file)) as db:
            return send_response(
                build_response(self.site, db, ask, self.recorder.get_time_ms()), start_response, ask.method == "HEAD"
            )

    def _send_robots(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        status, headers, body = self._call_app(environ)
        return send_response(
            self.robots_rewriter.build_robots_response(status, headers, body),
            start_response,
            environ["REQUEST_METHOD"] == "HEAD",
        )

    def _send_tvi_file(self, environ: "WSGIEnvironment", path: str, start_response: "StartResponse") -> Iterable[bytes]:
        for page in list_page_paths(path):
            found = build_tvi_response(*self._call_app({**environ, "PATH_INFO": page, "SCRIPT_NAME": ""}))
            if found:
                return send_response(found, start_response, environ["REQUEST_METHOD"] == "HEAD")
        return self.app(environ, start_response)

    def _call_app(self, environ: "WSGIEnvironment") -> tuple[int, list[tuple[str, str]], bytes]:
        """Ask the application itself, and keep what it says."""
        said: list[Any] = [500, []]

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:  # noqa: ARG001 - WSGI's signature
            said[:] = [int(status[:3]), headers]
            return lambda data: None  # noqa: ARG005 - the old way to write, which nobody uses

        found = self.app(environ, start)
        try:
            body = b"".join(_limit_bytes(found, MAX_PAGE_LENGTH))
        finally:
            if hasattr(found, "close"):
                found.close()
        return said[0], said[1], body


class DigestedBody:
    """A response body that passes through; its digest is reported once it was sent completely."""

    def __init__(self, chunks: Iterable[bytes], on_digest: Callable[[str], None]) -> None:
        self.chunks, self.on_digest = chunks, on_digest

    def __iter__(self) -> Iterator[bytes]:
        body = BodyDigest()
        for chunk in self.chunks:
            body.add(chunk)
            yield chunk
        self.on_digest(body.compute_digest())

    def close(self) -> None:
        """Close the wrapped body, as WSGI demands."""
        if hasattr(self.chunks, "close"):
            self.chunks.close()


def _limit_bytes(chunks: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    for chunk in chunks:
        yield chunk[:max_bytes]
        max_bytes -= len(chunk)
        if max_bytes <= 0:
            return


def get_request_headers(environ: "WSGIEnvironment") -> dict[str, str]:
    """Give the headers of a request, names in lower case."""
    return {name[5:].replace("_", "-").lower(): str(environ[name]) for name in environ if name.startswith("HTTP_")}


def send_response(response: ListingResponse, start_response: "StartResponse", is_head: bool) -> Iterable[bytes]:
    """Send an answer back."""
    headers = [*response.headers, ("Content-Length", str(len(response.body)))]
    start_response(f"{response.status} {responses.get(response.status, 'Other')}", headers)
    return [] if is_head else [response.body]

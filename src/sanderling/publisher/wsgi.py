"""Middleware for WSGI applications (Flask, Django, Pyramid).

application = WsgiPublisher(application, PublishedSite("https://example.org", Path("/var/lib/site/publisher.db")))
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
    """Wrap an application: record its responses, and serve the lists."""

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
        undigested_headers: list[list[tuple[str, str]]] = []
        started_status: list[str] = []  # a generator starts its response with the first chunk

        def start_and_record(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            started_status[:] = [status]
            if should_digest(int(status[:3]), {name.lower(): value for name, value in headers}):
                undigested_headers[:] = [headers]
            else:
                undigested_headers.clear()
                self._record_request(environ, path, int(status[:3]), headers)
            return start_response(status, [*headers, self.link_header], *rest)

        def record_digest(digest: str) -> None:
            if undigested_headers:
                self._record_request(environ, path, 200, [*undigested_headers.pop(), ("ETag", digest)])

        def build_digest() -> BodyDigest:
            values = {name.lower(): value for headers in undigested_headers for name, value in headers}
            return BodyDigest(values.get("content-encoding", ""))

        body = self.app(environ, start_and_record)
        if started_status and not undigested_headers:
            return body
        return DigestedBody(body, build_digest, record_digest)

    def _record_request(
        self, environ: "WSGIEnvironment", path: str, status: int, headers: list[tuple[str, str]]
    ) -> None:
        canonical_path = canonicalize_decoded_path(path.encode("latin-1", "replace"))
        if canonical_path is None:
            return
        if self.site.page_parameters:
            canonical_path = add_page_parameters(
                canonical_path, environ.get("QUERY_STRING", ""), self.site.page_parameters
            )
        header_values = {name.lower(): value for name, value in headers}
        self.recorder.record(
            ServedRequest(
                canonical_path,
                status,
                environ.get("HTTP_USER_AGENT", ""),
                "HTTP_AUTHORIZATION" not in environ and "HTTP_COOKIE" not in environ,
                header_values.get("content-type", "").lower(),
                header_values.get("etag", ""),
                header_values.get("last-modified", ""),
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
        request = ListingRequest(
            path, environ.get("QUERY_STRING", ""), environ["REQUEST_METHOD"], get_request_headers(environ)
        )
        self.recorder.flush()
        with closing(open_state_db(self.site.state_file)) as db:
            return send_response(
                build_response(self.site, db, request, self.recorder.get_time_ms()),
                start_response,
                request.method == "HEAD",
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
            response = build_tvi_response(*self._call_app({**environ, "PATH_INFO": page, "SCRIPT_NAME": ""}))
            if response:
                return send_response(response, start_response, environ["REQUEST_METHOD"] == "HEAD")
        return self.app(environ, start_response)

    def _call_app(self, environ: "WSGIEnvironment") -> tuple[int, list[tuple[str, str]], bytes]:
        status_and_headers: list[Any] = [500, []]

        def keep_start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:  # noqa: ARG001 - signature of WSGI
            status_and_headers[:] = [int(status[:3]), headers]
            return lambda data: None  # noqa: ARG005 - deprecated write() of WSGI

        chunks = self.app(environ, keep_start)
        try:
            body = b"".join(_limit_bytes(chunks, MAX_PAGE_LENGTH))
        finally:
            if hasattr(chunks, "close"):
                chunks.close()
        return status_and_headers[0], status_and_headers[1], body


class DigestedBody:
    """Pass a response body through, and report its digest at the end."""

    def __init__(
        self, chunks: Iterable[bytes], build_digest: Callable[[], BodyDigest], on_digest: Callable[[str], None]
    ) -> None:
        self.chunks, self.build_digest, self.on_digest = chunks, build_digest, on_digest

    def __iter__(self) -> Iterator[bytes]:
        body: BodyDigest | None = None
        for chunk in self.chunks:
            body = body or self.build_digest()  # a generator starts its response with the first chunk
            body.add(chunk)
            yield chunk
        self.on_digest(body.compute_digest() if body else "")

    def close(self) -> None:
        """Close the wrapped body (PEP 3333)."""
        if hasattr(self.chunks, "close"):
            self.chunks.close()


def _limit_bytes(chunks: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    for chunk in chunks:
        yield chunk[:max_bytes]
        max_bytes -= len(chunk)
        if max_bytes <= 0:
            return


def get_request_headers(environ: "WSGIEnvironment") -> dict[str, str]:
    return {name[5:].replace("_", "-").lower(): str(environ[name]) for name in environ if name.startswith("HTTP_")}


def send_response(response: ListingResponse, start_response: "StartResponse", is_head: bool) -> Iterable[bytes]:
    headers = [*response.headers, ("Content-Length", str(len(response.body)))]
    start_response(f"{response.status} {responses.get(response.status, 'Other')}", headers)
    return [] if is_head else [response.body]

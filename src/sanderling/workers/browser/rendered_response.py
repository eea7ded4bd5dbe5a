"""Rendered pages as responses and visits, and the WARC records of a page and its requests."""

import hashlib
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from sanderling.fetch.curl_client import build_request_headers, serialize_recorded_headers
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.host_queue import HostQueue
from sanderling.fetch.link_resolution import resolve_requisites
from sanderling.fetch.requisite_response import find_nested_requisites
from sanderling.fetch.response import decode_header
from sanderling.fetch.stored_body import read_stored_screenshot
from sanderling.fetch.transport import FetchRequest, FetchResponse
from sanderling.http.content_type import parse_charset
from sanderling.http.decoding import decode_body
from sanderling.http.head import get_media_type, parse_head
from sanderling.models import FetchTask, FileRef, Visit
from sanderling.page_rendering import Capture, DataSource
from sanderling.warc.packer import (
    BLOCKS_FIELD,
    RENDERED_PREFIX,
    SCREENSHOT_PREFIX,
    HttpExchange,
    make_record_id,
    pack_metadata,
    pack_request,
    pack_resource,
    pack_response,
)
from sanderling.workers.browser.render_choice import Choice
from sanderling.workers.browser.subrequests import filter_recorded
from sanderling.workers.browser.tab_protocol import RenderCommand, RenderedPage

# Kept from the HTTP response: what describes the page, not its bytes.
KEPT_HEADERS = (
    b"etag", b"last-modified", b"x-robots-tag", b"link", b"refresh", b"content-language", b"content-usage",
    b"content-signal", b"tdm-reservation",
)  # fmt: skip
RENDERED_TYPE = "text/html; charset=utf-8"


class PageJob(Struct):
    """A page between its HTTP response and its visit."""

    task: FetchTask
    host_queue: HostQueue
    response: FetchResponse
    fetched_at: float
    record_id: str = field(default_factory=make_record_id)
    captures: list[Capture] = []
    refused: dict[str, int] = {}
    limited_by: FetchResponse | None = None  # a request of the page was answered 429 or 503
    choice: Choice | None = None  # None: rendered by a setting
    sources: dict[str, DataSource] = {}  # by URL
    can_check_sources: bool = True


def add_previous_picture(document: RenderCommand, task: FetchTask, settings: FetchSettings) -> RenderCommand:
    """Add the screenshot of the last version to a command, to compare it with the next one."""
    if not (settings.screenshots and settings.archive_folder and task.last_version is not None):
        return document
    picture, blocks = read_stored_screenshot(settings.archive_folder, task.last_version)
    return replace(document, previous_picture=picture, previous_blocks=blocks)


def make_storable(task: FetchTask, rendered: RenderedPage) -> FetchTask:
    """Let the same document be stored again if its picture differs."""
    is_same_document = rendered.visual is not None and hashlib.sha256(rendered.html).digest() == task.digest
    return replace(task, digest=b"") if is_same_document else task


def build_rendered_response(job: PageJob, html: bytes) -> FetchResponse:
    """Return the response as if the server had sent the rendered DOM."""
    _, fields = parse_head(job.response.head_lines)
    kept = [b"%s: %s\r\n" % (name, fields[name].replace(b"\n", b", ")) for name in KEPT_HEADERS if name in fields]
    lines = [b"HTTP/1.1 200 OK\r\n", b"Content-Type: %s\r\n" % RENDERED_TYPE.encode(), *kept, b"\r\n"]
    return replace(job.response, head_lines=lines, body=html)


class CapturePacker:
    """Packs the records of rendered pages."""

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        _, self._recorded_headers = serialize_recorded_headers(build_request_headers(settings))

    def pack_exchange(self, response: FetchResponse, page_record_id: str, fetched_at: float) -> Capture:
        """Pack an HTTP response of a page, and its request."""
        request, algorithm = response.request, self._settings.digest
        status, fields = parse_head(response.head_lines)
        exchange = HttpExchange(request.url, fetched_at, b"".join(response.head_lines), response.body, response.address)
        packed = pack_response(exchange, algorithm, page_record_id)
        request_member = b""
        if self._settings.keep_requests:
            sent = HttpExchange(
                request.url, fetched_at, self._build_request(request), request.request_body, response.address
            )
            request_member = pack_request(sent, page_record_id, algorithm).member
        is_indexed = request.method == "GET"
        return Capture(
            request.url, fetched_at, get_media_type(fields), status, packed.payload_digest, packed.member,
            request_member, is_indexed,
        )  # fmt: skip

    def _build_request(self, request: FetchRequest) -> bytes:
        host, _, path = request.url.partition("://")[2].partition("/")
        start = f"{request.method} /{path} HTTP/1.1\r\nHost: {host}\r\n".encode()
        return b"".join([start, self._recorded_headers, *filter_recorded(request.headers), b"\r\n"])

    def pack_screenshot(self, job: PageJob, image: bytes, blocks: bytes) -> Capture:
        """Pack a picture as a `resource` record, and the boxes of its blocks as a `metadata` record."""
        mime = "image/png" if image.startswith(b"\x89PNG") else "image/jpeg"
        packed = pack_resource(
            SCREENSHOT_PREFIX + job.response.request.url,
            job.fetched_at,
            mime,
            image,
            page_record_id=job.record_id,
            algorithm=self._settings.digest,
        )
        return Capture(
            job.response.request.url, job.fetched_at, mime, 200, packed.payload_digest, packed.member,
            pack_metadata(
                SCREENSHOT_PREFIX + job.response.request.url, job.fetched_at, [(BLOCKS_FIELD, blocks.decode())],
                job.record_id, self._settings.digest,
            ).member,
            is_indexed=False,
        )  # fmt: skip

    def _merge_requisites(self, job: PageJob, visit: Visit, rendered: RenderedPage) -> tuple[FileRef, ...]:
        """Add to the requisites of the rendered DOM those of the HTML, and files that scripts requested for a while."""
        url, (_, fields) = job.response.request.url, parse_head(job.response.head_lines)
        body, _ = decode_body(
            job.response.body, decode_header(fields.get(b"content-encoding", b"")), self._settings.max_page
        )
        declared = decode_header(fields.get(b"content-type", b""))
        found = (
            *visit.requisites,
            *find_nested_requisites(url, body, get_media_type(fields), parse_charset(declared)),
            *resolve_requisites(rendered.unfetched, url),
        )
        return tuple({ref.url: ref for ref in found}.values())

    def finish_visit(self, job: PageJob, visit: Visit, rendered: RenderedPage) -> Visit:
        """Replace the record of the visit by a `resource` record, followed by the records of all requests."""
        if self._settings.extracts_requisites:
            visit = replace(visit, requisites=self._merge_requisites(job, visit, rendered))
        if not visit.response_record:  # unchanged: nothing new is stored
            return replace(visit, head=b"", is_rendered=True)
        packed = pack_resource(
            RENDERED_PREFIX + job.response.request.url,
            job.fetched_at,
            RENDERED_TYPE,
            rendered.html,
            record_id=job.record_id,
            algorithm=self._settings.digest,
        )
        captures = [self.pack_exchange(job.response, job.record_id, job.fetched_at), *job.captures]
        if rendered.screenshot:
            captures.append(self.pack_screenshot(job, rendered.screenshot, rendered.picture_blocks))
        fields: dict[str, Any] = {
            "response_record": packed.member,
            "record_id": job.record_id,
            "payload_digest": packed.payload_digest,
        }
        return replace(
            visit,
            head=b"",
            request_record=b"",
            metadata_record=b"",
            captures=tuple(captures),
            is_rendered=True,
            **fields,
        )

"""Check by HTTP whether a rendered page may have changed: its HTML, and the documents that its scripts requested."""

import hashlib

from msgspec import Struct
from msgspec.structs import replace

from sanderling.fetch.response import build_conditional_headers, decode_validator
from sanderling.fetch.transport import FetchResponse
from sanderling.fingerprint.fast.stable_hash import compute_stable_hash
from sanderling.http.head import parse_head
from sanderling.models import FetchTask
from sanderling.page_rendering import DataSource, PageRendering
from sanderling.workers.browser.rendered_response import KEPT_HEADERS, PageJob
from sanderling.workers.browser.subrequests import Subresponse
from sanderling.workers.browser.tab_protocol import Subrequest

DATA_KINDS = frozenset(("xhr", "fetch"))
MAX_SOURCES = 12  # more requests than that cost as much as rendering
MAX_UNRENDERED_SECONDS = 7 * 86_400.0  # scripts and requests may change without the HTML
# Set by the browser for every request. Others may be a key, which is not stored.
COMMON_HEADERS = frozenset(
    ("accept", "accept-language", "cache-control", "content-type", "origin", "pragma", "referer", "user-agent",
     "x-requested-with")
)  # fmt: skip
DIGEST_BYTES = 16


class SourceCheck(Struct):
    """Requests that are sent instead of rendering a page."""

    job: PageJob
    waiting: dict[int, DataSource]  # by task id
    has_changed: bool = False


def compute_page_digest(body: bytes) -> bytes:
    """Return a digest of the HTML as the server sent it, without volatile markup where possible."""
    return compute_stable_hash(body) or hashlib.sha256(body).digest()


def confirm_version(response: FetchResponse) -> FetchResponse:
    """Return a response that says that the stored version of a page is unchanged."""
    _, fields = parse_head(response.head_lines)
    kept = [b"%s: %s\r\n" % (name, fields[name]) for name in KEPT_HEADERS[:3] if name in fields]
    conditional = response.request.conditional_headers or (b"If-None-Match: *",)
    request = replace(response.request, conditional_headers=conditional)
    lines = [b"HTTP/1.1 304 Not Modified\r\n", *kept, b"\r\n"]
    return replace(response, request=request, head_lines=lines, body=b"")


def can_check(rendering: PageRendering | None, task: FetchTask, now: float) -> bool:
    """Return whether HTTP requests can show that a page is unchanged."""
    return (
        rendering is not None
        and rendering.is_rendered
        and rendering.can_check_sources
        and bool(task.digest)
        and 0 <= now - rendering.rendered_at < MAX_UNRENDERED_SECONDS
    )


def build_source_headers(source: DataSource) -> tuple[bytes, ...]:
    return build_conditional_headers(source.etag, source.last_modified)


def is_same_source(source: DataSource, response: FetchResponse, body: bytes) -> bool:
    """Return whether a document is the one that the page was rendered from."""
    status, _ = parse_head(response.head_lines)
    if status == 304 and response.request.conditional_headers:
        return True
    return _digest_source(status, body) == source.digest


def record_source(job: PageJob, request: Subrequest, response: Subresponse) -> None:
    """Remember a document that the page requested, unless it cannot be asked again."""
    if request.kind not in DATA_KINDS:
        return
    has_own_headers = any(name not in COMMON_HEADERS and not name.startswith("sec-") for name in request.headers)
    if request.method != "GET" or has_own_headers or len(job.sources) >= MAX_SOURCES:
        job.can_check_sources = False
        return
    fields = {name: value.encode("latin-1", "replace") for name, value in response.headers}
    etag, modified = decode_validator(fields.get("etag")), decode_validator(fields.get("last-modified"))
    job.sources[request.url] = DataSource(request.url, _digest_source(response.status, response.body), etag, modified)


def _digest_source(status: int, body: bytes) -> bytes:
    return hashlib.sha256(b"%d " % status + body).digest()[:DIGEST_BYTES]

"""Records passed between packages, also over a pipe, a socket, or a Ray object store, and the enums of URL states."""

from enum import StrEnum
from typing import NewType

from msgspec import Struct

from sanderling.page_fingerprints import NO_FINGERPRINTS, PageFingerprints
from sanderling.page_rendering import Capture, PageRendering, RenderTemplate

Url = NewType("Url", str)
"""URL key: the normalized form that identifies a URL. Only `urls.normalize` turns a `str` into a `Url`."""

Host = NewType("Host", str)
"""Scheme and authority, e.g. `https://example.org:8443`: the unit that a robots.txt applies to."""


class UrlState(StrEnum):
    QUEUED = "queued"  # to be visited; a leased URL stays in this state
    VISITED = "visited"  # a visit is stored
    SKIPPED = "skipped"  # not requested; see the reason
    FAILED = "failed"  # given up after retries; see the reason
    GONE = "gone"  # 404 or 410


class UrlSource(StrEnum):  # how a URL was found
    SEED = "seed"
    LINK = "link"
    REDIRECT = "redirect"
    SITEMAP = "sitemap"
    FEED = "feed"
    CANONICAL = "canonical"
    REFRESH = "refresh"
    IMPORT = "import"  # a record of another archive
    FORM = "form"  # a query of a form


class Outcome(StrEnum):
    """Result of a visit."""

    FETCHED = "fetched"  # new or changed body received
    NOT_MODIFIED = "not_modified"  # status 304
    REDIRECT = "redirect"  # one hop; the target becomes a candidate URL
    GONE = "gone"  # 404 or 410
    FAILED = "failed"  # permanent failure
    RETRY = "retry"  # temporary failure
    SKIPPED = "skipped"  # rejected by the crawler; see the reason
    PARKED = "parked"  # fetched but does not match the template filter: the worker stores it for later
    RETURNED = "returned"  # not attempted; requeued without counting an attempt


class Reason(StrEnum):
    """Reason for a skipped URL or a failed visit (`sanderling pages --skipped`)."""

    NONE = ""
    OUT_OF_SCOPE = "out_of_scope"
    EXCLUDED = "excluded"
    ROBOTS = "robots"
    USAGE = "usage"  # the owner's preferences deny the purpose of the crawl
    ROBOTS_UNREACHABLE = "robots_unreachable"
    NOFOLLOW = "nofollow"
    FOREIGN_SITEMAP = "foreign_sitemap"  # listed only in a sitemap or feed of another site
    DEPTH = "depth"
    LIMIT = "limit"
    HOST_LIMIT = "host_limit"  # page limit of the host reached
    DUPLICATE = "duplicate"
    TRAP = "trap"
    PAYMENT_REQUIRED = "payment_required"  # status 402
    UNSAFE = "unsafe"  # looks like an action: delete, log out
    REPEATED_CONTENT = "repeated_content"  # the last pages of its URL pattern had no new content
    TOO_LONG = "too_long"
    SCHEME = "scheme"
    BAD_URL = "bad_url"
    PRIVATE_ADDRESS = "private_address"
    TOO_LARGE = "too_large"
    MEDIA_TYPE = "media_type"
    EVICTED = "evicted"
    DELETED = "deleted"  # by the user
    IRRELEVANT = "irrelevant"
    NOT_SIMILAR = "not_similar"  # does not match the template filter; stored at the worker
    DNS = "dns"  # from here on: failures of the network or the server
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    TOO_SLOW = "too_slow"
    BROKEN_RESPONSE = "broken_response"
    BAD_ENCODING = "bad_encoding"
    TOO_MANY_HEADERS = "too_many_headers"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    REDIRECT_WITHOUT_TARGET = "redirect_without_target"
    HTTP_ERROR = "http_error"
    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    WORKER_LOST = "worker_lost"
    MIGRANT_REFUSED = "migrant_refused"  # a migrant rejected our message
    DIGEST_MISMATCH = "digest_mismatch"  # a migrant sent a body that does not match its digest
    FALSE_UNCHANGED = "false_unchanged"  # a migrant reported a changed page as unchanged
    RENDER_TIMEOUT = "render_timeout"  # in the browser: a script of the page does not return
    RENDER_MEMORY = "render_memory"  # the page used too much memory
    RENDER_CRASHED = "render_crashed"  # the browser ended, several times


class UrlRole(StrEnum):  # kind of document expected at a URL
    PAGE = "page"
    SITEMAP = "sitemap"
    FEED = "feed"
    CHANGE_LIST = "changes"  # list of recent changes published by the site
    TVI_FILE = "tvi"  # small file with the volatile parts of a page (TVI)
    REQUISITE = "resource"  # image, style sheet, font, script, or frame that a page needs to be shown


class CandidateUrl(Struct, frozen=True, gc=False):
    """A discovered URL, queued if it is new."""

    url: Url
    request_url: str = ""  # URL to request; empty: same as the key
    depth: int = 0
    source: UrlSource = UrlSource.LINK
    referrer_id: int = 0  # id of the page that links to it; 0: none
    hops: int = 0  # redirects followed to this URL
    rank: float = 0.0  # position in its host's queue; lower is earlier
    role: UrlRole = UrlRole.PAGE


class Link(Struct, frozen=True, array_like=True, gc=False):
    """Resolved and normalized link of a page."""

    url: Url
    request_url: str = ""
    anchor: str = ""
    nofollow: bool = False
    topic_score: float = 0.0  # focused crawl: relevance of the anchor and the surrounding text
    tag_path: str = ""  # crawl for similar pages: path of enclosing tags


class SitemapHint(Struct, frozen=True, array_like=True, gc=False):
    url: Url
    request_url: str = ""
    lastmod: float = 0.0  # 0: not stated
    is_date_only: bool = False  # lastmod has no time of day
    changefreq: str = ""
    priority: float = -1.0  # -1: not stated
    is_deleted: bool = False  # a change list reports the page as deleted


class FileRef(Struct, frozen=True, array_like=True, gc=False):
    """Reference to a sitemap, feed or page requisite."""

    url: Url
    request_url: str = ""
    role: UrlRole = UrlRole.SITEMAP


class StoredVersion(Struct, frozen=True, array_like=True, gc=False):
    """Archive location of the last version of a page."""

    file: str
    offset: int
    length: int
    charset: str = ""
    has_fingerprint: bool = False  # the full fingerprint of that version is stored, too
    stable_hash: bytes = b""  # hash of that version without volatile markup; empty: unknown
    is_page: bool = True  # False: not comparable with a page


SUSPECT_LOSSES = 3  # lost workers; one or two losses may have any cause


class FetchTask(Struct, frozen=True, array_like=True, gc=False):
    id: int
    token: int  # fencing token of the lease
    url: Url
    request_url: str = ""
    depth: int = 0
    hops: int = 0
    attempts: int = 0
    etag: str = ""
    last_modified: str = ""
    digest: bytes = b""
    role: UrlRole = UrlRole.PAGE
    last_version: StoredVersion | None = None  # None: no version stored, or not needed
    losses: int = 0  # workers lost while they held this URL
    rendering: PageRendering | None = None  # how the last version was made; None: as the server sent it

    @property
    def is_suspect(self) -> bool:
        """Whether this URL may crash workers; a suspect is fetched alone."""
        return self.losses >= SUSPECT_LOSSES


class RobotsTxt(Struct, frozen=True):
    """A fetched robots.txt and its cache expiry."""

    host: Host
    status: int  # HTTP status; 0 if it could not be reached
    body: bytes
    fetched_at: float
    expires_at: float

    @property
    def is_reachable(self) -> bool:
        """Whether rules apply: 4xx means no rules; 5xx, 429, or failure disallows all (RFC 9309, 2.3.1)."""
        return 200 <= self.status < 500 and self.status != 429


class TemplateFilter(Struct, frozen=True):
    """Templates of the pages to return, with feature weights (STRUCT buffer of the papers)."""

    templates: tuple[frozenset[int], ...]  # feature sets of the sample pages
    weights: dict[int, float] = {}  # rarity of features among crawled pages; empty: equal weights
    default_weight: float = 1.0  # weight of features not listed
    min_similarity: float = 0.4  # match threshold: theta_low


class FetchBatch(Struct, frozen=True):
    """URLs of a host assigned to a worker, with politeness settings."""

    host: Host
    tasks: tuple[FetchTask, ...]
    addresses: tuple[str, ...] = ()  # resolved and pinned by the coordinator; empty behind a proxy
    robots: RobotsTxt | None = None  # None: fetch it first
    delay_seconds: float = 1.0
    max_connections: int = 1
    template_filter: TemplateFilter | None = None  # return only matching pages
    render_templates: tuple[RenderTemplate, ...] = ()  # where rendering is worth it, as far as known


class Visit(Struct, frozen=True):
    """Result of fetching a URL."""

    id: int
    token: int
    url: Url
    outcome: Outcome
    visited_at: float
    reason: Reason = Reason.NONE
    detail: str = ""  # description of a failure, one line
    status: int = 0
    duration_seconds: float = 0.0
    mime: str = ""
    charset: str = ""
    etag: str = ""
    last_modified: str = ""
    digest: bytes = b""  # SHA-256 of the body with content coding removed
    size: int = 0  # size of that body in bytes
    received_bytes: int = 0  # bytes transferred, headers included
    address: str = ""
    location: str = ""  # redirect target, as a request URL
    retry_after: float = 0.0  # seconds
    title: str = ""
    language: str = ""
    canonical: Url = Url("")
    noindex: bool = False  # set in the page
    header_noindex: bool = False  # set in a header, which may change while the page does not
    nofollow: bool = False
    links: tuple[Link, ...] = ()  # may be encoded already (`msgspec.Raw`) in a worker report
    links_dropped: int = 0  # links above the limit
    role: UrlRole = UrlRole.PAGE
    file_refs: tuple[FileRef, ...] = ()
    requisites: tuple[FileRef, ...] = ()  # of a page, style sheet, or frame; empty unless requested
    sitemap_hints: tuple[SitemapHint, ...] = ()
    change_list_until: str = ""  # change list: LAST_VISIT of the next request
    change_list_next: str = ""  # change list: URL of the next part
    head: bytes = b""  # status line and headers, as stored in the WARC record
    response_record: bytes = b""  # WARC response record, as a gzip member
    request_record: bytes = b""  # WARC request record, likewise
    metadata_record: bytes = b""  # WARC metadata record, likewise
    record_id: str = ""  # WARC-Record-ID of the response record
    payload_digest: str = ""  # its WARC-Payload-Digest
    fingerprints: PageFingerprints = NO_FINGERPRINTS
    is_rendered: bool = False  # the body is the DOM after the page's scripts; `response_record` is a resource record
    captures: tuple[Capture, ...] = ()  # what the server sent for a rendered page: the document first
    rendering: PageRendering | None = None  # None: as before, or never rendered
    form_data: bytes = b""  # forms and lines of text (html/form_fields.py); empty unless requested


class Heartbeat(Struct, frozen=True):
    """Status message of a worker."""

    worker: str
    sent_at: float
    pending_tasks: int = 0  # leased tasks not yet reported
    cpu_share: float = 0.0
    memory_bytes: int = 0
    free_memory_bytes: int = 0
    free_disk_bytes: int = 0
    bytes_per_second: float = 0.0
    latency_seconds: float = 0.0
    page_count: int = 0


class WorkerReport(Struct, frozen=True):
    """Message of a worker with its results."""

    worker: str
    visits: tuple[Visit, ...] = ()
    robots: tuple[RobotsTxt, ...] = ()
    heartbeat: Heartbeat | None = None
    suspect_token: int = 0  # fencing token of the suspect being fetched alone; 0: none

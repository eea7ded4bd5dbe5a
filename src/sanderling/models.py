"""What travels between the rooms: small frozen records, and the few states of a URL.

They are msgspec structs, so that the same record goes over a pipe, a socket or a Ray object store unchanged.
"""

from enum import StrEnum
from typing import NewType

from msgspec import Struct

Url = NewType("Url", str)
"""The normalised key of a URL, its identity; a `str` is not a `Url` until organise.normalise said so."""

Host = NewType("Host", str)
"""Scheme and authority, e.g. `https://example.org:8443`: what one robots.txt speaks for."""


class UrlState(StrEnum):
    """Where a known URL stands."""

    QUEUED = "queued"  # to be visited; a lease is a queued URL in somebody's hands
    VISITED = "visited"  # a visit is stored
    SKIPPED = "skipped"  # never to be asked for, and the reason says why
    FAILED = "failed"  # given up after retries, and the reason says why
    GONE = "gone"  # 404 or 410


class UrlSource(StrEnum):
    """How a URL was found."""

    SEED = "seed"
    LINK = "link"
    REDIRECT = "redirect"
    SITEMAP = "sitemap"
    FEED = "feed"
    CANONICAL = "canonical"
    REFRESH = "refresh"


class Outcome(StrEnum):
    """How one visit ended."""

    FETCHED = "fetched"  # a body came, new or changed
    NOT_MODIFIED = "not_modified"  # the server said 304
    REDIRECT = "redirect"  # one hop; the target is a candidate of its own
    GONE = "gone"  # 404 or 410
    FAILED = "failed"  # the web did wrong for good
    RETRY = "retry"  # the web did wrong, perhaps not for long
    SKIPPED = "skipped"  # we did not want it after all
    PARKED = "kept"  # fetched, and not what the brief asks for: the migrant keeps it for later
    RETURNED = "returned"  # not tried; it goes back into the queue unharmed


class Reason(StrEnum):
    """Why a URL was skipped or a visit failed; shown by `sanderling pages --skipped`."""

    NONE = ""
    # what we do not want
    OUT_OF_SCOPE = "out_of_scope"
    EXCLUDED = "excluded"
    ROBOTS = "robots"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    NOFOLLOW = "nofollow"
    FOREIGN_SITEMAP = "foreign"  # only the sitemap or feed of another site names it
    DEPTH = "depth"
    LIMIT = "limit"
    HOST_LIMIT = "host_limit"  # its host has all the pages it may have
    DUPLICATE = "duplicate"
    TRAP = "trap"
    TOO_LONG = "too_long"
    SCHEME = "scheme"
    BAD_URL = "bad_url"
    PRIVATE_ADDRESS = "private_address"
    TOO_LARGE = "too_large"
    MEDIA_TYPE = "media_type"
    EVICTED = "evicted"
    DELETED = "forgotten"  # a person took it out
    IRRELEVANT = "irrelevant"
    NOT_SIMILAR = "not_alike"  # not built like the samples of a brief; a migrant keeps it
    # what the web did
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    TOO_SLOW = "slow"
    BROKEN_RESPONSE = "broken_response"
    BAD_ENCODING = "bad_encoding"
    TOO_MANY_HEADERS = "too_many_headers"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    REDIRECT_WITHOUT_TARGET = "redirect_to_nowhere"
    HTTP_ERROR = "http_error"
    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    WORKER_LOST = "migrant_lost"
    MIGRANT_REFUSED = "host_refused"  # a host beside the web server did not obey our letter
    DIGEST_MISMATCH = "digest_mismatch"  # it sent a body that is not the one it speaks of
    FALSE_UNCHANGED = "host_lied"  # it called a page unchanged that did change


class UrlRole(StrEnum):
    """What a URL is for."""

    PAGE = "page"
    SITEMAP = "sitemap"
    FEED = "feed"
    CHANGE_LIST = "changes"  # a list of what changed since a time, by the site itself
    TVI_FILE = "side"  # a small file with the volatile parts of a page (TVI)
    RESOURCE = "resource"  # an image, script or style sheet that pages use


class CandidateUrl(Struct, frozen=True, gc=False):
    """A URL somebody found: to be queued if it is new."""

    url: Url
    request_url: str = ""  # the spelling that goes on the wire; empty if it is the key itself
    depth: int = 0
    source: UrlSource = UrlSource.LINK
    referrer_id: int = 0  # id of the page it was found on; 0 for none
    hops: int = 0  # redirects that led here
    rank: float = 0.0  # place in its host's queue; smaller is sooner
    role: UrlRole = UrlRole.PAGE


class Link(Struct, frozen=True, array_like=True, gc=False):
    """One link of a page, resolved and normalised by the migrant."""

    url: Url
    request_url: str = ""
    anchor: str = ""
    nofollow: bool = False
    topic_score: float = 0.0  # in a focused crawl: what its words, and those around it, say of the topic
    tag_path: str = ""  # in a driven crawl: the tags above it


class SitemapHint(Struct, frozen=True, array_like=True, gc=False):
    """What a sitemap or feed says of one page."""

    url: Url
    request_url: str = ""
    lastmod: float = 0.0  # 0: it does not say
    is_date_only: bool = False  # lastmod names a day, not a moment
    changefreq: str = ""
    priority: float = -1.0  # -1: it does not say
    is_deleted: bool = False  # a list of changes says that it is no more


class FileRef(Struct, frozen=True, array_like=True, gc=False):
    """A sitemap or feed that a page, an index or a robots.txt names."""

    url: Url
    request_url: str = ""
    role: UrlRole = UrlRole.SITEMAP


class StoredVersion(Struct, frozen=True, array_like=True, gc=False):
    """Where the archive keeps the last version of a page."""

    file: str
    offset: int
    length: int
    charset: str = ""
    has_fingerprint: bool = False  # the full mark of that version is kept too
    stable_hash: bytes = b""  # of that version without what no mark sees; empty: nobody knows
    is_page: bool = True  # else there is nothing in it that a page could be compared with


SUSPECT_LOSSES = 3  # losses: one or two migrants may have been lost over anything


class FetchTask(Struct, frozen=True, array_like=True, gc=False):
    """One URL of an itinerary, with what is known of the last visit."""

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
    last_version: StoredVersion | None = None  # None: there is none, or nothing of it is wanted
    losses: int = 0  # migrants lost that may have been at it

    @property
    def is_suspect(self) -> bool:
        """Say whether migrants may have been lost over it: it is asked for with nothing beside it."""
        return self.losses >= SUSPECT_LOSSES


class RobotsTxt(Struct, frozen=True):
    """What a host's robots.txt said, and until when we believe it."""

    host: Host
    status: int  # HTTP status; 0 if it could not be reached
    body: bytes
    fetched_at: float
    expires_at: float

    @property
    def is_reachable(self) -> bool:
        """A 4xx means no rules; a 5xx or no answer means keep out (RFC 9309, 2.3.1)."""
        return 200 <= self.status < 500 and self.status != 429


class TemplateFilter(Struct, frozen=True):
    """What a specialised migrant carries, the STRUCT buffer: structures to look for, and what they are worth."""

    templates: tuple[frozenset[int], ...]  # the features of the samples
    weights: dict[int, float] = {}  # how rare their features are among the pages seen so far; empty: all the same
    default_weight: float = 1.0  # the weight of any other feature
    min_similarity: float = 0.4  # likeness that counts as a match: theta_low


class FetchBatch(Struct, frozen=True):
    """One errand for one migrant: some URLs of one host, and how gently to knock."""

    host: Host
    tasks: tuple[FetchTask, ...]
    addresses: tuple[str, ...] = ()  # resolved and pinned by the coordinator; empty behind a proxy
    robots: RobotsTxt | None = None  # None: fetch it first
    delay_seconds: float = 1.0
    max_connections: int = 1
    template_filter: TemplateFilter | None = None  # bring home only pages like these


class Visit(Struct, frozen=True):
    """What a migrant saw at one stop."""

    id: int
    token: int
    url: Url
    outcome: Outcome
    visited_at: float
    reason: Reason = Reason.NONE
    detail: str = ""  # the detail of a failure, in one line
    status: int = 0
    duration_seconds: float = 0.0
    mime: str = ""
    charset: str = ""
    etag: str = ""
    last_modified: str = ""
    digest: bytes = b""  # SHA-256 of the body with content coding removed
    size: int = 0  # bytes of that body
    received_bytes: int = 0  # bytes that came over the network, headers too
    address: str = ""
    location: str = ""  # target of a redirect, as a wire URL
    retry_after: float = 0.0  # seconds the server asked for
    title: str = ""
    language: str = ""
    canonical: Url = Url("")
    noindex: bool = False  # the page itself says so
    header_noindex: bool = False  # a header says noindex; it may without the page being another
    nofollow: bool = False
    links: tuple[Link, ...] = ()  # on the way home they may be packed already, as `msgspec.Raw`
    links_dropped: int = 0  # links beyond the cap
    role: UrlRole = UrlRole.PAGE
    file_refs: tuple[FileRef, ...] = ()
    resources: tuple[FileRef, ...] = ()  # images, scripts and style sheets of the page, where a crawl wants them
    sitemap_hints: tuple[SitemapHint, ...] = ()
    change_list_until: str = ""  # of a list of changes: the LAST_VISIT of the next question
    change_list_next: str = ""  # of a list of changes: where this answer goes on
    head: bytes = b""  # status line and headers, as stored in the WARC record
    response_record: bytes = b""  # a finished gzip member: the WARC response record
    request_record: bytes = b""  # the same for the request record
    metadata_record: bytes = b""  # the same for the metadata record
    record_id: str = ""  # of the response record
    payload_digest: str = ""  # its WARC-Payload-Digest
    fingerprints: dict[
        str, bytes
    ] = {}  # what the rooms later ask of a page, computed once: sketch, signatures, structure


class Heartbeat(Struct, frozen=True):
    """How a migrant is: what the scheduler weighs; also the heartbeat."""

    worker: str
    sent_at: float
    pending_tasks: int = 0  # stops in hand
    cpu_share: float = 0.0
    memory_bytes: int = 0
    free_memory_bytes: int = 0
    free_disk_bytes: int = 0
    bytes_per_second: float = 0.0
    latency_seconds: float = 0.0
    page_count: int = 0


class WorkerReport(Struct, frozen=True):
    """What a migrant brings home at once."""

    worker: str
    visits: tuple[Visit, ...] = ()
    robots: tuple[RobotsTxt, ...] = ()
    heartbeat: Heartbeat | None = None
    suspect_token: int = 0  # fencing token of a suspect that is asked for now, with nothing beside it; 0: none

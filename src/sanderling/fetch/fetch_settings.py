"""Settings of the fetch loop, fixed for a crawl."""

import re
from typing import Literal

from msgspec import Struct

from sanderling import __version__
from sanderling.config.redact import HEADER_NAME, parse_header_name
from sanderling.errors import UsageError
from sanderling.models import UrlRole

HEADER_PATTERN = re.compile(rf"{HEADER_NAME.pattern}:[^\x00-\x1f\x7f]*")
RESERVED_HEADERS = re.compile(r"content-length|transfer-encoding|expect|upgrade|range|if-.*", re.IGNORECASE)
MIB = 1024 * 1024
LATENCY_FACTOR = 5.0  # delay = response time times this (Heritrix)
MAX_LATENCY_DELAY = 30.0  # (Heritrix)
MAX_SITEMAP_BYTES = 50 * MIB  # sitemaps.org


class FetchSettings(Struct, frozen=True):
    """Settings of all workers. Sizes in bytes, times in seconds."""

    user_agent: str = f"sanderling/{__version__}"
    headers: tuple[str, ...] = ()  # "Name: value"; replace default headers of the same name
    accepted_types: tuple[str, ...] = ()  # media types to store, "text/html" or "image/*"; empty: all
    basic_auth: dict[str, str] = {}  # host name -> "user:password"; never written to the archive
    bearer: dict[str, str] = {}  # host name -> token; never written to the archive
    cookies: bool = False
    cookie_jar: str = ""  # file with cookies of earlier runs; updated when a transport is closed
    purpose: Literal["search", "archive", "ai-input", "ai-train"] = "search"
    signing_key: bytes = b""  # Ed25519; empty: requests are not signed
    signature_agent: str = ""  # origin of the key directory
    proxy: str = ""  # "http://...", "socks5h://..."; proxies of the environment are ignored
    http2: bool = True  # if the server offers it over TLS

    allow_private: bool = False  # connect to loopback, private and other non-global addresses
    insecure_hosts: tuple[str, ...] = ()  # host names whose TLS certificate is not checked
    own_hosts: tuple[str, ...] = ()  # host names of the user, whose robots.txt rules are waived
    ca_file: str = ""  # CA bundle; empty: that of the system

    connect_timeout: float = 10.0  # DNS, TCP and TLS together (as Nutch, StormCrawler and YaCy)
    idle_timeout: float = 20.0  # at less than MIN_BYTES_PER_SECOND; whole seconds
    timeout: float = 60.0  # whole request (as BUbiNG and Crawlee)
    robots_timeout: float = 8.0

    max_body: int = 20_000_000  # as sent, and again when decoded (YaCy 10 MB, Nutch 1 MB, Scrapy 1 GB)
    max_head: int = 64 * 1024  # status line and headers (servers accept 8 to 64 KiB)
    max_robots: int = 500 * 1024  # RFC 9309, 2.5
    max_page: int = 10 * MIB  # larger pages are stored but not parsed; the parser may need 50 times the size
    max_in_flight: int = 256  # requests to all hosts
    max_buffered: int = 256 * MIB  # bodies of all requests in flight

    takes_whole_sites: bool = True  # neither limits nor a scope narrower than a host: a migrant may follow links itself
    lease_seconds: float = 120.0  # a worker without contact for longer has lost its leases
    latency_factor: float = LATENCY_FACTOR
    max_latency_delay: float = MAX_LATENCY_DELAY

    digest: Literal["sha256", "sha1"] = "sha256"  # of WARC records; a visit's own digest is always SHA-256
    archive_folder: str = ""  # last versions of pages; optional for workers
    parking_folder: str = ""  # pages that match no template; empty: no template filter
    topic_weights: dict[str, float] = {}  # words and weights of a focused crawl; empty: no focus
    extracts_requisites: bool = False  # report page requisites, and hash images
    extracts_forms: bool = False  # report forms and lines of text
    post_forms: tuple[tuple[str, tuple[str, ...]], ...] = ()  # recipes: action and names of the fields
    keep_requests: bool = True  # store request records

    render: Literal["auto", "never", "always"] = "never"  # run the scripts of pages in a browser
    render_always: tuple[str, ...] = ()  # regular expressions of URLs; take precedence over `render`
    render_never: tuple[str, ...] = ()
    screenshots: bool = False
    tabs: int = 4  # pages in the browser of a worker at once
    keeps_rendered: bool = False  # no browser is installed: rendered versions stay while their HTML is the same
    allows_unsandboxed: bool = True  # run the browser without its sandbox if it cannot be used

    @property
    def uses_browser(self) -> bool:
        """Return True if any page may be rendered."""
        return self.render != "never" or bool(self.render_always)

    def __post_init__(self) -> None:
        if not HEADER_PATTERN.fullmatch(f"User-Agent: {self.user_agent}"):
            raise UsageError(
                f"--user-agent: {self.user_agent!r} is not a valid header value; write it on a single line"
            )
        for header in self.headers:
            name = parse_header_name(header)  # the value may be a secret and is not printed
            if not HEADER_PATTERN.fullmatch(header):
                raise UsageError(
                    f"--header: {name or 'value'} is not a valid request header; write 'Name: value' on a single line"
                )
            if RESERVED_HEADERS.fullmatch(name):  # it would change the meaning of the request
                raise UsageError(f"--header: {name} cannot be set: it would change the meaning of the request")
        if any(header.lower().startswith("user-agent:") for header in self.headers):
            raise UsageError("set the user agent with --user-agent: its name selects the rules of robots.txt")

    def get_max_body(self, role: UrlRole) -> int:
        """Return the body limit for a role; 50 MB for sitemaps by their protocol."""
        return (
            self.max_body
            if role in (UrlRole.PAGE, UrlRole.REQUISITE, UrlRole.TVI_FILE)
            else max(self.max_body, MAX_SITEMAP_BYTES)
        )

    @property
    def agent_token(self) -> str:
        """Return the product token that robots.txt rules are matched with."""
        return parse_product_token(self.user_agent)


def parse_product_token(user_agent: str) -> str:
    """Return the product token of a user agent (RFC 9309, 2.2.1).

    `Mozilla/5.0 (compatible; NAME/1.0 ...` gives NAME.
    """
    match = re.match(r"Mozilla/[\d.]+ \(compatible; *([^/;\s()]+)", user_agent)
    return match[1] if match else re.split(r"[/\s]", user_agent, maxsplit=1)[0]

"""How a migrant behaves on its way: names, limits and patience, fixed for one crawl."""

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
LATENCY_FACTOR = 5.0  # a host that needs n seconds per page rests for n times this (Heritrix)
MAX_LATENCY_DELAY = 30.0  # but no longer than this (Heritrix)
MAX_SITEMAP_BYTES = 50 * MIB  # sitemaps.org


class FetchSettings(Struct, frozen=True):
    """What every trip of a crawl has in common. Sizes in bytes, times in seconds."""

    user_agent: str = f"sanderling/{__version__}"
    headers: tuple[str, ...] = ()  # extra request headers, "Name: value"; they replace ours of the same name
    accepted_types: tuple[str, ...] = ()  # media types kept, "text/html" or "image/*"; empty: all
    basic_auth: dict[str, str] = {}  # host name -> "user:password"; never written to the archive
    cookies: bool = False
    proxy: str = ""  # "http://...", "socks5h://..."; the environment's proxies are not used
    http2: bool = True  # where the server offers it over TLS

    allow_private: bool = False  # connect to loopback, private and other non-global addresses
    insecure_hosts: tuple[str, ...] = ()  # host names whose TLS certificate is not checked
    own_hosts: tuple[str, ...] = ()  # host names of our user, whose robots.txt forbids us nothing
    ca_file: str = ""  # certificates to trust; empty: those of the system

    connect_timeout: float = 10.0  # name, TCP and TLS together (Nutch, StormCrawler and YaCy wait as long)
    idle_timeout: float = 20.0  # fewer than SLOW_BYTES per second for this long; whole seconds
    timeout: float = 60.0  # one whole request (BUbiNG and Crawlee wait as long)
    robots_timeout: float = 8.0  # the same for robots.txt

    max_body: int = (
        20_000_000  # as sent, and again with content coding removed (YaCy keeps 10 MB, Nutch 1, Scrapy 1000)
    )
    max_head: int = 64 * 1024  # status line and headers together (servers take 8 to 64 KiB from clients)
    max_robots: int = 500 * 1024  # RFC 9309, 2.5
    max_page: int = 10 * MIB  # larger pages are stored, not parsed; the parser may need 50 times the size
    max_in_flight: int = 256  # requests at once, over all hosts
    max_buffered: int = 256 * MIB  # bodies half received, over all requests

    lease_seconds: float = 120.0  # a worker without contact for longer has lost its leases, and returns its URLs
    latency_factor: float = LATENCY_FACTOR
    max_latency_delay: float = MAX_LATENCY_DELAY

    digest: Literal["sha256", "sha1"] = "sha256"  # of WARC records; a visit's own digest is always SHA-256
    archive_folder: str = ""  # folder of the last versions of pages; migrants that cannot reach it do without
    parking_folder: str = ""  # folder of what specialised migrants keep for later; empty: nothing is looked for there
    topic_weights: dict[str, float] = {}  # words and weights of a focused crawl; empty: no focus
    extracts_resources: bool = False  # name the images, scripts and style sheets of pages, and see how images look
    keep_requests: bool = True  # pack what we asked beside what came

    def __post_init__(self) -> None:
        if not HEADER_PATTERN.fullmatch(f"User-Agent: {self.user_agent}"):
            raise UsageError(
                f"--user-agent: {self.user_agent!r} cannot stand in a request header; write it on one line"
            )
        for header in self.headers:
            name = parse_header_name(header)  # no more of it is told: it may be a secret
            if not HEADER_PATTERN.fullmatch(header):
                raise UsageError(f"--header: {name or 'one'} is no request header; write 'Name: value' on one line")
            if RESERVED_HEADERS.fullmatch(name):  # it would ask for something else than the whole page
                raise UsageError(f"--header: {name} is not yours to say: it makes a request another one")
        if any(header.lower().startswith("user-agent:") for header in self.headers):
            raise UsageError("give the user agent with --user-agent: robots.txt is read by that name")

    def get_max_body(self, role: UrlRole) -> int:
        """Sitemaps may be larger than pages: the protocol grants them 50 MB."""
        return (
            self.max_body
            if role in (UrlRole.PAGE, UrlRole.RESOURCE, UrlRole.TVI_FILE)
            else max(self.max_body, MAX_SITEMAP_BYTES)
        )

    @property
    def agent_token(self) -> str:
        """The name robots.txt calls us by."""
        return parse_product_token(self.user_agent)


def parse_product_token(user_agent: str) -> str:
    """The name robots.txt calls a user agent by (RFC 9309, 2.2.1).

    Where it begins as browsers do, `Mozilla/5.0 (compatible; NAME/1.0 ...`, it is the name inside.
    """
    inside = re.match(r"Mozilla/[\d.]+ \(compatible; *([^/;\s()]+)", user_agent)
    return inside[1] if inside else re.split(r"[/\s]", user_agent, maxsplit=1)[0]

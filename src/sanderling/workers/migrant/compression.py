"""Chooses how the first response about a site is compressed.

Where the web server sends plain pages, fast zstd saves most bytes. Where it compresses, fast zstd would save only half.
"""

import socket
from collections.abc import Mapping
from contextlib import closing

from sanderling.fetch.host_queue import parse_endpoint
from sanderling.fetch.transport import HostEndpoint
from sanderling.models import Host
from sanderling.urls.normalize import get_host, normalize_url, split_url
from sanderling.workers.migrant.messages import MigrantRequest
from sanderling.workers.migrant.owner_rules import SiteRules
from sanderling.workers.migrant.rate_limit import SiteRateLimiter

PROBE_TIMEOUT_SECONDS = 5.0
MAX_SEARCHED_URLS = 100  # URLs of a request that are tried for a probe


class CompressionPolicy:
    """Probes each web server once, within its rate limit."""

    def __init__(self, rate_limiters: Mapping[str, SiteRateLimiter]) -> None:
        self.rate_limiters = rate_limiters
        self.compresses_by_site: dict[str, bool] = {}

    def should_minimize_size(self, site: SiteRules, request: MigrantRequest) -> bool:
        if site.compression != "auto" or site.root:
            return site.compression == "small"
        if site.site not in self.compresses_by_site:
            compresses = self._probe_site(site, request)
            if compresses is None:
                return False
            self.compresses_by_site[site.site] = compresses
        return self.compresses_by_site[site.site]

    def _probe_site(self, site: SiteRules, request: MigrantRequest) -> bool | None:
        path, rate_limiter = find_allowed_path(site, request), self.rate_limiters[site.site]
        if path is None:
            return None
        while not rate_limiter.acquire(1):
            rate_limiter.wait()
        return probe_compression(site, path)


def find_allowed_path(site: SiteRules, request: MigrantRequest) -> str | None:
    for requested in request.urls[:MAX_SEARCHED_URLS]:
        url = normalize_url(site.site + requested.path)
        if url and get_host(url.url) == site.site and site.is_path_allowed(split_url(url.url)[1]):
            return split_url(url.request_url)[1]
    return None


def probe_compression(site: SiteRules, path: str) -> bool | None:
    """Return whether the web server compresses a page, or None without a response."""
    from http.client import HTTPConnection, HTTPException

    endpoint = parse_endpoint(Host(site.site))
    try:
        with closing(HTTPConnection(endpoint.hostname, endpoint.port)) as connection:
            connection.sock = _connect_to_server(site, endpoint)
            connection.request("HEAD", path, headers={"Accept-Encoding": "gzip, br, zstd"})
            return bool(connection.getresponse().headers.get("Content-Encoding"))
    except (OSError, HTTPException, ValueError):
        return None


def _connect_to_server(site: SiteRules, endpoint: HostEndpoint) -> socket.socket:
    """Connect to the address set by the owner, not through DNS."""
    sock = socket.create_connection((site.address, endpoint.port), PROBE_TIMEOUT_SECONDS)
    if not site.site.startswith("https:"):
        return sock
    import ssl

    return ssl.create_default_context().wrap_socket(sock, server_hostname=endpoint.hostname)

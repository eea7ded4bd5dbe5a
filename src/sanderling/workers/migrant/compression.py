"""How a first answer is packed: small where the web server compresses its pages too, and fast where it does not."""

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
MAX_SEARCHED_URLS = 100  # stops among which one to ask for is found


class CompressionPolicy:
    """Remembers which web servers compress; each is asked once, by the gate of its site as for any page."""

    def __init__(self, rate_limiters: Mapping[str, SiteRateLimiter]) -> None:
        self.rate_limiters = rate_limiters
        self.compresses_by_site: dict[str, bool] = {}

    def should_minimize_size(self, site: SiteRules, request: MigrantRequest) -> bool:
        """Is a first answer worth the work of packing it small?"""
        if site.compression != "auto" or site.root:
            return site.compression == "small"
        if site.site not in self.compresses_by_site:
            found = self._probe_site(site, request)
            if found is None:
                return False
            self.compresses_by_site[site.site] = found
        return self.compresses_by_site[site.site]

    def _probe_site(self, site: SiteRules, request: MigrantRequest) -> bool | None:
        """Does it compress? None if it does not say."""
        path, gate = find_allowed_path(site, request), self.rate_limiters[site.site]
        if path is None:
            return None
        while not gate.acquire(1):
            gate.wait()
        return probe_compression(site, path)


def find_allowed_path(site: SiteRules, request: MigrantRequest) -> str | None:
    """The first path of a letter that the owner admits, spelled as it is sent."""
    for stop in request.urls[:MAX_SEARCHED_URLS]:
        spelling = normalize_url(site.site + stop.path)
        if spelling and get_host(spelling.url) == site.site and site.is_path_allowed(split_url(spelling.url)[1]):
            return split_url(spelling.request_url)[1]
    return None


def probe_compression(site: SiteRules, path: str) -> bool | None:
    """Does the web server compress this page? None if it does not answer."""
    from http.client import HTTPConnection, HTTPException

    door = parse_endpoint(Host(site.site))
    try:
        with closing(HTTPConnection(door.hostname, door.port)) as link:
            link.sock = _connect_to_server(site, door)
            link.request("HEAD", path, headers={"Accept-Encoding": "gzip, br, zstd"})
            return bool(link.getresponse().headers.get("Content-Encoding"))
    except (OSError, HTTPException, ValueError):
        return None


def _connect_to_server(site: SiteRules, endpoint: HostEndpoint) -> socket.socket:
    """The site's own web server, at the address its owner named."""
    plain = socket.create_connection((site.address, endpoint.port), PROBE_TIMEOUT_SECONDS)
    if not site.site.startswith("https:"):
        return plain
    import ssl

    return ssl.create_default_context().wrap_socket(plain, server_hostname=endpoint.hostname)

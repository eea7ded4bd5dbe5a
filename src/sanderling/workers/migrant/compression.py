"""How a first answer is packed: small where the web server compresses its pages too, and fast where it does not."""

import socket
from collections.abc import Mapping
from contextlib import closing

from sanderling.fetch.curl_transfer import Door
from sanderling.fetch.host_queue import door_of
from sanderling.models import Host
from sanderling.urls.normalize import host_of, normalise, split
from sanderling.workers.migrant.messages import Letter
from sanderling.workers.migrant.owner_rules import Site
from sanderling.workers.migrant.rate_limit import Gate

ASK_SECONDS = 5.0
LOOKED_THROUGH = 100  # stops among which one to ask for is found


class Packing:
    """Remembers which web servers compress; each is asked once, by the gate of its site as for any page."""

    def __init__(self, gates: Mapping[str, Gate]) -> None:
        self.gates = gates
        self.known: dict[str, bool] = {}

    def is_small(self, site: Site, letter: Letter) -> bool:
        """Is a first answer worth the work of packing it small?"""
        if site.pack != "auto" or site.root:
            return site.pack == "small"
        if site.site not in self.known:
            found = self._ask(site, letter)
            if found is None:
                return False
            self.known[site.site] = found
        return self.known[site.site]

    def _ask(self, site: Site, letter: Letter) -> bool | None:
        """Does it compress? None if it does not say."""
        path, gate = first_admitted(site, letter), self.gates[site.site]
        if path is None:
            return None
        while not gate.admit(1):
            gate.wait()
        return compresses(site, path)


def first_admitted(site: Site, letter: Letter) -> str | None:
    """The first path of a letter that the owner admits, spelled as it is sent."""
    for stop in letter.stops[:LOOKED_THROUGH]:
        spelling = normalise(site.site + stop.path)
        if spelling and host_of(spelling.url) == site.site and site.admits(split(spelling.url)[1]):
            return split(spelling.wire)[1]
    return None


def compresses(site: Site, path: str) -> bool | None:
    """Does the web server compress this page? None if it does not answer."""
    from http.client import HTTPConnection, HTTPException

    door = door_of(Host(site.site))
    try:
        with closing(HTTPConnection(door.name, door.port)) as link:
            link.sock = _reach(site, door)
            link.request("HEAD", path, headers={"Accept-Encoding": "gzip, br, zstd"})
            return bool(link.getresponse().headers.get("Content-Encoding"))
    except (OSError, HTTPException, ValueError):
        return None


def _reach(site: Site, door: Door) -> socket.socket:
    """The site's own web server, at the address its owner named."""
    plain = socket.create_connection((site.address, door.port), ASK_SECONDS)
    if not site.site.startswith("https:"):
        return plain
    import ssl

    return ssl.create_default_context().wrap_socket(plain, server_hostname=door.name)

"""Where a host beside a web server is. What a connection needs is loaded when one is made: most crawls make none."""

import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from sanderling.config.redact import redact_password
from sanderling.errors import UsageError
from sanderling.models import Host

if TYPE_CHECKING:
    import http.client

DEFAULT_TIMEOUT_SECONDS = 120.0


class MigrantAddress(Struct, frozen=True):
    """Where a host is and how we identify ourselves there."""

    url: str
    key_file: str
    ca_file: str = ""
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    dictionary_folder: str = ""  # folder for what was said at earlier visits; empty: remember nothing
    check_interval: int = 200  # one in so many pages that the host calls unchanged is fetched from here; 0: none

    @property
    def receiver(self) -> str:
        """The host's name: its authority."""
        return urlsplit(self.url).netloc

    def connect(self) -> "http.client.HTTPConnection":
        """Open a connection."""
        import http.client
        import ssl

        parts = urlsplit(self.url)
        if parts.scheme == "http":
            return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=self.timeout_seconds)
        context = ssl.create_default_context(cafile=self.ca_file or None)
        return http.client.HTTPSConnection(
            parts.hostname or "", parts.port, timeout=self.timeout_seconds, context=context
        )

    def fetch_sites(self) -> list[Host]:
        """Ask which sites the host speaks for."""
        if urlsplit(self.url).scheme not in ("http", "https") or not urlsplit(self.url).hostname:
            raise UsageError(f"{redact_password(self.url)!r} is no address of a host; write https://host.example:8443")
        from http.client import HTTPException

        from sanderling.workers.migrant.keys import load_key

        load_key(Path(self.key_file))
        try:
            link = self.connect()
            link.request("GET", "/")
            found = json.loads(link.getresponse().read(2**20))
            link.close()
            return [Host(str(site)) for site in found["sites"]]
        except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"no host answers at {redact_password(self.url)}: {error}") from None

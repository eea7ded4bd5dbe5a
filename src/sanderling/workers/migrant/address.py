"""Address of a migrant. HTTP and TLS modules are imported on connection."""

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
    """URL of a migrant, and the key and certificates to connect to it."""

    url: str
    key_file: str
    ca_file: str = ""
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    dictionary_folder: str = ""  # folder of shared dictionaries; empty: none are stored
    check_interval: int = 200  # one in this many pages reported as unchanged is fetched directly; 0: none

    @property
    def receiver(self) -> str:
        """Return the name of the migrant: host and port of its URL."""
        return urlsplit(self.url).netloc

    def connect(self) -> "http.client.HTTPConnection":
        """Create an HTTP or HTTPS connection, which opens with its first request."""
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
        """Return the sites of the migrant. Raises UsageError if it cannot be reached."""
        if urlsplit(self.url).scheme not in ("http", "https") or not urlsplit(self.url).hostname:
            raise UsageError(
                f"{redact_password(self.url)!r} is not the address of a migrant; write https://www.example.org:8443"
            )
        from http.client import HTTPException

        from sanderling.workers.migrant.keys import load_key

        load_key(Path(self.key_file))
        try:
            connection = self.connect()
            connection.request("GET", "/")
            description = json.loads(connection.getresponse().read(2**20))
            connection.close()
            return [Host(str(site)) for site in description["sites"]]
        except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"no migrant answers at {redact_password(self.url)}: {error}") from None

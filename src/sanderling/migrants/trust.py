"""Which certificates to trust: the system's, wherever this system keeps them.

The curl inside the pycurl wheel was built on another system and looks where that one keeps its certificates.
"""

import os
from pathlib import Path

from sanderling.errors import UsageError

PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, Red Hat
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",  # Alpine, macOS, BSD
)


def ca_file(chosen: str = "", places: tuple[str, ...] = PLACES) -> str:
    """Find the file of certificates: the one chosen, the environment's, the system's, or the one that came with us."""
    if chosen:
        if not Path(chosen).is_file():
            raise UsageError(f"there is no file of certificates at {chosen}")
        return chosen
    for place in (os.environ.get("SSL_CERT_FILE", ""), *places):
        if place and Path(place).is_file():
            return place
    import certifi

    return certifi.where()

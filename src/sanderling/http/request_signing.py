"""Sign requests, so that sites can verify who crawls: HTTP message signatures (RFC 9421) as Web Bot Auth uses them.

draft-ietf-webbotauth-httpsig-protocol: the signature covers the authority and the address of the key directory.
"""

import hashlib
import json
import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any

from sanderling.clock import Clock, system_clock
from sanderling.errors import MissingExtra
from sanderling.models import Host

LIFETIME_SECONDS = 300  # clocks of servers differ
NONCE_BYTES = 32
LABEL = "sig1"
BARE_PORT = re.compile(r":\d+$")
DIRECTORY_PATH = ".well-known/http-message-signatures-directory"


class RequestSigner:
    """Signs requests with an Ed25519 key."""

    def __init__(self, private_key: bytes, agent_url: str, clock: Clock = system_clock) -> None:
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        except ImportError:
            raise MissingExtra("signing requests", "sign") from None
        self._key = Ed25519PrivateKey.from_private_bytes(private_key)
        self._key_id = compute_key_id(self._key.public_key().public_bytes_raw())
        self._agent_url, self._clock = agent_url, clock

    def sign(self, host: Host) -> tuple[bytes, ...]:
        """Return the header lines of a request to a host."""
        created = int(self._clock())
        nonce = b64encode(os.urandom(NONCE_BYTES)).decode()
        agent = f'"{self._agent_url}"'
        components, covered = '"@authority"', [f'"@authority": {host.partition("://")[2].lower()}']
        if self._agent_url:
            components += f' "signature-agent";key="{LABEL}"'
            covered.append(f'"signature-agent";key="{LABEL}": {agent}')
        parameters = (
            f'({components});created={created};expires={created + LIFETIME_SECONDS};keyid="{self._key_id}"'
            f';alg="ed25519";nonce="{nonce}";tag="web-bot-auth"'
        )
        base = "\n".join([*covered, f'"@signature-params": {parameters}'])
        signature = b64encode(self._key.sign(base.encode("ascii"))).decode()
        lines = [f"Signature-Input: {LABEL}={parameters}", f"Signature: {LABEL}=:{signature}:"]
        if self._agent_url:
            lines.append(f"Signature-Agent: {LABEL}={agent}")
        return tuple(line.encode("ascii") for line in lines)


def build_public_jwk(public_key: bytes) -> dict[str, str]:
    """Return a public key as JSON Web Key (RFC 8037)."""
    return {"crv": "Ed25519", "kty": "OKP", "x": urlsafe_b64encode(public_key).decode().rstrip("=")}


def compute_key_id(public_key: bytes) -> str:
    """Return the JWK thumbprint of a public key (RFC 7638)."""
    members = json.dumps(build_public_jwk(public_key), separators=(",", ":"), sort_keys=True)
    return urlsafe_b64encode(hashlib.sha256(members.encode()).digest()).decode().rstrip("=")


def build_key_directory(public_keys: list[bytes]) -> dict[str, Any]:
    """Return the directory to publish: a JSON Web Key Set."""
    return {"keys": [{**build_public_jwk(key), "kid": compute_key_id(key), "use": "sig"} for key in public_keys]}


def build_request_signer(
    private_key: bytes, agent_url: str, clock: Clock, tokens: Mapping[str, str]
) -> Callable[[Host], tuple[bytes, ...]]:
    """Return the function that builds the signature and the bearer token of a request to a host."""
    sign: Callable[[Host], tuple[bytes, ...]] = (
        RequestSigner(private_key, agent_url, clock).sign if private_key else lambda _: ()
    )
    if not tokens:
        return sign
    return lambda host: (*sign(host), *build_authorization(host, tokens))


def build_authorization(host: Host, tokens: Mapping[str, str]) -> tuple[bytes, ...]:
    """Return the header with the token of a host, named with or without its port."""
    authority = host.partition("://")[2].lower()
    token = tokens.get(authority) or tokens.get(BARE_PORT.sub("", authority))
    return (f"Authorization: Bearer {token}".encode(),) if token else ()

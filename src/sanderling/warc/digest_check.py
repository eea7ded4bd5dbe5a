"""Compare the digests of WARC header fields with the bytes that they cover."""

import hashlib
from base64 import b16encode, b32encode, b64encode, urlsafe_b64encode
from typing import Protocol

from sanderling.warc.packer import encode_base32

DIGEST_ALGORITHMS = {
    "sha1": hashlib.sha1,
    "sha256": hashlib.sha256,
    "sha512": hashlib.sha512,
    "md5": hashlib.md5,
}
MAX_BASE32_BYTES = 40  # of `encode_base32`


class Hasher(Protocol):
    """A hashlib object."""

    def update(self, data: bytes | memoryview, /) -> None:
        """Add bytes."""

    def digest(self) -> bytes: ...


class DigestCheck:
    """Compare a declared digest with the bytes read."""

    def __init__(self, declared: str, record_type: str) -> None:
        algorithm, _, self._expected_digest = declared.partition(":")
        algorithm = algorithm.lower().replace("-", "")
        # A revisit has the digest of the original payload.
        self.is_supported = algorithm in DIGEST_ALGORITHMS and record_type != "revisit"
        self._hasher: Hasher | None = DIGEST_ALGORITHMS[algorithm]() if self.is_supported else None

    def update(self, data: bytes | memoryview) -> None:
        if self._hasher:
            self._hasher.update(data)

    def is_valid(self) -> bool:
        """Compare in base 32, 16, and 64, which all occur."""
        digest = self._hasher.digest() if self._hasher else b""
        expected = self._expected_digest.strip().rstrip("=")
        base32 = encode_base32(digest) if len(digest) <= MAX_BASE32_BYTES else b32encode(digest).decode()
        if expected.upper() in (base32.rstrip("="), b16encode(digest).decode()):
            return True
        return expected in [encode(digest).decode().rstrip("=") for encode in (b64encode, urlsafe_b64encode)]

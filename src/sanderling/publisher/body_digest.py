"""Digest page bodies, for applications that send no validators.

Volatile text and markup are removed first. Large and compressed bodies have no digest.
"""

import re
from hashlib import blake2b

MAX_BODY_BYTES = 1 << 20  # buffered for the digest
DIGEST_PREFIX = "body:"  # distinguishes digests from validators in the state file

# Quantifiers are bounded or possessive, and an unclosed comment or script reaches to the end of the body (as in
# browsers), so that matching takes linear time.
_VOLATILE_PATTERNS = tuple(
    re.compile(rule, re.IGNORECASE)
    for rule in (
        rb"<!--[^-]*+(?:-(?!->)[^-]*+)*+(?:-->)?+",
        rb"<script\b[^<]*+(?:<(?!/script)[^<]*+)*+(?:</script)?+",
        rb"<style\b[^<]*+(?:<(?!/style)[^<]*+)*+(?:</style)?+",
        rb"<input\b(?=[^>]{0,2000}\btype\s{0,4}=\s{0,4}[\"']?hidden)[^>]*+>",
        rb"<meta\b(?=[^>]{0,2000}\b(?:csrf|nonce|token))[^>]*+>",
        rb"\b(?:nonce|integrity)=(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"']++)",
        rb"\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?\b(?:\s?[ap]\.?m\b)?",
        rb"\b[0-9]{1,9}(?:\.[0-9]{1,9})?\s?(?:ms|s|secs?|seconds|milliseconds)\b",
    )
)
_WHITESPACE = re.compile(rb"\s+")


class BodyDigest:
    """Collect the chunks of a body, up to `MAX_BODY_BYTES`."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0

    def add(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size <= MAX_BODY_BYTES:
            self._chunks.append(bytes(chunk))
        else:
            self._chunks.clear()

    def compute_digest(self) -> str:
        """Return the digest. Empty or too large bodies have an empty digest."""
        return digest_body(b"".join(self._chunks)) if 0 < self._size <= MAX_BODY_BYTES else ""


def should_digest(status: int, headers: dict[str, str]) -> bool:
    """Return whether a response is a page without validator."""
    is_page = headers.get("content-type", "").lower().startswith(("text/html", "application/xhtml"))
    has_other = any(headers.get(name) for name in ("etag", "last-modified", "content-encoding"))
    return status == 200 and is_page and not has_other


def digest_body(body: bytes) -> str:
    """Digest a body without its volatile text."""
    for rule in _VOLATILE_PATTERNS:
        body = rule.sub(b" ", body)
    return DIGEST_PREFIX + blake2b(_WHITESPACE.sub(b" ", body), digest_size=16).hexdigest()

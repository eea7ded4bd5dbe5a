"""Digest page bodies, for applications that send no validators.

Content codings, volatile text and markup are removed first. Very large bodies and unknown codings have no digest.
"""

import importlib
import re
import zlib
from collections.abc import Callable
from hashlib import blake2b
from typing import NamedTuple

MAX_BODY_BYTES = 4 << 20  # encoded and decoded, to bound the CPU time of a response
BLOCK_BYTES = 1 << 20  # buffered, stripped and hashed at once
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
    """Digest the chunks of a body, up to `MAX_BODY_BYTES` without its content coding."""

    def __init__(self, coding: str = "") -> None:
        self._decoder = build_decoder(coding.strip().lower())
        self._hash, self._block = blake2b(digest_size=16), bytearray()
        self._encoded_size = self._decoded_size = 0

    def add(self, chunk: bytes) -> None:
        self._encoded_size += len(chunk)
        if self._decoder is None or max(self._encoded_size, self._decoded_size) > MAX_BODY_BYTES:
            self._decoder = None
            self._block.clear()
            return
        try:
            decoded = self._decoder.decode(bytes(chunk), MAX_BODY_BYTES + 1 - self._decoded_size)
        except Exception:  # noqa: BLE001 - brotli is imported only where the application has it, with its errors
            self._decoder = None
            return
        self._decoded_size += len(decoded)
        self._block += decoded
        if len(self._block) >= BLOCK_BYTES:
            end = self._block.rfind(b">") + 1 or len(self._block)
            self._hash.update(strip_volatile_text(bytes(self._block[:end])))
            del self._block[:end]

    def compute_digest(self) -> str:
        """Return the digest. Empty, too large, and undecodable bodies have an empty digest."""
        is_known = self._decoder is not None and self._decoder.is_complete()
        if not is_known or not 0 < self._decoded_size <= MAX_BODY_BYTES:
            return ""
        self._hash.update(strip_volatile_text(bytes(self._block)))
        return DIGEST_PREFIX + self._hash.hexdigest()


class CodingDecoder(NamedTuple):
    """Decoder of a content coding, with the standard library or brotli."""

    decode: Callable[[bytes, int], bytes]  # a chunk, up to a size
    is_complete: Callable[[], bool]


def build_decoder(coding: str) -> CodingDecoder | None:
    """Return None for an unknown coding."""
    if coding in ("", "identity"):
        return CodingDecoder(lambda chunk, size: chunk[:size], lambda: True)
    if coding in ("gzip", "x-gzip", "deflate"):
        inflater = zlib.decompressobj(wbits=47)  # gzip or zlib
        return CodingDecoder(inflater.decompress, lambda: inflater.eof and not inflater.unused_data)
    try:
        brotli = importlib.import_module("brotli") if coding == "br" else None
    except ImportError:
        return None
    if brotli is None:
        return None
    decompressor = brotli.Decompressor()
    return CodingDecoder(lambda chunk, size: decompressor.process(chunk, size), decompressor.is_finished)


def should_digest(status: int, headers: dict[str, str]) -> bool:
    """Return whether a response is a page without validator."""
    is_page = headers.get("content-type", "").lower().startswith(("text/html", "application/xhtml"))
    return status == 200 and is_page and not (headers.get("etag") or headers.get("last-modified"))


def strip_volatile_text(body: bytes) -> bytes:
    for rule in _VOLATILE_PATTERNS:
        body = rule.sub(b" ", body)
    return _WHITESPACE.sub(b" ", body)

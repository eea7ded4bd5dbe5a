"""Detect and decode plain text."""

import re

from sanderling.html.encoding import detect_encoding, get_codec, has_byte_order_mark

SNIFFED_BYTES = 1445  # WHATWG MIME sniffing, section 7.2
UTF16_CODECS = frozenset({"utf-16-le", "utf-16-be"})  # their characters contain zero bytes
_search_binary = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]").search


def is_text(body: bytes, charset: str = "") -> bool:
    """Return whether a body can be text; servers label unknown file types as text."""
    return (
        has_byte_order_mark(body)
        or get_codec(charset) in UTF16_CODECS
        or _search_binary(body, 0, SNIFFED_BYTES) is None
    )


def decode_plain_text(body: bytes, charset: str = "") -> str:
    """Decode by byte order mark, declared charset, UTF-8, or windows-1252. Never raises."""
    encoding = detect_encoding(body[:SNIFFED_BYTES], charset)
    if encoding == "utf-8" and not get_codec(charset) and not _is_utf8(body):
        encoding = "cp1252"
    return body.decode(encoding, "replace").removeprefix("\ufeff")


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as fault:
        # A truncated body may end inside a character. If that is its only non-ASCII byte, it is not UTF-8.
        return fault.start > len(body) - 4 and not body[: fault.start].isascii()
    return True

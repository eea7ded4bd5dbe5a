"""Text without markup: whether bytes are text at all, and what they say."""

import re

from sanderling.html.encoding import detect_encoding, get_codec, has_byte_order_mark

SNIFFED_BYTES = 1445  # bytes at the beginning that tell (WHATWG, MIME sniffing, 7.2)
UTF16_CODECS = frozenset({"utf-16-le", "utf-16-be"})  # encodings whose letters hold zeros
_search_binary = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]").search


def is_text(body: bytes, charset: str = "") -> bool:
    """Say whether bytes that are called text can be: servers call files so whose type they do not know."""
    return (
        has_byte_order_mark(body)
        or get_codec(charset) in UTF16_CODECS
        or _search_binary(body, 0, SNIFFED_BYTES) is None
    )


def decode_plain_text(body: bytes, charset: str = "") -> str:
    """Read bytes as text by their mark, the declared charset, UTF-8, else windows-1252; never fails."""
    encoding = detect_encoding(body[:SNIFFED_BYTES], charset)
    if encoding == "utf-8" and not get_codec(charset) and not _is_utf8(body):
        encoding = "cp1252"
    return body.decode(encoding, "replace").removeprefix("\ufeff")


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as fault:
        # a character may be cut at the end; where it would be the only foreign one, the text is in another encoding
        return fault.start > len(body) - 4 and not body[: fault.start].isascii()
    return True

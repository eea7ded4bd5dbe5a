"""Chunked bodies: we never store one, archives of others may."""

import re

CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[^\r\n]{0,200}\r?\n")


def dechunk(body: bytes) -> bytes:
    """Remove chunking; a body that says it is chunked and is not, is returned as it is."""
    parts: list[bytes] = []
    at = 0
    while size := CHUNK_SIZE.match(body, at):
        count = int(size[1], 16)
        if count == 0:
            return b"".join(parts)
        parts.append(body[size.end() : size.end() + count])
        at = size.end() + count
        at += len(b"\r\n") if body[at : at + 2] == b"\r\n" else 0
    return b"".join(parts) if parts and at >= len(body) else body

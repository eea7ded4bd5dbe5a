"""Undo what a body went through: transfer coding in old archives, content codings; never growing beyond a cap."""

import re
import zlib
from collections.abc import Callable

import brotli
import zstandard

CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[^\r\n]{0,200}\r?\n")
FAULTS = (zlib.error, brotli.error, zstandard.ZstdError)


def decode_body(body: bytes, codings: str, cap: int) -> tuple[bytes, str]:
    """Remove content codings, last applied first; return what came out and, if it went wrong, how.

    What could be decoded before the fault is returned; an unknown coding leaves the body as it is.
    """
    for coding in reversed([name.strip().lower() for name in codings.split(",") if name.strip()]):
        if coding == "identity":
            continue
        if coding not in DECODERS:
            return body, f"content coding {coding[:40]!r} is not known"
        body, problem = DECODERS[coding](body, cap)
        if problem:
            return body, f"{coding}: {problem}"
    return body, ""


def _zlib(body: bytes, cap: int, wbits: int) -> tuple[bytes, str]:
    """Inflate; a gzip body may have several members."""
    parts: list[bytes] = []
    while body and cap > 0:
        inflate = zlib.decompressobj(wbits)
        try:
            part = inflate.decompress(body, cap)
        except zlib.error as error:
            return b"".join(parts), "" if parts else str(error)  # what follows a whole member may be padding
        parts.append(part)
        cap -= len(part)
        if not inflate.eof:
            return b"".join(parts), "it is cut" if cap > 0 else ""
        body = inflate.unused_data
    return b"".join(parts), ""


def _gzip(body: bytes, cap: int) -> tuple[bytes, str]:
    return _zlib(body, cap, 31)


def _deflate(body: bytes, cap: int) -> tuple[bytes, str]:
    """Some servers send the zlib form the standard asks for, some the bare one."""
    found, problem = _zlib(body, cap, 15)
    return (found, problem) if found or not problem else _zlib(body, cap, -15)


def _brotli(body: bytes, cap: int) -> tuple[bytes, str]:
    decoder = brotli.Decompressor()
    parts: list[bytes] = []
    while cap > 0 and not decoder.is_finished():
        try:
            part = decoder.process(body, output_buffer_limit=min(cap, 1 << 20))
        except brotli.error as error:
            return b"".join(parts), str(error)
        if not part:
            return b"".join(parts), "it is cut"
        parts.append(part[:cap])
        cap -= len(part)
        body = b""
    return b"".join(parts), ""


def _zstd(body: bytes, cap: int) -> tuple[bytes, str]:
    reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(body, read_across_frames=True)
    try:
        found = reader.read(cap)
    except zstandard.ZstdError as error:
        return b"", str(error)
    return found, "it is cut" if not found else ""


DECODERS: dict[str, Callable[[bytes, int], tuple[bytes, str]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}


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

"""Pack what was seen into finished WARC/1.1 records, each one gzip member; the coordinator only appends them.

Which bytes each checksum covers is written down in docs/decisions/0010-warc-checksums.md.
"""

import hashlib
import re
import time
from collections.abc import Iterable
from functools import lru_cache
from random import getrandbits
from typing import Literal

from msgspec import Struct

from sanderling.warc.http_head import closed, stored_head

try:
    from isal.isal_zlib import compress
except ImportError:  # no wheel for this machine: the same bytes inside, three times the work
    from zlib import compress

Field = tuple[str, str]
Algorithm = Literal["sha256", "sha1"]
Truncated = Literal["", "length", "time", "disconnect", "unspecified"]

ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
LETTERS = ALPHABET + bytes(256 - len(ALPHABET))
LEVEL = 1
CRLF = "\r\n"
HASHES = {"sha256": hashlib.sha256, "sha1": hashlib.sha1}
GZIP = 31  # window of 32 KB, with gzip header and trailer
PROTOCOLS = {b"HTTP/2": "h2", b"HTTP/3": "h3"}
UNWRITABLE = re.compile(r"[\x00-\x20\x7f]")


def _spreading() -> list[tuple[int, int, int]]:
    """Steps that give each of 64 groups of five bits a byte of its own: halves move apart, then their halves."""
    steps = []
    for half in (32, 16, 8, 4, 2, 1):
        low = sum(((1 << 5 * half) - 1) << 16 * half * place for place in range(32 // half))
        steps.append((3 * half, low, low << 5 * half))
    return steps


SPREADING = _spreading()


class Exchange(Struct, frozen=True):
    """One HTTP answer as it came: head as received, body with transfer coding removed, content coding kept."""

    url: str  # the spelling that went on the wire
    at: float
    head: bytes
    body: bytes = b""
    address: str = ""
    truncated: Truncated = ""  # why the body is cut, if it is
    digest: bytes = b""  # of `body` by the algorithm asked for, if somebody already has it


class Packed(Struct, frozen=True):
    """A finished record: append `member` to a WARC file."""

    record_id: str  # without the angle brackets
    member: bytes
    payload_digest: str = ""
    head: bytes = b""  # status line and headers as they stand in the record


def pack_response(seen: Exchange, algorithm: Algorithm = "sha256") -> Packed:
    """Pack an HTTP answer as a `response` record."""
    head = stored_head(seen.head, len(seen.body))
    payload = label(algorithm, seen.digest or HASHES[algorithm](seen.body).digest())
    block = HASHES[algorithm](head)
    block.update(seen.body)
    whole = label(algorithm, block.digest())
    record_id = new_record_id()
    protocol = PROTOCOLS.get(seen.head[:6])
    lines = (
        f"{opening('response', record_id, seen.at, seen.url)}{_at(seen.address)}"
        f"{f'WARC-Protocol: {protocol}{CRLF}' if protocol else ''}"
        f"{f'WARC-Truncated: {seen.truncated}{CRLF}' if seen.truncated else ''}"
        f"WARC-Payload-Digest: {payload}\r\nWARC-Block-Digest: {whole}\r\n"
        "Content-Type: application/http;msgtype=response\r\n"
    )
    return Packed(record_id, pack_record(lines, head, seen.body), payload, head)


def pack_request(seen: Exchange, response_id: str, algorithm: Algorithm = "sha256") -> Packed:
    """Pack what we asked as a `request` record beside its answer; `seen.head` and `.body` are the request's."""
    block = closed(seen.head) + seen.body
    whole = label(algorithm, HASHES[algorithm](block).digest())
    record_id = new_record_id()
    lines = (
        f"{opening('request', record_id, seen.at, seen.url)}{_at(seen.address)}"
        f"WARC-Concurrent-To: <{response_id}>\r\nWARC-Block-Digest: {whole}\r\n"
        "Content-Type: application/http;msgtype=request\r\n"
    )
    return Packed(record_id, pack_record(lines, block), head=block)


def pack_metadata(
    url: str, at: float, facts: Iterable[Field], response_id: str, algorithm: Algorithm = "sha256"
) -> Packed:
    """Pack what we know about a visit (via, hops, links ...) as a `metadata` record beside its answer."""
    block, whole = _said(tuple(facts), algorithm)
    record_id = new_record_id()
    lines = (
        f"{opening('metadata', record_id, at, url)}"
        f"WARC-Concurrent-To: <{response_id}>\r\nWARC-Block-Digest: {whole}\r\n"
        "Content-Type: application/warc-fields\r\n"
    )
    return Packed(record_id, pack_record(lines, block))


@lru_cache(maxsize=1024)  # of most visits the same few things are said
def _said(facts: tuple[Field, ...], algorithm: Algorithm) -> tuple[bytes, str]:
    """Write the block of a metadata record, and its digest."""
    block = warc_fields(facts)
    return block, label(algorithm, HASHES[algorithm](block).digest())


def pack_record(lines: str, block: bytes, rest: bytes = b"") -> bytes:
    """Write one record as one gzip member; `Content-Length` is added here. A large block may come in two parts."""
    head = f"WARC/1.1\r\n{lines}Content-Length: {len(block) + len(rest)}\r\n\r\n".encode("utf-8", "replace")
    member: bytes = compress(b"".join((head, block, rest, b"\r\n\r\n")), LEVEL, GZIP)
    return member


def opening(kind: str, record_id: str, at: float, url: str = "") -> str:
    """The lines every record begins with."""
    return f"WARC-Type: {kind}\r\nWARC-Record-ID: <{record_id}>\r\n{_occasion(at, url)}"


@lru_cache(maxsize=8)  # the records of one visit share it
def _occasion(at: float, url: str) -> str:
    """The lines that say when, and of what."""
    target = f"WARC-Target-URI: {writable(url)}\r\n" if url else ""
    return f"WARC-Date: {warc_date(at)}\r\n{target}"


@lru_cache(maxsize=64)
def _at(address: str) -> str:
    """The line that says who answered."""
    return f"WARC-IP-Address: {writable(address)}\r\n" if address else ""


def header_lines(fields: Iterable[Field]) -> str:
    """Write the lines of a record's head."""
    return "".join([f"{name}: {value}\r\n" for name, value in fields])


def warc_fields(facts: Iterable[Field]) -> bytes:
    """Write `name: value` lines; line breaks inside a value become spaces, so no value can forge a field."""
    return "".join(f"{name}: {' '.join(value.split())}\r\n" for name, value in facts).encode("utf-8", "replace")


def warc_date(at: float) -> str:
    """Write a time as WARC/1.1 does, with microseconds."""
    seconds, micros = divmod(round(at * 1_000_000), 1_000_000)
    return f"{_whole_second(seconds)}.{micros:06d}Z"


@lru_cache(maxsize=64)
def _whole_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def new_record_id() -> str:
    """Draw a random UUID (version 4), as a URN; a process that is a copy of another draws its own."""
    h = f"{getrandbits(128):032x}"
    return f"urn:uuid:{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[int(h[16], 16) & 3]}{h[17:20]}-{h[20:]}"


def label(algorithm: Algorithm, digest: bytes) -> str:
    """Write a digest as WARC files do: `sha256:BASE32`, with the padding that readers compute too."""
    return f"{algorithm}:{base32(digest)}"


def base32(digest: bytes) -> str:
    """Write up to 40 bytes in base 32 (RFC 4648), in a fourth of the time of the standard library: it is done often."""
    written = -(-8 * len(digest) // 5)
    number = int.from_bytes(digest, "big") << 320 - 8 * len(digest)
    for shift, low, high in SPREADING:
        number = number & low | (number & high) << shift
    return number.to_bytes(64, "big").translate(LETTERS)[:written].decode() + "=" * (-written % 8)


def writable(text: str) -> str:
    """Percent-encode what would break a header line."""
    return UNWRITABLE.sub(lambda m: f"%{ord(m[0]):02X}", text)

"""Pack HTTP exchanges into WARC/1.1 records, each a gzip member.

docs/decisions/0010-warc-checksums.md names the bytes that each digest covers.
"""

import hashlib
import re
import time
from collections.abc import Iterable
from functools import lru_cache
from random import getrandbits
from typing import Literal

from msgspec import Struct

from sanderling.warc.http_head import build_stored_head, normalize_head_lines

try:
    from isal.isal_zlib import compress
except ImportError:  # no wheel for this platform; zlib is three times slower
    from zlib import compress

HeaderField = tuple[str, str]
DigestAlgorithm = Literal["sha256", "sha1"]
TruncationReason = Literal["", "length", "time", "disconnect", "unspecified"]

BASE32_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
BASE32_TABLE = BASE32_ALPHABET + bytes(256 - len(BASE32_ALPHABET))
COMPRESSION_LEVEL = 1
CRLF = "\r\n"
HASH_FUNCTIONS = {"sha256": hashlib.sha256, "sha1": hashlib.sha1}
GZIP_WINDOW_BITS = 31  # window of 32 KB, with gzip header and trailer
RENDERED_PREFIX = "urn:dom:"  # of the WARC-Target-URI of rendered pages
SCREENSHOT_PREFIX = "urn:view:"  # of screenshots, as in Browsertrix
BLOCKS_FIELD = "screenshotBlocks"  # of the metadata record of a screenshot: boxes of the page's blocks, as JSON
PROTOCOL_NAMES = {b"HTTP/2": "h2", b"HTTP/3": "h3"}
UNSAFE_HEADER_CHARACTERS = re.compile(r"[\x00-\x20\x7f]")


def _build_base32_steps() -> list[tuple[int, int, int]]:
    """Build shifts and masks that spread 64 groups of five bits over 64 bytes."""
    steps = []
    for half in (32, 16, 8, 4, 2, 1):
        low = sum(((1 << 5 * half) - 1) << 16 * half * place for place in range(32 // half))
        steps.append((3 * half, low, low << 5 * half))
    return steps


BASE32_STEPS = _build_base32_steps()


class HttpExchange(Struct, frozen=True):
    """Without transfer coding but with content coding."""

    url: str  # the request URL
    fetched_at: float
    head: bytes
    body: bytes = b""
    address: str = ""
    truncation_reason: TruncationReason = ""  # empty if the body is complete
    body_digest: bytes = b""  # digest of `body` with the chosen algorithm, if already known


class PackedRecord(Struct, frozen=True):
    """A finished record. Append `member` to a WARC file."""

    record_id: str  # without the angle brackets
    member: bytes
    payload_digest: str = ""
    head: bytes = b""  # status line and headers as stored


def pack_response(
    exchange: HttpExchange, algorithm: DigestAlgorithm = "sha256", page_record_id: str = ""
) -> PackedRecord:
    """Pack a `response` record. `page_record_id`: the record of the rendered page that asked for it."""
    head = build_stored_head(exchange.head, len(exchange.body))
    payload_digest = format_digest(algorithm, exchange.body_digest or HASH_FUNCTIONS[algorithm](exchange.body).digest())
    block_hasher = HASH_FUNCTIONS[algorithm](head)
    block_hasher.update(exchange.body)
    block_digest = format_digest(algorithm, block_hasher.digest())
    record_id = make_record_id()
    protocol = PROTOCOL_NAMES.get(exchange.head[:6])
    lines = (
        f"{format_record_start('response', record_id, exchange.fetched_at, exchange.url)}"
        f"{_format_ip_address(exchange.address)}"
        f"{f'WARC-Protocol: {protocol}{CRLF}' if protocol else ''}"
        f"{f'WARC-Truncated: {exchange.truncation_reason}{CRLF}' if exchange.truncation_reason else ''}"
        f"{f'WARC-Concurrent-To: <{page_record_id}>{CRLF}' if page_record_id else ''}"
        f"WARC-Payload-Digest: {payload_digest}\r\nWARC-Block-Digest: {block_digest}\r\n"
        "Content-Type: application/http;msgtype=response\r\n"
    )
    return PackedRecord(record_id, pack_record(lines, head, exchange.body), payload_digest, head)


def pack_resource(
    url: str,
    made_at: float,
    content_type: str,
    block: bytes,
    *,
    record_id: str = "",
    page_record_id: str = "",
    algorithm: DigestAlgorithm = "sha256",
) -> PackedRecord:
    """Pack a `resource` record: a document without an HTTP exchange, such as a rendered page or a screenshot."""
    digest = format_digest(algorithm, HASH_FUNCTIONS[algorithm](block).digest())
    record_id = record_id or make_record_id()
    lines = (
        f"{format_record_start('resource', record_id, made_at, url)}"
        f"{f'WARC-Concurrent-To: <{page_record_id}>{CRLF}' if page_record_id else ''}"
        f"WARC-Payload-Digest: {digest}\r\nWARC-Block-Digest: {digest}\r\nContent-Type: {content_type}\r\n"
    )
    return PackedRecord(record_id, pack_record(lines, block), digest)


def pack_request(exchange: HttpExchange, response_id: str, algorithm: DigestAlgorithm = "sha256") -> PackedRecord:
    """Pack a `request` record. `exchange` holds the request's head and body."""
    block = normalize_head_lines(exchange.head) + exchange.body
    block_digest = format_digest(algorithm, HASH_FUNCTIONS[algorithm](block).digest())
    record_id = make_record_id()
    lines = (
        f"{format_record_start('request', record_id, exchange.fetched_at, exchange.url)}"
        f"{_format_ip_address(exchange.address)}"
        f"WARC-Concurrent-To: <{response_id}>\r\nWARC-Block-Digest: {block_digest}\r\n"
        "Content-Type: application/http;msgtype=request\r\n"
    )
    return PackedRecord(record_id, pack_record(lines, block), head=block)


def pack_metadata(
    url: str, fetched_at: float, fields: Iterable[HeaderField], response_id: str, algorithm: DigestAlgorithm = "sha256"
) -> PackedRecord:
    """Pack a `metadata` record with facts about a visit (via, hops, links)."""
    block, block_digest = _build_metadata_block(tuple(fields), algorithm)
    record_id = make_record_id()
    lines = (
        f"{format_record_start('metadata', record_id, fetched_at, url)}"
        f"WARC-Concurrent-To: <{response_id}>\r\nWARC-Block-Digest: {block_digest}\r\n"
        "Content-Type: application/warc-fields\r\n"
    )
    return PackedRecord(record_id, pack_record(lines, block))


@lru_cache(maxsize=1024)  # most visits have the same metadata
def _build_metadata_block(fields: tuple[HeaderField, ...], algorithm: DigestAlgorithm) -> tuple[bytes, str]:
    block = encode_warc_fields(fields)
    return block, format_digest(algorithm, HASH_FUNCTIONS[algorithm](block).digest())


def pack_record(header: str, block: bytes, block_tail: bytes = b"") -> bytes:
    """Compress a record, adding `Content-Length`. A large block may have two parts."""
    head = f"WARC/1.1\r\n{header}Content-Length: {len(block) + len(block_tail)}\r\n\r\n".encode("utf-8", "replace")
    member: bytes = compress(b"".join((head, block, block_tail, b"\r\n\r\n")), COMPRESSION_LEVEL, GZIP_WINDOW_BITS)
    return member


def format_record_start(record_type: str, record_id: str, record_time: float, url: str = "") -> str:
    return f"WARC-Type: {record_type}\r\nWARC-Record-ID: <{record_id}>\r\n{_format_date_and_target(record_time, url)}"


@lru_cache(maxsize=8)  # the records of one visit share it
def _format_date_and_target(record_time: float, url: str) -> str:
    target = f"WARC-Target-URI: {escape_header_value(url)}\r\n" if url else ""
    return f"WARC-Date: {format_warc_date(record_time)}\r\n{target}"


@lru_cache(maxsize=64)
def _format_ip_address(address: str) -> str:
    return f"WARC-IP-Address: {escape_header_value(address)}\r\n" if address else ""


def format_header_fields(fields: Iterable[HeaderField]) -> str:
    return "".join([f"{name}: {value}\r\n" for name, value in fields])


def encode_warc_fields(fields: Iterable[HeaderField]) -> bytes:
    """Encode `name: value` lines. Line breaks become spaces, which prevents field injection."""
    return "".join(f"{name}: {' '.join(value.split())}\r\n" for name, value in fields).encode("utf-8", "replace")


def format_warc_date(record_time: float) -> str:
    seconds, micros = divmod(round(record_time * 1_000_000), 1_000_000)
    return f"{_format_whole_second(seconds)}.{micros:06d}Z"


@lru_cache(maxsize=64)
def _format_whole_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def make_record_id() -> str:
    """Generate a random UUID (version 4) URN."""
    uuid = f"{getrandbits(128):032x}"
    return f"urn:uuid:{uuid[:8]}-{uuid[8:12]}-4{uuid[13:16]}-{'89ab'[int(uuid[16], 16) & 3]}{uuid[17:20]}-{uuid[20:]}"


def format_digest(algorithm: DigestAlgorithm, digest: bytes) -> str:
    """Format a digest as `sha256:BASE32`, with padding."""
    return f"{algorithm}:{encode_base32(digest)}"


def encode_base32(digest: bytes) -> str:
    """Encode up to 40 bytes, four times as fast as the standard library."""
    encoded_length = -(-8 * len(digest) // 5)
    number = int.from_bytes(digest, "big") << 320 - 8 * len(digest)
    for shift, low, high in BASE32_STEPS:
        number = number & low | (number & high) << shift
    return number.to_bytes(64, "big").translate(BASE32_TABLE)[:encoded_length].decode() + "=" * (-encoded_length % 8)


def escape_header_value(text: str) -> str:
    """Percent-encode control characters and spaces."""
    return UNSAFE_HEADER_CHARACTERS.sub(lambda match: f"%{ord(match[0]):02X}", text)

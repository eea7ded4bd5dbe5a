"""Pack what was seen into finished WARC/1.1 records, each one gzip member; the coordinator only appends them.

Which bytes each checksum covers is written down in docs/decisions/0010-warc-checksums.md.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterable
from functools import lru_cache
from http import HTTPStatus
from typing import Literal

from msgspec import Struct

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
FRAMING = {b"transfer-encoding", b"content-length"}
PROTOCOLS = {b"HTTP/2": "h2", b"HTTP/3": "h3"}
REASONS = {b"%d" % status: status.phrase.encode() for status in HTTPStatus}
RENAMED = b"X-Crawler-"  # what Common Crawl and StormCrawler put before a header that is no longer true
UNWRITABLE = re.compile(r"[\x00-\x20\x7f]")
VISIBLE = re.compile(rb"[!-~]")  # a line without any looks empty to some readers
PLAIN = re.compile(rb"(?:[!-~][^\n]*\r\n)+\r\n")
CONTENT_LENGTH = re.compile(rb"\ncontent-length:[ \t]*(\d{1,19})[ \t]*(?=\r\n[^ \t])")


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
    block = _closed(seen.head) + seen.body
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
    """Draw a random UUID (version 4), as a URN."""
    h = os.urandom(16).hex()
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


def stored_head(head: bytes, length: int) -> bytes:
    """Make a received head true to the stored body; nothing else in it changes.

    The client removes transfer coding, so `Transfer-Encoding` and a `Content-Length` that does not fit are renamed
    and the real length is added.
    """
    head = readable_head(head)
    lower = head.lower()
    said = CONTENT_LENGTH.search(lower)
    true = said is not None and int(said[1]) == length and lower.count(b"\ncontent-length") == 1
    return head if true and b"\ntransfer-encoding" not in lower else _rewritten(head, length)


def readable_head(head: bytes) -> bytes:
    """Give a head the form every reader knows: HTTP/2 has no status line, and gets that of HTTP/1.1."""
    head = _closed(_last_head(head))
    return head if head.startswith(b"HTTP/1.") else _status_line(head)


def _rewritten(head: bytes, length: int) -> bytes:
    """Rename the lines that are no longer true and add the length that is."""
    status, *lines = head[:-4].split(b"\r\n")
    kept = [RENAMED + line if _is_framing(line) else line for line in lines]
    return b"\r\n".join([status, *kept, b"Content-Length: %d" % length, b"", b""])


def _is_framing(line: bytes) -> bool:
    """Say whether a header line speaks of how long the body is on the wire."""
    return line.partition(b":")[0].strip().lower() in FRAMING


def _status_line(head: bytes) -> bytes:
    """Give `HTTP/2 200` the form `HTTP/1.1 200 OK`; a head without any status line gets one."""
    first, _, rest = head.partition(b"\r\n")
    if not first.startswith(b"HTTP/"):
        return b"HTTP/1.0 200 OK\r\n" + head
    words = first.split(None, 2)
    code = words[1] if len(words) > 1 and words[1].isdigit() else b"200"
    return b"HTTP/1.1 " + code + b" " + (words[2] if len(words) > 2 else REASONS.get(code, b"Unknown")) + b"\r\n" + rest


def _last_head(head: bytes) -> bytes:
    """Drop interim answers (100 Continue, a proxy's CONNECT) that came before the real one."""
    start = head.rfind(b"\r\n\r\nHTTP/")
    return head if start < 0 else head[start + 4 :]


def _closed(head: bytes) -> bytes:
    """Let lines end in CRLF and the only empty one be the last: trailers that came after the body join the head."""
    if PLAIN.fullmatch(head):
        return head
    lines = [line.rstrip() for line in head.split(b"\n")]
    return b"".join([line + b"\r\n" for line in lines if VISIBLE.search(line)]) + b"\r\n"

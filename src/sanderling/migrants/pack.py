"""Pack what was seen into finished WARC/1.1 records, each one gzip member; the coordinator only appends them.

Which bytes each checksum covers is written down in docs/decisions/0010-warc-checksums.md.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterable, Sequence
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

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
PAIRS = [one + other for one in ALPHABET for other in ALPHABET]  # ten bits at a time
LEVEL = 1
GZIP = 31  # window of 32 KB, with gzip header and trailer
FRAMING = {b"transfer-encoding", b"content-length"}
PROTOCOLS = {b"HTTP/2": "h2", b"HTTP/3": "h3"}
REASONS = {b"%d" % status: status.phrase.encode() for status in HTTPStatus}
RENAMED = b"X-Crawler-"  # what Common Crawl and StormCrawler put before a header that is no longer true
UNWRITABLE = re.compile(r"[\x00-\x20\x7f]")
VISIBLE = re.compile(rb"[!-~]")  # a line without any looks empty to some readers
PLAIN = re.compile(rb"(?:[!-~][^\n]*\r\n)+\r\n")
CONTENT_LENGTH = re.compile(rb"\ncontent-length:[ \t]*(\d{1,19})[ \t]*(?=\r\n[^ \t])")


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
    block_digest: str = ""
    head: bytes = b""  # status line and headers as they stand in the record


def pack_response(seen: Exchange, algorithm: Algorithm = "sha256") -> Packed:
    """Pack an HTTP answer as a `response` record."""
    head = stored_head(seen.head, len(seen.body))
    block = head + seen.body
    payload = label(algorithm, seen.digest or hashlib.new(algorithm, seen.body).digest())
    whole = label(algorithm, hashlib.new(algorithm, block).digest())
    record_id = new_record_id()
    fields = [*opening("response", record_id, seen.at), ("WARC-Target-URI", writable(seen.url))]
    if seen.address:
        fields.append(("WARC-IP-Address", writable(seen.address)))
    if protocol := PROTOCOLS.get(seen.head[:6]):
        fields.append(("WARC-Protocol", protocol))
    if seen.truncated:
        fields.append(("WARC-Truncated", seen.truncated))
    fields += [
        ("WARC-Payload-Digest", payload),
        ("WARC-Block-Digest", whole),
        ("Content-Type", "application/http;msgtype=response"),
    ]
    return Packed(record_id, pack_record(fields, block), payload, whole, head)


def pack_request(seen: Exchange, response_id: str, algorithm: Algorithm = "sha256") -> Packed:
    """Pack what we asked as a `request` record beside its answer; `seen.head` and `.body` are the request's."""
    block = _closed(seen.head) + seen.body
    whole = label(algorithm, hashlib.new(algorithm, block).digest())
    record_id = new_record_id()
    fields = [*opening("request", record_id, seen.at), ("WARC-Target-URI", writable(seen.url))]
    if seen.address:
        fields.append(("WARC-IP-Address", writable(seen.address)))
    fields += [
        ("WARC-Concurrent-To", f"<{response_id}>"),
        ("WARC-Block-Digest", whole),
        ("Content-Type", "application/http;msgtype=request"),
    ]
    return Packed(record_id, pack_record(fields, block), "", whole, block)


def pack_metadata(
    url: str, at: float, facts: Iterable[Field], response_id: str, algorithm: Algorithm = "sha256"
) -> Packed:
    """Pack what we know about a visit (via, hops, links ...) as a `metadata` record beside its answer."""
    block = warc_fields(facts)
    whole = label(algorithm, hashlib.new(algorithm, block).digest())
    record_id = new_record_id()
    fields = [
        *opening("metadata", record_id, at),
        ("WARC-Target-URI", writable(url)),
        ("WARC-Concurrent-To", f"<{response_id}>"),
        ("WARC-Block-Digest", whole),
        ("Content-Type", "application/warc-fields"),
    ]
    return Packed(record_id, pack_record(fields, block), "", whole)


def pack_record(fields: Sequence[Field], block: bytes) -> bytes:
    """Write one record as one gzip member; `Content-Length` is added here."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in fields])
    head = f"WARC/1.1\r\n{lines}Content-Length: {len(block)}\r\n\r\n".encode("utf-8", "replace")
    member: bytes = compress(b"".join((head, block, b"\r\n\r\n")), LEVEL, GZIP)
    return member


def opening(kind: str, record_id: str, at: float) -> list[Field]:
    """The three fields every record begins with."""
    return [("WARC-Type", kind), ("WARC-Record-ID", f"<{record_id}>"), ("WARC-Date", warc_date(at))]


def warc_fields(facts: Iterable[Field]) -> bytes:
    """Write `name: value` lines; line breaks inside a value become spaces, so no value can forge a field."""
    return "".join(f"{name}: {' '.join(value.split())}\r\n" for name, value in facts).encode("utf-8", "replace")


def warc_date(at: float) -> str:
    """Write a time as WARC/1.1 does, with microseconds."""
    seconds, micros = divmod(round(at * 1_000_000), 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{micros:06d}Z"


def new_record_id() -> str:
    """Draw a random UUID (version 4), as a URN."""
    h = os.urandom(16).hex()
    return f"urn:uuid:{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[int(h[16], 16) & 3]}{h[17:20]}-{h[20:]}"


def label(algorithm: Algorithm, digest: bytes) -> str:
    """Write a digest as WARC files do: `sha256:BASE32`, with the padding that readers compute too."""
    return f"{algorithm}:{base32(digest)}"


def base32(data: bytes) -> str:
    """Write bytes in base 32 (RFC 4648); the standard library's way takes twice as long, four times for every page."""
    size = len(data)
    groups = -(-size // 5)
    number = int.from_bytes(data, "big") << 8 * (5 * groups - size)
    text = "".join([PAIRS[number >> shift & 1023] for shift in range(40 * groups - 10, -1, -10)])
    written = -(-8 * size // 5)
    return text[:written] + "=" * (len(text) - written)


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

"""Parse WARC and ARC records: header fields, HTTP head, and body."""

import hashlib
import re
from base64 import b16encode, b32encode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Protocol

from msgspec import Struct

from sanderling.warc.gzip_members import DamagedRecordError
from sanderling.warc.packer import HeaderField

MAX_LINE_BYTES = 65_536
MAX_HEADER_BYTES = 1_048_576  # all header lines of a record
READ_BYTES = 65_536
HTTP_RECORD_TYPES = {"response", "request", "revisit"}
DIGEST_ALGORITHMS = {"sha1", "sha256", "sha512", "md5"}
ARC_HEADER_PATTERN = re.compile(r"(\S.*) (\S+) (\d{12,20}) (\S+) (\S+)")


class ParsedRecord(Struct):
    """A record as stored. The body still has its codings."""

    record_type: str
    fields: tuple[HeaderField, ...]
    record_bytes: int  # header and block, without the empty lines that follow
    status: int = 0
    http_headers: tuple[HeaderField, ...] = ()
    body: bytes = b""
    is_truncated: bool = False  # the body is longer than the limit
    missing_bytes: int = 0  # declared by Content-Length but missing
    is_intact: bool | None = None  # None: no digest to verify

    def get_field(self, name: str) -> str:
        """Return a header field (case-insensitive), or an empty string."""
        return get_first_value(self.fields, name)


class Hasher(Protocol):
    """A hashlib object."""

    def update(self, data: bytes, /) -> None:
        """Add bytes."""

    def digest(self) -> bytes: ...


def get_first_value(fields: tuple[HeaderField, ...], name: str) -> str:
    """Return the first value of a name (case-insensitive), or an empty string."""
    lower_name = name.lower()
    return next((value for key, value in fields if key.lower() == lower_name), "")


def join_header_values(http_headers: tuple[HeaderField, ...], name: str) -> str:
    """Join all values of a header with commas (RFC 9110)."""
    lower_name = name.lower()
    return ", ".join(value for key, value in http_headers if key.lower() == lower_name)


def parse_record(stream: BinaryIO, max_body_bytes: int, verify: bool = False) -> ParsedRecord | None:
    """Parse the next record with at most `max_body_bytes` of its body. Returns None at the end."""
    line = _read_first_line(stream)
    if not line:
        return None
    fields, header_bytes = (
        _parse_warc_fields(stream, line) if line.startswith(b"WARC/") else _parse_arc_fields(stream, line)
    )
    length = get_first_value(fields, "Content-Length").strip()
    if not length.isdecimal():
        raise DamagedRecordError(f"missing or invalid Content-Length: {length[:40]!r}")
    record = ParsedRecord(get_first_value(fields, "WARC-Type"), fields, header_bytes + int(length))
    block = RecordBlock(stream, int(length))
    checks = [_DigestCheck(record, name) for name in ("WARC-Block-Digest", "WARC-Payload-Digest")] if verify else []
    block.set_digest_checks(checks[:1])
    _read_http_head(record, block)
    block.set_digest_checks(checks)
    _read_body(record, block, max_body_bytes)
    results = [check.is_valid() for check in checks if check.is_supported]
    record.is_intact = all(results) if results and not record.missing_bytes else None
    return record


class RecordBlock:
    """`length` bytes of a stream, also fed to the digest checks."""

    def __init__(self, stream: BinaryIO, length: int) -> None:
        self._stream = stream
        self.remaining_bytes = length
        self.missing_bytes = 0  # declared but not in the stream
        self._digest_checks: list[_DigestCheck] = []

    def set_digest_checks(self, digest_checks: "list[_DigestCheck]") -> None:
        self._digest_checks = digest_checks

    def readline(self) -> bytes:
        return self._consume(self._stream.readline(min(self.remaining_bytes, MAX_LINE_BYTES)))

    def read(self, size: int) -> bytes:
        return self._consume(self._stream.read(min(size, self.remaining_bytes)))

    def _consume(self, data: bytes) -> bytes:
        if not data:
            self.missing_bytes, self.remaining_bytes = self.remaining_bytes, 0
        self.remaining_bytes -= len(data)
        for check in self._digest_checks:
            check.update(data)
        return data


class _DigestCheck:
    """Compare a declared digest with the bytes read."""

    def __init__(self, record: ParsedRecord, name: str) -> None:
        algorithm, _, self._expected_digest = record.get_field(name).partition(":")
        algorithm = algorithm.lower().replace("-", "")
        # A revisit has the digest of the original payload.
        self.is_supported = algorithm in DIGEST_ALGORITHMS and record.record_type != "revisit"
        self._hasher: Hasher | None = hashlib.new(algorithm) if self.is_supported else None

    def update(self, data: bytes) -> None:
        if self._hasher:
            self._hasher.update(data)

    def is_valid(self) -> bool:
        """Compare in base 16, 32, and 64, which all occur."""
        digest = self._hasher.digest() if self._hasher else b""
        expected = self._expected_digest.strip().rstrip("=")
        case_insensitive = (b32encode(digest), b16encode(digest))
        case_sensitive = (b64encode(digest), urlsafe_b64encode(digest))
        return expected.upper() in _strip_padding(case_insensitive) or expected in _strip_padding(case_sensitive)


def _strip_padding(encoded_digests: Iterable[bytes]) -> list[str]:
    return [encoded.decode().rstrip("=") for encoded in encoded_digests]


def _read_first_line(stream: BinaryIO) -> bytes:
    while line := stream.readline(MAX_LINE_BYTES):
        if line.strip():
            return line
    return b""


def _parse_warc_fields(stream: BinaryIO, first_line: bytes) -> tuple[tuple[HeaderField, ...], int]:
    lines = list(_read_header_lines(stream.readline))
    fields = _repair_fields(_split_fields(lines))
    return tuple(fields), len(first_line) + sum(map(len, lines))


def _repair_fields(fields: list[HeaderField]) -> Iterator[HeaderField]:
    """Fix URI errors of other writers: `<...>` (wget 1.19), and spaces."""
    for name, value in fields:
        if name.lower() == "warc-target-uri":
            value = value.removeprefix("<").removesuffix(">").replace(" ", "%20")
        yield name, value


def is_record_start(line: bytes) -> bool:
    return line.startswith(b"WARC/1.") or ARC_HEADER_PATTERN.fullmatch(_decode_line(line).rstrip()) is not None


def _parse_arc_fields(stream: BinaryIO, line: bytes) -> tuple[tuple[HeaderField, ...], int]:
    """Translate an ARC header line to WARC fields."""
    match = ARC_HEADER_PATTERN.fullmatch(_decode_line(line).rstrip())
    if not match:
        raise DamagedRecordError(f"not a WARC or ARC record: {_decode_line(line)[:60]!r}")
    url, address, date, mime, length = match.groups()
    record_type = "arc_header" if url.startswith("filedesc://") else "response"
    if record_type == "arc_header" and not length.isdecimal():  # the two description lines follow nevertheless
        line += stream.readline(MAX_LINE_BYTES) + stream.readline(MAX_LINE_BYTES)
    return (
        ("WARC-Type", record_type),
        ("WARC-Target-URI", url),
        ("WARC-IP-Address", address),
        ("WARC-Date", f"{date[:4]}-{date[4:6]}-{date[6:8]}T{date[8:10]}:{date[10:12]}:{date[12:14] or '00'}Z"),
        ("Content-Type", mime),
        ("Content-Length", length if length.isdecimal() else "0"),
    ), len(line)


def _read_http_head(record: ParsedRecord, block: RecordBlock) -> None:
    is_web = record.get_field("WARC-Target-URI").lower().startswith(("http:", "https:"))
    if record.record_type not in HTTP_RECORD_TYPES or not is_web or not block.remaining_bytes:
        return
    lines = list(_read_header_lines(block.readline))
    words = lines[0].split(None, 2) if lines else []
    if len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit():
        record.status = int(words[1][:3])
    record.http_headers = tuple(_split_fields(lines[1:]))


def _read_body(record: ParsedRecord, block: RecordBlock, max_body_bytes: int) -> None:
    parts: list[bytes] = []
    remaining = max_body_bytes
    while block.remaining_bytes:
        data = block.read(READ_BYTES)
        if remaining > 0:
            parts.append(data[:remaining])
        remaining -= len(data)
    record.body = b"".join(parts)
    record.is_truncated = remaining < 0
    record.missing_bytes = block.missing_bytes
    record.record_bytes -= block.missing_bytes


def _read_header_lines(readline: Callable[[], bytes]) -> Iterator[bytes]:
    """Yield header lines up to and including the empty line."""
    total = 0
    while line := readline():
        total += len(line)
        if total > MAX_HEADER_BYTES:
            raise DamagedRecordError("record header too long")
        yield line
        if not line.strip():
            return


def _split_fields(lines: list[bytes]) -> list[HeaderField]:
    """Split `name: value` lines, joining continuation lines."""
    fields: list[HeaderField] = []
    for line in map(_decode_line, lines):
        name, colon, value = line.partition(":")
        if line[:1] in " \t" and fields and line.strip():
            fields[-1] = (fields[-1][0], f"{fields[-1][1]} {line.strip()}")
        elif colon:
            fields.append((name.strip(), value.strip()))
    return fields


def _decode_line(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


CHUNK_SIZE_PATTERN = re.compile(rb"([0-9A-Fa-f]{1,8})[^\r\n]{0,200}\r?\n")


def decode_chunked(body: bytes) -> bytes:
    """Remove chunked coding. A body that is not chunked is returned unchanged."""
    parts: list[bytes] = []
    position = 0
    while chunk_header := CHUNK_SIZE_PATTERN.match(body, position):
        size = int(chunk_header[1], 16)
        if size == 0:
            return b"".join(parts)
        parts.append(body[chunk_header.end() : chunk_header.end() + size])
        position = chunk_header.end() + size
        position += len(b"\r\n") if body[position : position + 2] == b"\r\n" else 0
    return b"".join(parts) if parts and position >= len(body) else body

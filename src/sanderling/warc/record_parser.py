"""Parse WARC and ARC records: header fields, HTTP head, and body."""

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from msgspec import Struct

from sanderling.warc.digest_check import DigestCheck
from sanderling.warc.gzip_members import DamagedRecordError
from sanderling.warc.packer import HeaderField

MAX_LINE_BYTES = 65_536
MAX_HEADER_BYTES = 1_048_576  # all header lines of a record
READ_BYTES = 65_536
HTTP_RECORD_TYPES = {"response", "request", "revisit"}
HEAD_END = b"\r\n\r\n"
TARGET_FIELD = "warc-target-uri"
FOLDED_STARTS = (b"\n ", b"\n\t", b"\n\v", b"\n\f")  # of a line that continues the one before
MAX_LENGTH_DIGITS = 15
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


def is_offset(text: str) -> bool:
    """Return whether a text is a length or an offset that a file can have."""
    return text.isascii() and text.isdecimal() and len(text) <= MAX_LENGTH_DIGITS


def get_first_value(fields: tuple[HeaderField, ...], name: str) -> str:
    """Return the first value of a name, preferably spelled like this (else case-insensitive), or an empty string."""
    for key, value in fields:
        if key == name:
            return value
    lower_name = name.lower()
    for key, value in fields:
        if key.lower() == lower_name:
            return value
    return ""


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
    if not is_offset(length):
        raise DamagedRecordError(f"missing or invalid Content-Length: {length[:40]!r}")
    record = ParsedRecord(get_first_value(fields, "WARC-Type"), fields, header_bytes + int(length))
    block = RecordBlock(stream, int(length))
    checks = (
        [
            DigestCheck(record.get_field(name), record.record_type)
            for name in ("WARC-Block-Digest", "WARC-Payload-Digest")
        ]
        if verify
        else []
    )
    block.set_digest_checks(checks[:1])
    _read_http_head(record, block)
    block.set_digest_checks(checks)
    _read_body(record, block, max_body_bytes)
    results = [check.is_valid() for check in checks if check.is_supported]
    record.is_intact = all(results) if results and not record.missing_bytes else None
    return record


def parse_whole_record(data: bytes, max_body_bytes: int, verify: bool = False) -> ParsedRecord | None:
    """Parse a WARC record in memory, several times as fast as `parse_record`, which must read it if this returns None.

    None: its lines are unusual, it is damaged, or something follows it.
    """
    start = data.find(HEAD_END) + len(HEAD_END)
    lines = _split_usual_lines(data[: start - len(HEAD_END)]) if data.startswith(b"WARC/") else None
    if lines is None:
        return None
    fields = tuple(_repair_fields(_split_text_fields(lines[1:])))
    length = get_first_value(fields, "Content-Length").strip()
    end = start + int(length) if is_offset(length) else -1
    if not start <= end <= len(data) or data[end:].strip():
        return None
    record = ParsedRecord(get_first_value(fields, "WARC-Type"), fields, end)
    body_start = start
    if _has_http_head(record) and end > start:
        body_start = data.find(HEAD_END, start, end) + len(HEAD_END)
        http_lines = _split_usual_lines(data[start : body_start - len(HEAD_END)])
        if http_lines is None or body_start <= start + len(HEAD_END):
            return None
        record.status = _parse_status_line(http_lines[0].encode())
        record.http_headers = tuple(_split_text_fields(http_lines[1:]))
    record.body = data[body_start : min(end, body_start + max_body_bytes)]
    record.is_truncated = end - body_start > max_body_bytes
    if verify:
        view = memoryview(data)
        starts = (("WARC-Block-Digest", start), ("WARC-Payload-Digest", body_start))
        checks = [(DigestCheck(record.get_field(name), record.record_type), view[first:end]) for name, first in starts]
        for check, covered in checks:
            check.update(covered)
        results = [check.is_valid() for check, _ in checks if check.is_supported]
        record.is_intact = all(results) if results else None
    return record


def _split_usual_lines(head: bytes) -> list[str] | None:
    """Return the lines of a head; None if a line is continued or ends unlike those of most programs."""
    if len(head) > MAX_LINE_BYTES or head.count(b"\n") != head.count(b"\r\n") or head.startswith(b"\r\n"):
        return None
    if any(start in head for start in FOLDED_STARTS):
        return None
    try:
        return head.decode().split("\r\n")
    except UnicodeDecodeError:
        return None


def _split_text_fields(lines: list[str]) -> list[HeaderField]:
    parts = [line.partition(":") for line in lines]
    return [(name.strip(), value.strip()) for name, colon, value in parts if colon]


class RecordBlock:
    """`length` bytes of a stream, also fed to the digest checks."""

    def __init__(self, stream: BinaryIO, length: int) -> None:
        self._stream = stream
        self.remaining_bytes = length
        self.missing_bytes = 0  # declared but not in the stream
        self._digest_checks: list[DigestCheck] = []

    def set_digest_checks(self, digest_checks: "list[DigestCheck]") -> None:
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
        if len(name) == len(TARGET_FIELD) and name.lower() == TARGET_FIELD:
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


def _has_http_head(record: ParsedRecord) -> bool:
    return record.record_type in HTTP_RECORD_TYPES and record.get_field("WARC-Target-URI").lower().startswith(
        ("http:", "https:")
    )


def _parse_status_line(line: bytes) -> int:
    words = line.split(None, 2)
    is_status = len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit()
    return int(words[1][:3]) if is_status else 0


def _read_http_head(record: ParsedRecord, block: RecordBlock) -> None:
    if not _has_http_head(record) or not block.remaining_bytes:
        return
    lines = list(_read_header_lines(block.readline))
    record.status = _parse_status_line(lines[0]) if lines else 0
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

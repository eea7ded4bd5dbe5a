"""Parse one WARC or ARC record from a stream: fields, HTTP head, and as much of the body as the cap allows."""

import hashlib
import re
from base64 import b16encode, b32encode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Protocol

from msgspec import Struct

from sanderling.warc.gzip_members import DamagedRecordError
from sanderling.warc.packer import HeaderField

MAX_LINE_BYTES = 65_536
MAX_HEADER_BYTES = 1_048_576  # all header lines of one record together
READ_BYTES = 65_536
HTTP_RECORD_TYPES = {"response", "request", "revisit"}
DIGEST_ALGORITHMS = {"sha1", "sha256", "sha512", "md5"}
ARC_HEADER_PATTERN = re.compile(r"(\S.*) (\S+) (\d{12,20}) (\S+) (\S+)")


class ParsedRecord(Struct):
    """One record as it lies in the file; the body with all its codings."""

    record_type: str
    fields: tuple[HeaderField, ...]
    record_bytes: int  # bytes of header and block, without the empty lines that follow
    status: int = 0
    http_headers: tuple[HeaderField, ...] = ()
    body: bytes = b""
    is_truncated: bool = False  # the body goes on beyond the cap
    missing_bytes: int = 0  # bytes that its length promised and that are not there
    is_intact: bool | None = None  # whether its digests agree; None if there is none to compare

    def get_field(self, name: str) -> str:
        """A field of the record by name, in any spelling; empty if it is not there."""
        return get_first_value(self.fields, name)


class Hasher(Protocol):
    """What hashlib makes."""

    def update(self, data: bytes, /) -> None:
        """Take more bytes."""

    def digest(self) -> bytes:
        """Say the digest of all bytes so far."""


def get_first_value(fields: tuple[HeaderField, ...], name: str) -> str:
    """The first value under this name, whatever its case; empty if there is none."""
    wanted = name.lower()
    return next((value for key, value in fields if key.lower() == wanted), "")


def join_header_values(http_headers: tuple[HeaderField, ...], name: str) -> str:
    """All values under this name in the head of a message, with commas between them (RFC 9110); empty if none is."""
    wanted = name.lower()
    return ", ".join(value for key, value in http_headers if key.lower() == wanted)


def parse_record(stream: BinaryIO, max_body_bytes: int, verify: bool = False) -> ParsedRecord | None:
    """Read the next record; None at the end. The whole block is read past, at most `cap` bytes of body are kept."""
    line = _read_first_line(stream)
    if not line:
        return None
    fields, read = _parse_warc_fields(stream, line) if line.startswith(b"WARC/") else _parse_arc_fields(stream, line)
    length = get_first_value(fields, "Content-Length").strip()
    if not length.isdecimal():
        raise DamagedRecordError(f"no length: {length[:40]!r}")
    record = ParsedRecord(get_first_value(fields, "WARC-Type"), fields, read + int(length))
    block = RecordBlock(stream, int(length))
    claims = [_DigestCheck(record, name) for name in ("WARC-Block-Digest", "WARC-Payload-Digest")] if verify else []
    block.set_digest_checks(claims[:1])
    _read_http_head(record, block)
    block.set_digest_checks(claims)
    _read_body(record, block, max_body_bytes)
    verdicts = [claim.is_valid() for claim in claims if claim.is_supported]
    record.is_intact = all(verdicts) if verdicts and not record.missing_bytes else None
    return record


class RecordBlock:
    """The block of a record: `length` bytes of a stream and not one more, seen by the digests that watch."""

    def __init__(self, stream: BinaryIO, length: int) -> None:
        self._stream = stream
        self.remaining_bytes = length
        self.missing_bytes = 0  # bytes promised that are not there
        self._digest_checks: list[_DigestCheck] = []

    def set_digest_checks(self, digest_checks: "list[_DigestCheck]") -> None:
        """Let these digests see what is read from here on."""
        self._digest_checks = digest_checks

    def readline(self) -> bytes:
        """One line, or as much of it as is sensible."""
        return self._consume(self._stream.readline(min(self.remaining_bytes, MAX_LINE_BYTES)))

    def read(self, size: int) -> bytes:
        """Up to `size` bytes."""
        return self._consume(self._stream.read(min(size, self.remaining_bytes)))

    def _consume(self, data: bytes) -> bytes:
        if not data:
            self.missing_bytes, self.remaining_bytes = self.remaining_bytes, 0
        self.remaining_bytes -= len(data)
        for claim in self._digest_checks:
            claim.update(data)
        return data


class _DigestCheck:
    """A digest a record claims to have, and what it really is."""

    def __init__(self, record: ParsedRecord, name: str) -> None:
        algorithm, _, self._expected_digest = record.get_field(name).partition(":")
        algorithm = algorithm.lower().replace("-", "")
        self.is_supported = (
            algorithm in DIGEST_ALGORITHMS and record.record_type != "revisit"
        )  # a revisit speaks of another's payload
        self._hasher: Hasher | None = hashlib.new(algorithm) if self.is_supported else None

    def update(self, data: bytes) -> None:
        if self._hasher:
            self._hasher.update(data)

    def is_valid(self) -> bool:
        """Compare in any spelling that RFC 4648 knows: base 32 is usual, hexadecimal and base 64 occur."""
        digest = self._hasher.digest() if self._hasher else b""
        claimed = self._expected_digest.strip().rstrip("=")
        small = (b32encode(digest), b16encode(digest))
        exact = (b64encode(digest), urlsafe_b64encode(digest))
        return claimed.upper() in _strip_padding(small) or claimed in _strip_padding(exact)


def _strip_padding(encoded_digests: Iterable[bytes]) -> list[str]:
    return [one.decode().rstrip("=") for one in encoded_digests]


def _read_first_line(stream: BinaryIO) -> bytes:
    """Skip the empty lines between records."""
    while line := stream.readline(MAX_LINE_BYTES):
        if line.strip():
            return line
    return b""


def _parse_warc_fields(stream: BinaryIO, first_line: bytes) -> tuple[tuple[HeaderField, ...], int]:
    """The fields of a record, and how many bytes its header took."""
    lines = list(_read_header_lines(stream.readline))
    fields = _repair_fields(_split_fields(lines))
    return tuple(fields), len(first_line) + sum(map(len, lines))


def _repair_fields(fields: list[HeaderField]) -> Iterator[HeaderField]:
    """Undo two slips of other writers: `<...>` around the URI (wget 1.19) and spaces in it."""
    for name, value in fields:
        if name.lower() == "warc-target-uri":
            value = value.removeprefix("<").removesuffix(">").replace(" ", "%20")
        yield name, value


def is_record_start(line: bytes) -> bool:
    """Say whether a record might begin with this line."""
    return line.startswith(b"WARC/1.") or ARC_HEADER_PATTERN.fullmatch(_decode_line(line).rstrip()) is not None


def _parse_arc_fields(stream: BinaryIO, line: bytes) -> tuple[tuple[HeaderField, ...], int]:
    """Give the one header line of an ARC record the names that WARC uses; a length that is none counts as 0."""
    found = ARC_HEADER_PATTERN.fullmatch(_decode_line(line).rstrip())
    if not found:
        raise DamagedRecordError(f"not a record: {_decode_line(line)[:60]!r}")
    url, address, date, mime, length = found.groups()
    kind = "arc_header" if url.startswith("filedesc://") else "response"
    if kind == "arc_header" and not length.isdecimal():  # its two lines of description are there all the same
        line += stream.readline(MAX_LINE_BYTES) + stream.readline(MAX_LINE_BYTES)
    return (
        ("WARC-Type", kind),
        ("WARC-Target-URI", url),
        ("WARC-IP-Address", address),
        ("WARC-Date", f"{date[:4]}-{date[4:6]}-{date[6:8]}T{date[8:10]}:{date[10:12]}:{date[12:14] or '00'}Z"),
        ("Content-Type", mime),
        ("Content-Length", length if length.isdecimal() else "0"),
    ), len(line)


def _read_http_head(record: ParsedRecord, block: RecordBlock) -> None:
    """Read the HTTP head of the records that have one."""
    is_web = record.get_field("WARC-Target-URI").lower().startswith(("http:", "https:"))
    if record.record_type not in HTTP_RECORD_TYPES or not is_web or not block.remaining_bytes:
        return
    lines = list(_read_header_lines(block.readline))
    words = lines[0].split(None, 2) if lines else []
    if len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit():
        record.status = int(words[1][:3])
    record.http_headers = tuple(_split_fields(lines[1:]))


def _read_body(record: ParsedRecord, block: RecordBlock, max_body_bytes: int) -> None:
    """Keep up to `cap` bytes of what is left; read past the rest."""
    kept: list[bytes] = []
    room = max_body_bytes
    while block.remaining_bytes:
        data = block.read(READ_BYTES)
        if room > 0:
            kept.append(data[:room])
        room -= len(data)
    record.body = b"".join(kept)
    record.is_truncated = room < 0
    record.missing_bytes = block.missing_bytes
    record.record_bytes -= block.missing_bytes


def _read_header_lines(readline: Callable[[], bytes]) -> Iterator[bytes]:
    """Header lines up to and with the empty one."""
    total = 0
    while line := readline():
        total += len(line)
        if total > MAX_HEADER_BYTES:
            raise DamagedRecordError("the header does not end")
        yield line
        if not line.strip():
            return


def _split_fields(lines: list[bytes]) -> list[HeaderField]:
    """Split `name: value`; a line that begins with a space goes on with the one before."""
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
    """Remove chunking; a body that says it is chunked and is not, is returned as it is."""
    parts: list[bytes] = []
    at = 0
    while size := CHUNK_SIZE_PATTERN.match(body, at):
        count = int(size[1], 16)
        if count == 0:
            return b"".join(parts)
        parts.append(body[size.end() : size.end() + count])
        at = size.end() + count
        at += len(b"\r\n") if body[at : at + 2] == b"\r\n" else 0
    return b"".join(parts) if parts and at >= len(body) else body

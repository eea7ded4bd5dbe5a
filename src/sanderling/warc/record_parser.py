"""Parse one WARC or ARC record from a stream: fields, HTTP head, and as much of the body as the cap allows."""

import hashlib
import re
from base64 import b16encode, b32encode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Protocol

from msgspec import Struct

from sanderling.warc.gzip_members import Damaged
from sanderling.warc.packer import Field

LINE_BYTES = 65_536
HEAD_BYTES = 1_048_576  # all header lines of one record together
CHUNK = 65_536
HTTP_KINDS = {"response", "request", "revisit"}
ALGORITHMS = {"sha1", "sha256", "sha512", "md5"}
ARC_LINE = re.compile(r"(\S.*) (\S+) (\d{12,20}) (\S+) (\S+)")


class Parsed(Struct):
    """One record as it lies in the file; the body with all its codings."""

    kind: str
    fields: tuple[Field, ...]
    size: int  # bytes of header and block, without the empty lines that follow
    status: int = 0
    head: tuple[Field, ...] = ()
    body: bytes = b""
    cut: bool = False  # the body goes on beyond the cap
    short: int = 0  # bytes that its length promised and that are not there
    intact: bool | None = None  # whether its digests agree; None if there is none to compare

    def get(self, name: str) -> str:
        """A field of the record by name, in any spelling; empty if it is not there."""
        return value_of(self.fields, name)


class Hash(Protocol):
    """What hashlib makes."""

    def update(self, data: bytes, /) -> None:
        """Take more bytes."""

    def digest(self) -> bytes:
        """Say the digest of all bytes so far."""


def value_of(fields: tuple[Field, ...], name: str) -> str:
    """The first value under this name, whatever its case; empty if there is none."""
    wanted = name.lower()
    return next((value for key, value in fields if key.lower() == wanted), "")


def said(head: tuple[Field, ...], name: str) -> str:
    """All values under this name in the head of a message, with commas between them (RFC 9110); empty if none is."""
    wanted = name.lower()
    return ", ".join(value for key, value in head if key.lower() == wanted)


def parse(stream: BinaryIO, cap: int, verify: bool = False) -> Parsed | None:
    """Read the next record; None at the end. The whole block is read past, at most `cap` bytes of body are kept."""
    line = _first_line(stream)
    if not line:
        return None
    fields, read = _fields_of_warc(stream, line) if line.startswith(b"WARC/") else _fields_of_arc(stream, line)
    length = value_of(fields, "Content-Length").strip()
    if not length.isdecimal():
        raise Damaged(f"no length: {length[:40]!r}")
    record = Parsed(value_of(fields, "WARC-Type"), fields, read + int(length))
    block = Block(stream, int(length))
    claims = [_Claim(record, name) for name in ("WARC-Block-Digest", "WARC-Payload-Digest")] if verify else []
    block.watch(claims[:1])
    _read_head(record, block)
    block.watch(claims)
    _read_body(record, block, cap)
    verdicts = [claim.holds() for claim in claims if claim.known]
    record.intact = all(verdicts) if verdicts and not record.short else None
    return record


class Block:
    """The block of a record: `length` bytes of a stream and not one more, seen by the digests that watch."""

    def __init__(self, stream: BinaryIO, length: int) -> None:
        self._stream = stream
        self.left = length
        self.short = 0  # bytes promised that are not there
        self._watching: list[_Claim] = []

    def watch(self, claims: "list[_Claim]") -> None:
        """Let these digests see what is read from here on."""
        self._watching = claims

    def readline(self) -> bytes:
        """One line, or as much of it as is sensible."""
        return self._seen(self._stream.readline(min(self.left, LINE_BYTES)))

    def read(self, size: int) -> bytes:
        """Up to `size` bytes."""
        return self._seen(self._stream.read(min(size, self.left)))

    def _seen(self, data: bytes) -> bytes:
        if not data:
            self.short, self.left = self.left, 0
        self.left -= len(data)
        for claim in self._watching:
            claim.update(data)
        return data


class _Claim:
    """A digest a record claims to have, and what it really is."""

    def __init__(self, record: Parsed, name: str) -> None:
        algorithm, _, self._claimed = record.get(name).partition(":")
        algorithm = algorithm.lower().replace("-", "")
        self.known = algorithm in ALGORITHMS and record.kind != "revisit"  # a revisit speaks of another's payload
        self._hash: Hash | None = hashlib.new(algorithm) if self.known else None

    def update(self, data: bytes) -> None:
        if self._hash:
            self._hash.update(data)

    def holds(self) -> bool:
        """Compare in any spelling that RFC 4648 knows: base 32 is usual, hexadecimal and base 64 occur."""
        digest = self._hash.digest() if self._hash else b""
        claimed = self._claimed.strip().rstrip("=")
        small = (b32encode(digest), b16encode(digest))
        exact = (b64encode(digest), urlsafe_b64encode(digest))
        return claimed.upper() in _plain(small) or claimed in _plain(exact)


def _plain(spellings: Iterable[bytes]) -> list[str]:
    return [one.decode().rstrip("=") for one in spellings]


def _first_line(stream: BinaryIO) -> bytes:
    """Skip the empty lines between records."""
    while line := stream.readline(LINE_BYTES):
        if line.strip():
            return line
    return b""


def _fields_of_warc(stream: BinaryIO, first: bytes) -> tuple[tuple[Field, ...], int]:
    """The fields of a record, and how many bytes its header took."""
    lines = list(_lines(stream.readline))
    fields = _repaired(_split_fields(lines))
    return tuple(fields), len(first) + sum(map(len, lines))


def _repaired(fields: list[Field]) -> Iterator[Field]:
    """Undo two slips of other writers: `<...>` around the URI (wget 1.19) and spaces in it."""
    for name, value in fields:
        if name.lower() == "warc-target-uri":
            value = value.removeprefix("<").removesuffix(">").replace(" ", "%20")
        yield name, value


def begins_record(line: bytes) -> bool:
    """Say whether a record might begin with this line."""
    return line.startswith(b"WARC/1.") or ARC_LINE.fullmatch(_text(line).rstrip()) is not None


def _fields_of_arc(stream: BinaryIO, line: bytes) -> tuple[tuple[Field, ...], int]:
    """Give the one header line of an ARC record the names that WARC uses; a length that is none counts as 0."""
    found = ARC_LINE.fullmatch(_text(line).rstrip())
    if not found:
        raise Damaged(f"not a record: {_text(line)[:60]!r}")
    url, address, date, mime, length = found.groups()
    kind = "arc_header" if url.startswith("filedesc://") else "response"
    if kind == "arc_header" and not length.isdecimal():  # its two lines of description are there all the same
        line += stream.readline(LINE_BYTES) + stream.readline(LINE_BYTES)
    return (
        ("WARC-Type", kind),
        ("WARC-Target-URI", url),
        ("WARC-IP-Address", address),
        ("WARC-Date", f"{date[:4]}-{date[4:6]}-{date[6:8]}T{date[8:10]}:{date[10:12]}:{date[12:14] or '00'}Z"),
        ("Content-Type", mime),
        ("Content-Length", length if length.isdecimal() else "0"),
    ), len(line)


def _read_head(record: Parsed, block: Block) -> None:
    """Read the HTTP head of the records that have one."""
    is_web = record.get("WARC-Target-URI").lower().startswith(("http:", "https:"))
    if record.kind not in HTTP_KINDS or not is_web or not block.left:
        return
    lines = list(_lines(block.readline))
    words = lines[0].split(None, 2) if lines else []
    if len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit():
        record.status = int(words[1][:3])
    record.head = tuple(_split_fields(lines[1:]))


def _read_body(record: Parsed, block: Block, cap: int) -> None:
    """Keep up to `cap` bytes of what is left; read past the rest."""
    kept: list[bytes] = []
    room = cap
    while block.left:
        data = block.read(CHUNK)
        if room > 0:
            kept.append(data[:room])
        room -= len(data)
    record.body = b"".join(kept)
    record.cut = room < 0
    record.short = block.short
    record.size -= block.short


def _lines(readline: Callable[[], bytes]) -> Iterator[bytes]:
    """Header lines up to and with the empty one."""
    total = 0
    while line := readline():
        total += len(line)
        if total > HEAD_BYTES:
            raise Damaged("the header does not end")
        yield line
        if not line.strip():
            return


def _split_fields(lines: list[bytes]) -> list[Field]:
    """Split `name: value`; a line that begins with a space goes on with the one before."""
    fields: list[Field] = []
    for line in map(_text, lines):
        name, colon, value = line.partition(":")
        if line[:1] in " \t" and fields and line.strip():
            fields[-1] = (fields[-1][0], f"{fields[-1][1]} {line.strip()}")
        elif colon:
            fields.append((name.strip(), value.strip()))
    return fields


def _text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


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

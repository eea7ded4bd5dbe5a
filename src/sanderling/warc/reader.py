"""Read the archive: one record by its place, or all records of a file, past what is damaged."""

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from sanderling.errors import CollectionError
from sanderling.http.decoding import Problem, decoder_for
from sanderling.warc.gzip_members import MAGIC, Damaged, Member, next_record
from sanderling.warc.packer import Field
from sanderling.warc.record_parser import Parsed, begins_record, dechunk, parse, said, value_of
from sanderling.warc.records import Place
from sanderling.warc.remote import open_file

CAP = 64 * 1024 * 1024
REVISITS = 4  # how often a revisit may point at a revisit


class StoredRecord(Struct, frozen=True):
    """One record, its body with transfer and content coding removed."""

    kind: str  # response, request, revisit, metadata, warcinfo, resource ...
    place: Place
    fields: tuple[Field, ...]  # of the WARC record
    status: int = 0  # of HTTP; 0 if it has none
    head: tuple[Field, ...] = ()  # HTTP headers
    body: bytes = b""
    cut: bool = False  # the stored body is longer than the cap
    intact: bool | None = None  # whether its digests agree; None if not asked, or none to compare
    problem: str = ""  # what is wrong with the body, if it could not be decoded in full

    def field(self, name: str) -> str:
        """A field of the WARC record; empty if it is not there."""
        return value_of(self.fields, name)

    def header(self, name: str) -> str:
        """A header of the HTTP message; empty if it is not there."""
        return said(self.head, name)

    @property
    def url(self) -> str:
        """The URL it was asked for under."""
        return self.field("WARC-Target-URI")


class Damage(Struct, frozen=True):
    """A stretch of a file that holds no readable record."""

    place: Place  # its length is 0 if it goes on to the end
    what: str


Find = Callable[[str, str], Place | None]
"""Look a capture up by URL and WARC date; an index does it."""


def read_record(folder: Path, place: Place, cap: int = CAP, find: Find | None = None) -> StoredRecord:
    """Read the record at a place; a revisit comes with the body of what it repeats."""
    record = _read_one(folder, place, cap)
    original = record
    for _ in range(REVISITS):
        if original.kind != "revisit":
            return replace(record, body=original.body, cut=original.cut, problem=original.problem)
        original = _read_one(folder, _refers_to(original, find), cap)
    raise CollectionError(f"{place.file} at {place.offset}: revisits that lead nowhere")


def read_member(member: bytes, cap: int = CAP) -> StoredRecord:
    """Read a record that is not in a file yet."""
    parsed = parse(io.BufferedReader(Member(io.BytesIO(member), 0)), cap)
    if parsed is None:
        raise CollectionError("an empty record")
    return _stored(parsed, Place("", 0, len(member)), cap)


def walk(path: Path, cap: int = CAP, verify: bool = False, start: int = 0) -> Iterator[StoredRecord | Damage]:
    """Read the records of a WARC or ARC file in order, compressed or not; damage is reported and skipped."""
    with open_file(path.parent, path.name) as file:
        compressed = file.read(len(MAGIC)) == MAGIC
        yield from (_walk_members if compressed else _walk_plain)(file, path.name, start, cap, verify)


def _read_one(folder: Path, place: Place, cap: int) -> StoredRecord:
    try:
        with open_file(folder, place.file) as file:
            parsed = parse(_stream_at(file, place.offset), cap)
    except (Damaged, FileNotFoundError) as error:
        raise CollectionError(f"{place.file} at {place.offset} cannot be read: {error}") from error
    if parsed is None:
        raise CollectionError(f"{place.file} at {place.offset}: nothing is there")
    return _stored(parsed, place, cap)


def _stream_at(file: BinaryIO, offset: int) -> BinaryIO:
    """The bytes of a record from here on, inflated if need be."""
    file.seek(offset)
    compressed = file.read(len(MAGIC)) == MAGIC
    file.seek(offset)
    return io.BufferedReader(Member(file, offset)) if compressed else file


def _refers_to(record: StoredRecord, find: Find | None) -> Place:
    """Where the original of a revisit lies: our own files say it, for others the index is asked."""
    name, offset = record.field("WARC-Refers-To-Filename"), record.field("WARC-Refers-To-File-Offset")
    if name and offset.isdecimal() and "/" not in name:
        return Place(name, int(offset), 0)
    url = record.field("WARC-Refers-To-Target-URI") or record.url
    place = find(url, record.field("WARC-Refers-To-Date")) if find else None
    if place is None:
        raise CollectionError(f"{record.place.file} at {record.place.offset} repeats a record that is not here: {url}")
    return place


def _stored(parsed: Parsed, place: Place, cap: int) -> StoredRecord:
    body, problem = parsed.body, ""
    if "chunked" in said(parsed.head, "Transfer-Encoding").lower():
        body = dechunk(body)
    coding = said(parsed.head, "Content-Encoding") if parsed.kind == "response" else ""
    if coding and body:
        decoder = decoder_for(coding, cap)
        body, problem = decoder.feed(body) + decoder.finish(), decoder.problem.value
    cut = parsed.cut or problem == Problem.TOO_LARGE
    if parsed.short:
        problem = f"the record ends {parsed.short} bytes early"
    status, head = parsed.status, parsed.head
    if parsed.kind == "conversion":  # a page that was made from a stored one: its type is all there is of a head
        status, head = 200, (("Content-Type", value_of(parsed.fields, "Content-Type")),)
    return StoredRecord(parsed.kind, place, parsed.fields, status, head, body, cut, parsed.intact, problem)


def _walk_members(file: BinaryIO, name: str, offset: int, cap: int, verify: bool) -> Iterator[StoredRecord | Damage]:
    """One record per member; what else a member holds is reported."""
    size = _size(file)
    while offset < size:
        member = Member(file, offset)
        stream = io.BufferedReader(member)
        try:
            parsed = parse(stream, cap, verify)
            rest = _rest(stream)
        except Damaged as error:
            following = next_record(file, offset + 1)
            yield Damage(Place(name, offset, max(0, following - offset)), str(error))
            offset = following if following > 0 else size
            continue
        place = Place(name, offset, member.length)
        if parsed:
            yield _stored(parsed, place, cap)
        if rest:
            yield Damage(place, f"more than one record in a gzip member: {rest!r}")
        offset += member.length


def _walk_plain(file: BinaryIO, name: str, offset: int, cap: int, verify: bool) -> Iterator[StoredRecord | Damage]:
    """Records one after another, empty lines between."""
    size = _size(file)
    while (offset := _skip_empty(file, offset)) < size:
        try:
            parsed = parse(file, cap, verify)
        except Damaged as error:
            following = _next_plain(file, offset + 1)
            yield Damage(Place(name, offset, max(0, following - offset)), str(error))
            offset = following if following > 0 else size
            continue
        if parsed:
            yield _stored(parsed, Place(name, offset, parsed.size), cap)
            offset += parsed.size


def _rest(stream: BinaryIO) -> bytes:
    """Read to the end of a member; return the beginning of what is not empty lines."""
    found = b""
    while data := stream.read(65_536):
        found = found or data.strip()[:40]
    return found


def _size(file: BinaryIO) -> int:
    return file.seek(0, os.SEEK_END)


def _skip_empty(file: BinaryIO, offset: int) -> int:
    """Go to the first byte that is not part of an empty line."""
    file.seek(offset)
    while (line := file.readline(65_536)) and not line.strip():
        offset += len(line)
    file.seek(offset)
    return offset


def _next_plain(file: BinaryIO, offset: int) -> int:
    """Find the next line that begins a record; -1 if there is none."""
    file.seek(offset)
    file.readline()
    while True:
        at = file.tell()
        line = file.readline(65_536)
        if not line:
            return -1
        if begins_record(line):
            return at

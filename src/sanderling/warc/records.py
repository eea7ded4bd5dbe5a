"""Where records lie, and the two kinds that the archive itself packs: `warcinfo` and `revisit`."""

import hashlib
from collections.abc import Iterable

from msgspec import Struct

from sanderling import __version__
from sanderling.warc.http_head import readable_head
from sanderling.warc.packer import (
    Algorithm,
    Exchange,
    Field,
    Packed,
    header_lines,
    label,
    new_record_id,
    opening,
    pack_record,
    warc_date,
    warc_fields,
    writable,
)

PROFILE = "http://netpreserve.org/warc/1.1/revisit/"
STANDARD = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


class Place(Struct, frozen=True, array_like=True):
    """Where a record lies: the name of a file in the archive folder, and one gzip member of it."""

    file: str
    offset: int
    length: int


class Original(Struct, frozen=True):
    """The earlier capture that a revisit points at."""

    record_id: str
    url: str
    at: float
    payload_digest: str
    place: Place


def pack_warcinfo(name: str, about: Iterable[Field], at: float) -> bytes:
    block = warc_fields(
        [
            ("software", f"sanderling/{__version__}"),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", STANDARD),
            *about,
        ]
    )
    fields = [
        ("WARC-Filename", name),
        ("WARC-Block-Digest", label("sha256", hashlib.sha256(block).digest())),
        ("Content-Type", "application/warc-fields"),
    ]
    return pack_record(opening("warcinfo", new_record_id(), at) + header_lines(fields), block)


def pack_revisit(seen: Exchange, original: Original, algorithm: Algorithm, record_id: str = "") -> Packed:
    """Pack head and reference; the file name and offset are an extension, so that no index is needed to resolve it."""
    head = readable_head(seen.head)
    not_modified = head.split(None, 2)[1:2] == [b"304"]
    whole = label(algorithm, hashlib.new(algorithm, head).digest())
    record_id = record_id or new_record_id()
    fields = [("WARC-IP-Address", writable(seen.address))] if seen.address else []
    fields += [
        ("WARC-Profile", PROFILE + ("server-not-modified" if not_modified else "identical-payload-digest")),
        ("WARC-Refers-To", f"<{original.record_id}>"),
        ("WARC-Refers-To-Target-URI", writable(original.url)),
        ("WARC-Refers-To-Date", warc_date(original.at)),
        ("WARC-Refers-To-Filename", writable(original.place.file)),
        ("WARC-Refers-To-File-Offset", str(original.place.offset)),
        ("WARC-Payload-Digest", original.payload_digest),
        ("WARC-Block-Digest", whole),
        ("Content-Type", "application/http;msgtype=response"),
    ]
    lines = opening("revisit", record_id, seen.at, seen.url) + header_lines(fields)
    return Packed(record_id, pack_record(lines, head), original.payload_digest, head)

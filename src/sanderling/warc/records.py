"""Define record locations, and pack the archive's own records: `warcinfo` and `revisit`."""

import hashlib
from collections.abc import Iterable

from msgspec import Struct

from sanderling import __version__
from sanderling.warc.http_head import normalize_head
from sanderling.warc.other_archives import OTHER_ARCHIVE_FIELD
from sanderling.warc.packer import (
    DigestAlgorithm,
    HeaderField,
    HttpExchange,
    PackedRecord,
    encode_warc_fields,
    escape_header_value,
    format_digest,
    format_header_fields,
    format_record_start,
    format_warc_date,
    make_record_id,
    pack_record,
)

REVISIT_PROFILE_PREFIX = "http://netpreserve.org/warc/1.1/revisit/"
WARC_SPEC_URL = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


class RecordLocation(Struct, frozen=True, array_like=True):
    file: str
    offset: int
    length: int


class OriginalRecord(Struct, frozen=True):
    """The earlier capture that a revisit refers to."""

    record_id: str
    url: str
    captured_at: float
    payload_digest: str
    location: RecordLocation
    archive: str = ""  # name of another archive; empty: this one


def pack_warcinfo(file_name: str, warcinfo_fields: Iterable[HeaderField], created_at: float) -> bytes:
    block = encode_warc_fields(
        [
            ("software", f"sanderling/{__version__}"),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", WARC_SPEC_URL),
            *warcinfo_fields,
        ]
    )
    fields = [
        ("WARC-Filename", file_name),
        ("WARC-Block-Digest", format_digest("sha256", hashlib.sha256(block).digest())),
        ("Content-Type", "application/warc-fields"),
    ]
    return pack_record(
        format_record_start("warcinfo", make_record_id(), created_at) + format_header_fields(fields), block
    )


def pack_revisit(
    exchange: HttpExchange, original: OriginalRecord, algorithm: DigestAlgorithm, record_id: str = ""
) -> PackedRecord:
    """Pack the head of a response with a reference to the record of the same payload.

    File name and offset are an extension that resolves without an index.
    """
    head = normalize_head(exchange.head)
    not_modified = head.split(None, 2)[1:2] == [b"304"]
    block_digest = format_digest(algorithm, hashlib.new(algorithm, head).digest())
    record_id = record_id or make_record_id()
    fields = [("WARC-IP-Address", escape_header_value(exchange.address))] if exchange.address else []
    fields += [
        (
            "WARC-Profile",
            REVISIT_PROFILE_PREFIX + ("server-not-modified" if not_modified else "identical-payload-digest"),
        ),
        ("WARC-Refers-To", f"<{original.record_id}>"),
        ("WARC-Refers-To-Target-URI", escape_header_value(original.url)),
        ("WARC-Refers-To-Date", format_warc_date(original.captured_at)),
        ("WARC-Refers-To-Filename", escape_header_value(original.location.file)),
        ("WARC-Refers-To-File-Offset", str(original.location.offset)),
        *([(OTHER_ARCHIVE_FIELD, escape_header_value(original.archive))] if original.archive else []),
        ("WARC-Payload-Digest", original.payload_digest),
        ("WARC-Block-Digest", block_digest),
        ("Content-Type", "application/http;msgtype=response"),
    ]
    lines = format_record_start("revisit", record_id, exchange.fetched_at, exchange.url) + format_header_fields(fields)
    return PackedRecord(record_id, pack_record(lines, head), original.payload_digest, head)

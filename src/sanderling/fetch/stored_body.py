"""Read the body of the last stored version of a page."""

import os
from contextlib import suppress
from itertools import islice
from pathlib import Path

from sanderling.fetch.response import decode_header
from sanderling.http.decoders import zlib_module
from sanderling.http.decoding import decode_body
from sanderling.http.head import parse_head
from sanderling.models import Reason, StoredVersion
from sanderling.warc.packer import BLOCKS_FIELD, GZIP_WINDOW_BITS, SCREENSHOT_PREFIX
from sanderling.warc.record_parser import decode_chunked
from sanderling.warc.warc_reader import StoredRecord, iterate_records

MAX_HEAD_BYTES = 1 << 20  # WARC and HTTP head together
MAX_SCREENSHOT_BYTES = 20_000_000
MAX_CAPTURES = 1_000  # of a page; the screenshot is the last
RESPONSE_TYPE_HEADER = b"\r\nWARC-Type: response\r\n"
RESOURCE_TYPE_HEADER = b"\r\nWARC-Type: resource\r\n"  # a rendered page: no HTTP head
HEAD_END = b"\r\n\r\n"


def read_stored_body(folder: str, version: StoredVersion, max_bytes: int) -> bytes:
    """Return the decoded body of a record, or b"" if it cannot be read."""
    try:
        with open(Path(folder, version.file), "rb", buffering=0) as file:
            member = os.pread(file.fileno(), version.length, version.offset)
        inflate = zlib_module.decompressobj(GZIP_WINDOW_BITS)
        record = inflate.decompress(member, max_bytes + MAX_HEAD_BYTES)
    except (zlib_module.error, OSError):  # archive not on this machine, truncated, or not written by us
        return b""
    warc_head, _, block = record.partition(HEAD_END)
    if RESOURCE_TYPE_HEADER in warc_head:
        is_complete = inflate.eof and block.endswith(HEAD_END)
        return block[: -len(HEAD_END)] if is_complete and len(block) - len(HEAD_END) <= max_bytes else b""
    http_head, _, body = block.partition(HEAD_END)
    if not inflate.eof or RESPONSE_TYPE_HEADER not in warc_head or not body.endswith(HEAD_END):
        return b""
    fields = parse_head(http_head.split(b"\r\n"))[1]
    body = body[: -len(HEAD_END)]
    if b"chunked" in fields.get(b"transfer-encoding", b"").lower():  # in imported records; ours have none
        body = decode_chunked(body)
    decoded, reason = decode_body(body, decode_header(fields.get(b"content-encoding", b"")), max_bytes)
    return b"" if reason is not Reason.NONE else decoded


def read_stored_screenshot(folder: str, version: StoredVersion) -> tuple[bytes, bytes]:
    """Return the screenshot of a version and the boxes of its blocks; both empty if they cannot be read."""
    picture = blocks = b""
    with suppress(OSError):  # the archive is not on this machine
        records = iterate_records(Path(folder, version.file), MAX_SCREENSHOT_BYTES, start_offset=version.offset)
        page = next(records, None)
        page_id = page.get_field("WARC-Record-ID") if isinstance(page, StoredRecord) else ""
        for record in islice(records, MAX_CAPTURES):
            if not isinstance(record, StoredRecord) or record.get_field("WARC-Concurrent-To") != page_id:
                break  # the next page
            if record.url.startswith(SCREENSHOT_PREFIX) and record.record_type == "resource":
                picture = record.body
            elif record.url.startswith(SCREENSHOT_PREFIX):
                blocks = record.body.partition(f"{BLOCKS_FIELD}: ".encode())[2].strip()
    return picture, blocks

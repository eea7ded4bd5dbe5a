"""Read the body of the last stored version of a page."""

import os
from pathlib import Path

from sanderling.fetch.response import decode_header
from sanderling.http.decoders import zlib_module
from sanderling.http.decoding import decode_body
from sanderling.http.head import parse_head
from sanderling.models import Reason, StoredVersion
from sanderling.warc.packer import GZIP_WINDOW_BITS

MAX_HEAD_BYTES = 1 << 20  # WARC and HTTP head together
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
    coding = decode_header(parse_head(http_head.split(b"\r\n"))[1].get(b"content-encoding", b""))
    decoded, reason = decode_body(body[: -len(HEAD_END)], coding, max_bytes)
    return b"" if reason is not Reason.NONE else decoded

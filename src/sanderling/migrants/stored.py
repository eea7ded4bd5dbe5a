"""The last version of a page, read from the archive by the migrant that fetched the next one."""

import os
from pathlib import Path

from sanderling.migrants.answer import text
from sanderling.migrants.body import decoded
from sanderling.migrants.codings import inflater
from sanderling.migrants.head import read_head
from sanderling.migrants.pack import GZIP
from sanderling.records import Kept, Reason

HEADS = 1 << 20  # bytes of both heads of a record, at most
RESPONSE = b"\r\nWARC-Type: response\r\n"
END = b"\r\n\r\n"


def stored_body(folder: str, kept: Kept, cap_bytes: int) -> bytes:
    """Read the body of an answer as `pack_response` packed it; empty if it is not here, or something else."""
    try:
        with open(Path(folder, kept.file), "rb", buffering=0) as file:
            member = os.pread(file.fileno(), kept.length, kept.start)
        inflate = inflater.decompressobj(GZIP)
        record = inflate.decompress(member, cap_bytes + HEADS)
    except (inflater.error, OSError):  # at another place, cut short, never written by us
        return b""
    head, _, block = record.partition(END)
    answer, _, body = block.partition(END)
    if not inflate.eof or RESPONSE not in head or not body.endswith(END):
        return b""
    coding = text(read_head(answer.split(b"\r\n"))[1].get(b"content-encoding", b""))
    found, reason = decoded(body[: -len(END)], coding, cap_bytes)
    return b"" if reason is not Reason.NONE else found

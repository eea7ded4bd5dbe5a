"""Bodies of stored versions, read from the archive."""

import gzip
from pathlib import Path

import pytest

from sanderling.fetch.stored_body import read_stored_body
from sanderling.models import StoredVersion
from sanderling.warc.packer import HttpExchange, pack_request, pack_response

BODY = b"<p>the tide\r\n\r\ncomes in</p>\r\n\r\n"


def pack_body(body: bytes, coding: str = "") -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    head += f"Content-Encoding: {coding}\r\n".encode() if coding else b""
    return pack_response(HttpExchange("http://a.test/", 0.0, head + b"\r\n", body)).member


def write_archive(folder: Path, member: bytes, cut: int = 0) -> StoredVersion:
    (folder / "a.warc.gz").write_bytes(b"before" + member[: len(member) - cut] + b"behind" * (not cut))
    return StoredVersion("a.warc.gz", 6, len(member))


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_stored_body_is_read_and_decoded(tmp_path: Path, coding: str) -> None:
    body = gzip.compress(BODY) if coding else BODY
    assert read_stored_body(str(tmp_path), write_archive(tmp_path, pack_body(body, coding)), 1 << 20) == BODY


def test_unreadable_record_gives_an_empty_body(tmp_path: Path) -> None:
    request = pack_request(HttpExchange("http://a.test/", 0.0, b"GET / HTTP/1.1\r\n\r\n"), "urn:uuid:1").member
    assert read_stored_body(str(tmp_path), write_archive(tmp_path, request), 1 << 20) == b""
    assert read_stored_body(str(tmp_path), write_archive(tmp_path, pack_body(BODY), cut=9), 1 << 20) == b""
    assert read_stored_body(str(tmp_path), write_archive(tmp_path, b"no gzip at all"), 1 << 20) == b""
    assert (
        read_stored_body(str(tmp_path), write_archive(tmp_path, pack_body(gzip.compress(BODY)[:-9], "gzip")), 1 << 20)
        == b""
    )
    assert read_stored_body(str(tmp_path), write_archive(tmp_path, pack_body(bytes(9 << 20))), 1 << 20) == b""
    assert read_stored_body(str(tmp_path), StoredVersion("away.warc.gz", 0, 9), 1 << 20) == b""


def test_body_of_an_imported_record_is_read_without_chunks(tmp_path: Path) -> None:
    """Wget and Browsertrix store the transfer coding."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    block = head + b"3\r\n" + BODY[:3] + b"\r\n%x\r\n" % (len(BODY) - 3) + BODY[3:] + b"\r\n0\r\n\r\n"
    record = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (len(block), block)
    assert read_stored_body(str(tmp_path), write_archive(tmp_path, gzip.compress(record)), 1 << 20) == BODY

"""Tests of packing WARC records, verified with warcio."""

import gzip
import hashlib
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from sanderling.warc.packer import (
    HttpExchange,
    PackedRecord,
    escape_header_value,
    format_warc_date,
    pack_metadata,
    pack_request,
    pack_response,
)

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n"


def read_with_warcio(packed: PackedRecord) -> Any:
    """Read a single member with warcio, verifying its digests. Its block is in `.raw`."""
    records = []
    for record in ArchiveIterator(io.BytesIO(packed.member), check_digests="raise"):
        record.raw = record.raw_stream.read()
        records.append(record)
    assert len(records) == 1
    assert records[0].digest_checker.passed is not False
    return records[0]


@pytest.mark.parametrize("algorithm", ["sha256", "sha1"])
def test_response_is_valid_for_warcio(algorithm: Any) -> None:
    packed = pack_response(HttpExchange("http://a.test/", 1.5, HEAD, b"hello", "192.0.2.7"), algorithm)
    record = read_with_warcio(packed)
    assert record.rec_type == "response"
    assert record.rec_headers.protocol == "WARC/1.1"
    assert record.rec_headers["WARC-Record-ID"] == f"<{packed.record_id}>"
    assert record.rec_headers["WARC-Target-URI"] == "http://a.test/"
    assert record.rec_headers["WARC-Date"] == "1970-01-01T00:00:01.500000Z"
    assert record.rec_headers["WARC-IP-Address"] == "192.0.2.7"
    assert record.rec_headers["WARC-Payload-Digest"] == packed.payload_digest
    assert packed.payload_digest.startswith(f"{algorithm}:")
    assert record.http_headers.get_statuscode() == "200"
    assert record.raw == b"hello"
    assert record.digest_checker.passed


def test_warcio_detects_a_wrong_digest() -> None:
    packed = pack_response(HttpExchange("http://a.test/", 0, HEAD, b"hello", body_digest=b"\0" * 32))
    with pytest.raises(Exception, match="digest"):
        read_with_warcio(packed)


def test_known_body_digest_is_used() -> None:
    packed = pack_response(
        HttpExchange("http://a.test/", 0, HEAD, b"hello", body_digest=hashlib.sha256(b"hello").digest())
    )
    assert packed.payload_digest == pack_response(HttpExchange("http://a.test/", 0, HEAD, b"hello")).payload_digest


def test_request_and_metadata_refer_to_their_response() -> None:
    response = pack_response(HttpExchange("http://a.test/", 0, HEAD, b"hello"))
    exchange = HttpExchange("http://a.test/", 0, b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", address="::1")
    request = read_with_warcio(pack_request(exchange, response.record_id))
    metadata = read_with_warcio(pack_metadata("http://a.test/", 0, [("via", "http://b.test/")], response.record_id))
    for record, record_type in ((request, "request"), (metadata, "metadata")):
        assert record.rec_type == record_type
        assert record.rec_headers["WARC-Concurrent-To"] == f"<{response.record_id}>"
    assert metadata.raw == b"via: http://b.test/\r\n"


def test_truncated_body_has_a_reason() -> None:
    packed = pack_response(HttpExchange("http://a.test/", 0, HEAD, b"hel", truncation_reason="length"))
    record = read_with_warcio(packed)
    assert record.rec_headers["WARC-Truncated"] == "length"
    assert record.http_headers["Content-Length"] == "3"
    assert record.http_headers["X-Crawler-Content-Length"] == "5"


def test_complete_body_is_not_marked_as_truncated() -> None:
    assert (
        "WARC-Truncated"
        not in read_with_warcio(pack_response(HttpExchange("http://a.test/", 0, HEAD, b"hello"))).rec_headers
    )


def test_content_coding_is_kept() -> None:
    body = gzip.compress(b"hello")
    record = read_with_warcio(
        pack_response(HttpExchange("http://a.test/", 0, b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", body))
    )
    assert record.raw == body


def test_http_2_is_stored_as_warc_protocol() -> None:
    record = read_with_warcio(pack_response(HttpExchange("http://a.test/", 0, b"HTTP/2 200\r\n\r\n", b"x")))
    assert record.rec_headers["WARC-Protocol"] == "h2"


def test_values_cannot_inject_header_fields() -> None:
    assert escape_header_value("http://a/\r\nWARC-Type: warcinfo") == "http://a/%0D%0AWARC-Type:%20warcinfo"
    response = pack_response(HttpExchange("http://a/", 0, HEAD, b"hello"))
    metadata = read_with_warcio(pack_metadata("http://a/", 0, [("title", "x\r\nvia: y")], response.record_id))
    assert metadata.raw == b"title: x via: y\r\n"


def test_dates_have_microseconds() -> None:
    assert format_warc_date(1_700_000_000.000001) == "2023-11-14T22:13:20.000001Z"
    assert format_warc_date(0.9999999) == "1970-01-01T00:00:01.000000Z"


@given(head=st.binary(max_size=200), body=st.binary(max_size=200))
def test_any_head_and_body_can_be_read_back(head: bytes, body: bytes) -> None:
    record = read_with_warcio(pack_response(HttpExchange("http://a.test/", 0, head, body)))
    assert record.raw == body
    assert record.digest_checker.passed


@given(
    lines=st.lists(
        st.sampled_from(
            [
                b"HTTP/1.1 200 OK",
                b"HTTP/2 301",
                b"",
                b"Content-Length: 3",
                b"X: y",
                b" folded",
                b" ",
                b"\x0b",
                b"Transfer-Encoding: chunked",
                b"content-length : 9",
            ]
        )
    ),
    end=st.sampled_from([b"\r\n", b"\n"]),
    body=st.binary(max_size=9),
)
def test_framing_headers_match_the_body_for_any_combination_of_lines(
    lines: list[bytes], end: bytes, body: bytes
) -> None:
    record = read_with_warcio(pack_response(HttpExchange("http://a.test/", 0, end.join([*lines, b"", b""]), body)))
    assert record.raw == body
    assert record.http_headers["Content-Length"] == str(len(body))
    assert "Transfer-Encoding" not in record.http_headers

"""What a migrant packs, the reference reader must read and verify."""

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


def read(packed: PackedRecord) -> Any:
    """Read one member with warcio, digests checked; its block is in `.raw` afterwards."""
    records = []
    for record in ArchiveIterator(io.BytesIO(packed.member), check_digests="raise"):
        record.raw = record.raw_stream.read()
        records.append(record)
    assert len(records) == 1
    assert records[0].digest_checker.passed is not False
    return records[0]


@pytest.mark.parametrize("algorithm", ["sha256", "sha1"])
def test_a_response_is_read_and_verified_by_warcio(algorithm: Any) -> None:
    packed = pack_response(HttpExchange("http://a.test/", 1.5, HEAD, b"hello", "192.0.2.7"), algorithm)
    record = read(packed)
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


def test_a_wrong_digest_is_noticed_by_the_reader_these_tests_trust() -> None:
    packed = pack_response(HttpExchange("http://a.test/", 0, HEAD, b"hello", body_digest=b"\0" * 32))
    with pytest.raises(Exception, match="digest"):
        read(packed)


def test_a_digest_somebody_already_has_is_not_computed_again() -> None:
    given_digest = pack_response(
        HttpExchange("http://a.test/", 0, HEAD, b"hello", body_digest=hashlib.sha256(b"hello").digest())
    )
    assert (
        given_digest.payload_digest == pack_response(HttpExchange("http://a.test/", 0, HEAD, b"hello")).payload_digest
    )


def test_the_request_and_metadata_name_their_answer() -> None:
    answer = pack_response(HttpExchange("http://a.test/", 0, HEAD, b"hello"))
    asked = HttpExchange("http://a.test/", 0, b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", address="::1")
    request = read(pack_request(asked, answer.record_id))
    metadata = read(pack_metadata("http://a.test/", 0, [("via", "http://b.test/")], answer.record_id))
    for record, kind in ((request, "request"), (metadata, "metadata")):
        assert record.rec_type == kind
        assert record.rec_headers["WARC-Concurrent-To"] == f"<{answer.record_id}>"
    assert metadata.raw == b"via: http://b.test/\r\n"


def test_a_cut_body_says_why() -> None:
    packed = pack_response(HttpExchange("http://a.test/", 0, HEAD, b"hel", truncation_reason="length"))
    record = read(packed)
    assert record.rec_headers["WARC-Truncated"] == "length"
    assert record.http_headers["Content-Length"] == "3"
    assert record.http_headers["X-Crawler-Content-Length"] == "5"


def test_a_whole_body_does_not_say_it_is_cut() -> None:
    assert "WARC-Truncated" not in read(pack_response(HttpExchange("http://a.test/", 0, HEAD, b"hello"))).rec_headers


def test_content_coding_is_kept() -> None:
    body = gzip.compress(b"hello")
    record = read(
        pack_response(HttpExchange("http://a.test/", 0, b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", body))
    )
    assert record.raw == body


def test_http_2_is_noted_in_the_record() -> None:
    record = read(pack_response(HttpExchange("http://a.test/", 0, b"HTTP/2 200\r\n\r\n", b"x")))
    assert record.rec_headers["WARC-Protocol"] == "h2"


def test_no_url_and_no_fact_can_forge_a_header() -> None:
    assert escape_header_value("http://a/\r\nWARC-Type: warcinfo") == "http://a/%0D%0AWARC-Type:%20warcinfo"
    answer = pack_response(HttpExchange("http://a/", 0, HEAD, b"hello"))
    facts = read(pack_metadata("http://a/", 0, [("title", "x\r\nvia: y")], answer.record_id))
    assert facts.raw == b"title: x via: y\r\n"


def test_dates_carry_microseconds() -> None:
    assert format_warc_date(1_700_000_000.000001) == "2023-11-14T22:13:20.000001Z"
    assert format_warc_date(0.9999999) == "1970-01-01T00:00:01.000000Z"


@given(head=st.binary(max_size=200), body=st.binary(max_size=200))
def test_whatever_a_server_sends_the_body_stays_where_the_digest_says(head: bytes, body: bytes) -> None:
    record = read(pack_response(HttpExchange("http://a.test/", 0, head, body)))
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
def test_heads_made_of_likely_lines_hold_too(lines: list[bytes], end: bytes, body: bytes) -> None:
    record = read(pack_response(HttpExchange("http://a.test/", 0, end.join([*lines, b"", b""]), body)))
    assert record.raw == body
    assert record.http_headers["Content-Length"] == str(len(body))
    assert "Transfer-Encoding" not in record.http_headers

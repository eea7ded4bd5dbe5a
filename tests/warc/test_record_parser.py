"""The fast parser of whole records agrees with the one that reads a stream."""

import gzip
import io
import random
from pathlib import Path

import pytest

from sanderling.warc.gzip_members import DamagedRecordError, find_intact_members, inflate_whole_member
from sanderling.warc.packer import HttpExchange, pack_metadata, pack_request, pack_response
from sanderling.warc.record_parser import parse_record, parse_whole_record

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-A: 1\r\nX-A: 2\r\n\r\n"
RECORDS = [
    gzip.decompress(member)
    for member in (
        pack_response(HttpExchange("http://a.test/", 1.0, HEAD, b"<p>body\r\n\r\nof a page")).member,
        pack_request(HttpExchange("http://a.test/", 1.0, b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"), "urn:x").member,
        pack_metadata("http://a.test/", 1.0, [("via", "http://b.test/")], "urn:x").member,
    )
]
UNUSUAL = [b"\n", b"\r\n", b"\r\n ", b"\t", b"\xff", b"9", b": ", b"\r\n\r\n", b"WARC/1.0\r\n", b"sha1:"]


def parse_as_stream(data: bytes, limit: int) -> object:
    try:
        return parse_record(io.BytesIO(data), limit, verify=True)
    except DamagedRecordError:
        return None


@pytest.mark.parametrize("record", RECORDS)
def test_usual_records_are_parsed_identically(record: bytes) -> None:
    for limit in (0, 3, 1000):
        parsed = parse_whole_record(record, limit, verify=True)
        assert parsed == parse_as_stream(record, limit)
        assert parsed is not None
        assert parsed.is_intact is True


def test_altered_records_are_parsed_identically_or_left_to_the_stream() -> None:
    generator = random.Random(7)
    parsed_count = 0
    for _ in range(6000):
        record = bytearray(generator.choice(RECORDS))
        for _ in range(generator.randrange(1, 4)):
            place = generator.randrange(len(record))
            record[place : place + generator.randrange(3)] = generator.choice(UNUSUAL)
        parsed = parse_whole_record(bytes(record), 1000, verify=True)
        if parsed is not None:
            parsed_count += 1
            assert parsed == parse_as_stream(bytes(record), 1000), bytes(record)
    assert parsed_count > 1000


def test_records_of_other_programs_are_parsed_identically(suites: Path) -> None:
    parsed_count = 0
    for path in sorted((suites / "warc" / "warcio").glob("*.warc.gz")):
        with path.open("rb") as file:
            for offset, _ in list(find_intact_members(file)):
                whole = inflate_whole_member(file, offset)
                assert whole is not None
                parsed = parse_whole_record(whole[0], 1000, verify=True)
                parsed_count += parsed is not None
                assert parsed is None or parsed == parse_as_stream(whole[0], 1000)
    assert parsed_count > 10

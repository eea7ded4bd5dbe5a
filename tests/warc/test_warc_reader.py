"""Tests of reading WARC files: by location, through revisits, past damage, and within limits."""

import gzip
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.errors import CollectionError
from sanderling.warc.archive import Archive, OriginalRecord, RecordLocation, open_archive
from sanderling.warc.packer import (
    HttpExchange,
    PackedRecord,
    format_header_fields,
    pack_metadata,
    pack_record,
    pack_response,
)
from sanderling.warc.record_parser import decode_chunked
from sanderling.warc.warc_reader import DamagedRegion, StoredRecord, iterate_records, read_record

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def append_page(archive: Archive, url: str, body: bytes, head: bytes = HEAD) -> tuple[PackedRecord, RecordLocation]:
    packed = pack_response(HttpExchange(url, 5, head, body))
    return packed, archive.append(packed.member)


def test_record_is_read_by_its_location(tmp_path: Path) -> None:
    with open_archive(tmp_path, {}) as archive:
        _, location = append_page(archive, "http://a/1", b"one")
        _, other = append_page(
            archive, "http://a/2", gzip.compress(b"two"), b"HTTP/1.1 203 X\r\nContent-Encoding: gzip\r\n\r\n"
        )
    first, second = read_record(tmp_path, location), read_record(tmp_path, other)
    assert (first.url, first.status, first.get_header("content-type"), first.body) == (
        "http://a/1",
        200,
        "text/html",
        b"one",
    )
    assert (second.url, second.status, second.body, second.record_type) == ("http://a/2", 203, b"two", "response")
    assert first.get_field("warc-type") == "response"


def test_revisit_has_the_body_of_its_original(tmp_path: Path) -> None:
    with open_archive(tmp_path, {}) as archive:
        packed, location = append_page(archive, "http://a/1", b"one")
        original = OriginalRecord(packed.record_id, "http://a/1", 5, packed.payload_digest, location)
        same, same_place = archive.append_revisit(HttpExchange("http://a/copy", 6, HEAD), original)
        again = OriginalRecord(same.record_id, "http://a/copy", 6, packed.payload_digest, same_place)
        _, not_modified = archive.append_revisit(
            HttpExchange("http://a/1", 7, b"HTTP/1.1 304 Not Modified\r\n\r\n"), again
        )
    assert read_record(tmp_path, same_place).body == b"one"
    assert read_record(tmp_path, same_place).url == "http://a/copy"
    assert (read_record(tmp_path, not_modified).status, read_record(tmp_path, not_modified).body) == (304, b"one")


def test_revisit_without_extension_fields_is_resolved_by_the_index(tmp_path: Path) -> None:
    fields = [
        ("WARC-Type", "revisit"),
        ("WARC-Target-URI", "http://a/1"),
        ("WARC-Refers-To-Date", "2020-01-01T00:00:00Z"),
        ("WARC-Payload-Digest", "sha256:A"),
    ]
    with open_archive(tmp_path, {}) as archive:
        _, location = append_page(archive, "http://a/1", b"one")
        revisit = archive.append(pack_record(format_header_fields(fields), HEAD))
    lookups: list[str] = []

    def find_capture(record: StoredRecord) -> RecordLocation:
        lookups.append(record.original_url)
        return location

    assert read_record(tmp_path, revisit, find_capture=find_capture).body == b"one"
    assert lookups == ["http://a/1"]
    with pytest.raises(CollectionError, match="not in this archive"):
        read_record(tmp_path, revisit)


def test_circular_revisits_are_an_error(tmp_path: Path) -> None:
    with open_archive(tmp_path, {}) as archive:
        location = RecordLocation(
            next(iter(archive.get_flushed_lengths())), next(iter(archive.get_flushed_lengths().values())), 0
        )
        archive.append_revisit(
            HttpExchange("http://a/1", 6, HEAD), OriginalRecord("urn:x", "http://a/1", 5, "sha1:X", location)
        )
    with pytest.raises(CollectionError, match="no original"):
        read_record(tmp_path, location)


@pytest.mark.parametrize(
    "location",
    [RecordLocation("none.warc.gz", 0, 9), RecordLocation("x.warc.gz", 3, 9), RecordLocation("x.warc.gz", 999, 9)],
)
def test_invalid_location_is_an_error_with_the_file_name(tmp_path: Path, location: RecordLocation) -> None:
    (tmp_path / "x.warc.gz").write_bytes(pack_response(HttpExchange("http://a/", 0, HEAD, b"one")).member)
    with pytest.raises(CollectionError, match=location.file):
        read_record(tmp_path, location)


def test_revisit_cannot_refer_to_files_outside_the_archive(tmp_path: Path) -> None:
    fields = [("WARC-Type", "revisit"), ("WARC-Refers-To-Filename", "../x"), ("WARC-Refers-To-File-Offset", "0")]
    (tmp_path / "x.warc.gz").write_bytes(pack_record(format_header_fields(fields), b""))
    with pytest.raises(CollectionError, match="not in this archive"):
        read_record(tmp_path, RecordLocation("x.warc.gz", 0, 0))


def test_body_is_truncated_at_the_limit(tmp_path: Path) -> None:
    with open_archive(tmp_path, {}) as archive:
        _, exact = append_page(archive, "http://a/1", b"x" * 100)
        _, longer = append_page(archive, "http://a/2", b"x" * 101)
    assert (
        read_record(tmp_path, exact, max_body_bytes=100).body,
        read_record(tmp_path, exact, max_body_bytes=100).is_truncated,
    ) == (
        b"x" * 100,
        False,
    )
    assert (
        read_record(tmp_path, longer, max_body_bytes=100).body,
        read_record(tmp_path, longer, max_body_bytes=100).is_truncated,
    ) == (
        b"x" * 100,
        True,
    )


def test_nested_decompression_bombs_stay_within_the_limit(tmp_path: Path) -> None:
    inner = gzip.compress(bytes(50_000_000), compresslevel=9)
    with open_archive(tmp_path, {}) as archive:
        _, location = append_page(archive, "http://a/", inner, b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
        _, plain = append_page(archive, "http://b/", bytes(50_000_000))
    del inner
    tracemalloc.start()
    for item in (location, plain):
        record = read_record(tmp_path, item, max_body_bytes=1_000_000)
        assert (len(record.body), record.is_truncated) == (1_000_000, True)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_iteration_continues_after_damage(tmp_path: Path) -> None:
    with open_archive(tmp_path, {}) as archive:
        locations = [append_page(archive, f"http://a/{n}", os.urandom(5000))[1] for n in range(5)]
    path = tmp_path / locations[0].file
    damaged = bytearray(path.read_bytes())
    damaged[locations[1].offset + 2000] ^= 0xFF
    damaged[locations[3].offset] = 0
    path.write_bytes(bytes(damaged) + b"\x1f\x8b\x08 a tail")
    found = list(iterate_records(path))
    assert [item.url for item in found if isinstance(item, StoredRecord)] == [
        "",
        "http://a/0",
        "http://a/2",
        "http://a/4",
    ]
    assert [item.location for item in found if isinstance(item, DamagedRegion)] == [
        locations[1],
        locations[3],
        RecordLocation(path.name, len(damaged), 0),
    ]


def test_uncompressed_file_is_read(tmp_path: Path) -> None:
    parts = [gzip.decompress(pack_response(HttpExchange(f"http://a/{n}", 0, HEAD, b"x" * n)).member) for n in range(3)]
    (tmp_path / "x.warc").write_bytes(parts[0] + b"rubbish\r\n" + parts[1] + parts[2])
    found = list(iterate_records(tmp_path / "x.warc"))
    assert [type(item) for item in found] == [StoredRecord, DamagedRegion, StoredRecord, StoredRecord]
    assert read_record(tmp_path, found[3].location).body == b"xx"


def test_empty_file_has_no_records(tmp_path: Path) -> None:
    (tmp_path / "x.warc.gz").write_bytes(b"")
    assert list(iterate_records(tmp_path / "x.warc.gz")) == []


@given(data=st.binary(max_size=300))
def test_arbitrary_bytes_never_stop_the_iteration(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("walk") / "x.warc"
    for content in (data, b"WARC/1.1\r\n" + data, gzip.compress(b"WARC/1.1\r\nContent-Length: 5\r\n\r\n" + data)):
        path.write_bytes(content)
        assert all(item.location.offset < len(content) for item in iterate_records(path))


@given(cut=st.integers(0, 10_000), flip=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_damaged_archive_never_stops_the_iteration(
    cut: int, flip: int, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = bytearray(b"".join(pack_metadata("http://a/", 0, [("n", str(n))], "urn:x").member for n in range(4)))
    whole[flip % len(whole)] ^= 1 << bit
    path = tmp_path_factory.mktemp("walk") / "x.warc.gz"
    path.write_bytes(whole[: cut % len(whole)])
    list(iterate_records(path, verify=True))


def test_undecodable_body_is_reported(tmp_path: Path) -> None:
    with open_archive(tmp_path, {}) as archive:
        _, location = append_page(
            archive, "http://a/", gzip.compress(b"x" * 999)[:-9], b"HTTP/1.1 200 X\r\nContent-Encoding: gzip\r\n\r\n"
        )
    assert read_record(tmp_path, location).body_problem == "truncated"


def test_repeated_header_is_joined(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 X\r\nContent-Encoding: gzip\r\ncontent-encoding: gzip\r\nX: y\r\n\r\n"
    with open_archive(tmp_path, {}) as archive:
        _, location = append_page(archive, "http://a/", gzip.compress(gzip.compress(b"a page")), head)
    record = read_record(tmp_path, location)
    assert (record.body, record.get_header("Content-Encoding"), record.body_problem) == (b"a page", "gzip, gzip", "")


def test_chunks_are_joined_and_invalid_chunks_kept() -> None:
    assert decode_chunked(b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n") == b"hello world"
    assert decode_chunked(b"<!doctype html>") == b"<!doctype html>"
    assert decode_chunked(b"") == b""
    assert decode_chunked(b"9\r\ncut") == b"cut"

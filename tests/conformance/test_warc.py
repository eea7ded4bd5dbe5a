"""Read WARC and ARC files of other tools, and let warcio read ours."""

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from sanderling.warc.archive import OriginalRecord, open_archive
from sanderling.warc.packer import HttpExchange, pack_metadata, pack_request, pack_response
from sanderling.warc.warc_reader import DamagedRegion, StoredRecord, iterate_records


@pytest.fixture(scope="module")
def expected(suites: Path) -> list[Any]:
    found: list[Any] = json.loads((suites / "warc" / "expected_by_warcio.json").read_bytes())
    assert len(found) == 16
    return found


def test_records_of_the_suite_match_warcio(suites: Path, expected: list[Any]) -> None:
    for case in expected:
        found = [
            record
            for record in iterate_records(suites / "warc" / case["file"], verify=True)
            if isinstance(record, StoredRecord)
        ]
        assert [describe_record(record) for record in found] == [
            {
                **describe_record(record),
                **{key: value for key, value in case_record.items() if value is not None or key in OPTIONAL_FIELDS},
            }
            for record, case_record in zip(found, map(drop_payload, case["records"]), strict=True)
        ], case["file"]


OPTIONAL_FIELDS = (
    "http_status",
    "digest_ok",
)  # None is a value of these fields; other ARC fields are missing in the suite


def drop_payload(case_record: dict[str, Any]) -> dict[str, Any]:
    """Drop the payload, which is empty in the suite because its stream was already consumed."""
    return {key: value for key, value in case_record.items() if not key.startswith("payload")}


def describe_record(record: StoredRecord) -> dict[str, Any]:
    return {
        "offset": record.location.offset,
        "type": record.record_type,
        "id": record.get_field("WARC-Record-ID"),
        "uri": record.url,
        "date": record.get_field("WARC-Date"),
        "content_length": record.get_field("Content-Length"),
        # a document without an HTTP exchange is read as if its status were 200
        "http_status": str(record.status) if record.status and record.record_type != "resource" else None,
        "digest_ok": record.is_intact,
    }


def test_files_rejected_by_warcio_are_reported_as_damaged(suites: Path, expected: list[Any]) -> None:
    for case in expected:
        damaged = [one for one in iterate_records(suites / "warc" / case["file"]) if isinstance(one, DamagedRegion)]
        assert bool(damaged) == bool(case["error"] or case.get("iterator_errors")), case["file"]


def test_decoded_bodies_match_warcio(suites: Path, expected: list[Any]) -> None:
    compared = 0
    for case in expected:
        path = suites / "warc" / case["file"]
        theirs = read_bodies_with_warcio(path)
        for record in iterate_records(path):
            if not isinstance(record, StoredRecord) or record.record_type == "arc_header":
                continue
            other = next(theirs)
            assert record.body == other or record.body_problem or case["file"] == "warcio/bad.arc", case["file"]
            compared += len(other) > 0
    assert compared > 20


def read_bodies_with_warcio(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        try:
            for record in ArchiveIterator(file):
                if record.rec_type != "arc_header":
                    yield record.content_stream().read()
        except ArchiveLoadFailed:
            return


@pytest.fixture
def own_file(tmp_path: Path) -> Path:
    """Return a file with every record type that we write."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    with open_archive(tmp_path, {}) as archive:
        for number in range(20):
            url, body = f"http://a.test/{number}", gzip.compress(os.urandom(100) * number)
            response = pack_response(
                HttpExchange(url, number, head, body, "192.0.2.1"), "sha1" if number % 2 else "sha256"
            )
            location = archive.append(response.member)
            request = HttpExchange(url, number, b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", address="192.0.2.1")
            archive.append(pack_request(request, response.record_id).member)
            archive.append(pack_metadata(url, number, [("via", "http://a.test/")], response.record_id).member)
            original = OriginalRecord(response.record_id, url, number, response.payload_digest, location)
            archive.append_revisit(HttpExchange(url, 100 + number, head), original)
            archive.append_revisit(HttpExchange(url, 200 + number, b"HTTP/1.1 304 Not Modified\r\n\r\n"), original)
    [path] = tmp_path.glob("*.warc.gz")
    return path


def test_warcio_check_accepts_our_records(own_file: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", "-v", str(own_file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("digest pass") == 1 + 20 * 3
    assert done.stdout.count("digest present but not checked (revisit)") == 20 * 2


def test_our_reader_and_warcio_agree_on_our_files(own_file: Path) -> None:
    records = [record for record in iterate_records(own_file, verify=True) if isinstance(record, StoredRecord)]
    with own_file.open("rb") as file:
        theirs = ArchiveIterator(file)
        for record, other in zip(records, theirs, strict=True):
            assert record.record_type == other.rec_type
            assert list(record.fields) == other.rec_headers.headers
            assert record.body == other.content_stream().read()
            assert record.location.offset == theirs.get_record_offset()
            assert record.location.length == theirs.get_record_length()
            assert record.is_intact is (None if record.record_type == "revisit" else True)


def test_modified_byte_is_detected_by_both(own_file: Path) -> None:
    whole = gzip.decompress(own_file.read_bytes())
    position = whole.index(b"X-Crawler")
    damaged = own_file.with_name("spoilt.warc")
    damaged.write_bytes(whole[:position] + b"Y" + whole[position + 1 :])
    results = [record.is_intact for record in iterate_records(damaged, verify=True) if isinstance(record, StoredRecord)]
    assert results.count(False) == 1
    theirs = ArchiveIterator(io.BytesIO(damaged.read_bytes()), check_digests="raise")
    with pytest.raises(ArchiveLoadFailed, match="block digest"):
        list(map(read_body, theirs))


def read_body(record: Any) -> None:
    record.content_stream().read()

"""WARC and ARC files of others through our reader, our files through theirs."""

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


def test_every_record_of_the_suite_is_read_as_warcio_reads_it(suites: Path, expected: list[Any]) -> None:
    for case in expected:
        found = [
            one for one in iterate_records(suites / "warc" / case["file"], verify=True) if isinstance(one, StoredRecord)
        ]
        assert [described(one) for one in found] == [
            {**described(one), **{key: value for key, value in told.items() if value is not None or key in PLAIN}}
            for one, told in zip(found, map(comparable, case["records"]), strict=True)
        ], case["file"]


PLAIN = ("http_status", "digest_ok")  # where "none" is an answer; elsewhere the suite leaves ARC fields untold


def comparable(told: dict[str, Any]) -> dict[str, Any]:
    """Leave out the payload: the suite read it after its stream was used up, so it is empty there in every record."""
    return {key: value for key, value in told.items() if not key.startswith("payload")}


def described(record: StoredRecord) -> dict[str, Any]:
    return {
        "offset": record.location.offset,
        "type": record.record_type,
        "id": record.get_field("WARC-Record-ID"),
        "uri": record.url,
        "date": record.get_field("WARC-Date"),
        "content_length": record.get_field("Content-Length"),
        "http_status": str(record.status) if record.status else None,
        "digest_ok": record.is_intact,
    }


def test_every_file_warcio_refuses_is_reported_as_damaged(suites: Path, expected: list[Any]) -> None:
    for case in expected:
        damaged = [one for one in iterate_records(suites / "warc" / case["file"]) if isinstance(one, DamagedRegion)]
        assert bool(damaged) == bool(case["error"] or case.get("iterator_errors")), case["file"]


def test_every_body_is_what_warcio_decodes(suites: Path, expected: list[Any]) -> None:
    compared = 0
    for case in expected:
        path = suites / "warc" / case["file"]
        theirs = bodies_by_warcio(path)
        for record in iterate_records(path):
            if not isinstance(record, StoredRecord) or record.record_type == "arc_header":
                continue
            other = next(theirs)
            assert record.body == other or record.body_problem or case["file"] == "warcio/bad.arc", case["file"]
            compared += len(other) > 0
    assert compared > 20


def bodies_by_warcio(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        try:
            for record in ArchiveIterator(file):
                if record.rec_type != "arc_header":
                    yield record.content_stream().read()
        except ArchiveLoadFailed:
            return


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A file with every kind of record we write."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    with open_archive(tmp_path, {}) as archive:
        for number in range(20):
            url, body = f"http://a.test/{number}", gzip.compress(os.urandom(100) * number)
            answer = pack_response(
                HttpExchange(url, number, head, body, "192.0.2.1"), "sha1" if number % 2 else "sha256"
            )
            place = archive.append(answer.member)
            asked = HttpExchange(url, number, b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", address="192.0.2.1")
            archive.append(pack_request(asked, answer.record_id).member)
            archive.append(pack_metadata(url, number, [("via", "http://a.test/")], answer.record_id).member)
            original = OriginalRecord(answer.record_id, url, number, answer.payload_digest, place)
            archive.append_revisit(HttpExchange(url, 100 + number, head), original)
            archive.append_revisit(HttpExchange(url, 200 + number, b"HTTP/1.1 304 Not Modified\r\n\r\n"), original)
    [path] = tmp_path.glob("*.warc.gz")
    return path


def test_warcio_check_accepts_every_record_we_write(ours: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", "-v", str(ours)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("digest pass") == 1 + 20 * 3
    assert done.stdout.count("digest present but not checked (revisit)") == 20 * 2


def test_our_reader_and_warcio_agree_on_our_files(ours: Path) -> None:
    mine = [one for one in iterate_records(ours, verify=True) if isinstance(one, StoredRecord)]
    with ours.open("rb") as file:
        theirs = ArchiveIterator(file)
        for record, other in zip(mine, theirs, strict=True):
            assert record.record_type == other.rec_type
            assert list(record.fields) == other.rec_headers.headers
            assert record.body == other.content_stream().read()
            assert record.location.offset == theirs.get_record_offset()
            assert record.location.length == theirs.get_record_length()
            assert record.is_intact is (None if record.record_type == "revisit" else True)


def test_one_spoilt_byte_is_noticed_by_both(ours: Path) -> None:
    whole = gzip.decompress(ours.read_bytes())
    at = whole.index(b"X-Crawler")
    spoilt = ours.with_name("spoilt.warc")
    spoilt.write_bytes(whole[:at] + b"Y" + whole[at + 1 :])
    verdicts = [one.is_intact for one in iterate_records(spoilt, verify=True) if isinstance(one, StoredRecord)]
    assert verdicts.count(False) == 1
    theirs = ArchiveIterator(io.BytesIO(spoilt.read_bytes()), check_digests="raise")
    with pytest.raises(ArchiveLoadFailed, match="block digest"):
        list(map(read_through, theirs))


def read_through(record: Any) -> None:
    record.content_stream().read()

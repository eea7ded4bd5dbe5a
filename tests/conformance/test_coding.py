"""Test content codings with the bodies of Scrapy's tests: every coding, bombs, and damaged streams."""

from pathlib import Path

import pytest

from sanderling.http.decoding import DecodeProblem, build_decoder

MAX_BYTES = 10_000_000


def _decode(file: Path, coding: str, max_bytes: int = MAX_BYTES) -> tuple[bytes, DecodeProblem]:
    decoder = build_decoder(coding, max_bytes)
    body = decoder.feed(file.read_bytes()) + decoder.finish()
    return body, decoder.problem


@pytest.mark.parametrize(
    "files",
    [
        {
            "html-gzip.bin": "gzip",
            "html-br.bin": "br",
            "html-zstd-static-content-size.bin": "zstd",
            "html-zstd-static-no-content-size.bin": "zstd",
            "html-zstd-streaming-no-content-size.bin": "zstd",
            "html-gzip-deflate.bin": "gzip, deflate",
            "html-gzip-deflate-gzip.bin": "gzip, deflate, gzip",
        },
        {"html-rawdeflate.bin": "deflate", "html-zlibdeflate.bin": "deflate"},  # another version of the page
    ],
)
def test_every_coding_decodes_to_the_same_page(suites: Path, files: dict[str, str]) -> None:
    decoded = {_decode(suites / "compressed" / name, coding) for name, coding in files.items()}
    assert len(decoded) == 1
    page, problem = decoded.pop()
    assert b"<html" in page[:300]
    assert problem is DecodeProblem.NONE


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip", "zstd"])
def test_decompression_bombs_stop_at_the_limit(suites: Path, coding: str) -> None:
    body, problem = _decode(suites / "compressed" / f"bomb-{coding}.bin", coding)
    assert len(body) == MAX_BYTES
    assert problem is DecodeProblem.TOO_LARGE


@pytest.mark.parametrize(
    ("name", "end"), [("truncated-crc-error.gz", b"</html"), ("truncated-crc-error-short.gz", b"</html>")]
)
def test_page_with_a_truncated_checksum_is_complete(suites: Path, name: str, end: bytes) -> None:
    body, problem = _decode(suites / "compressed" / name, "gzip")
    assert body.endswith(end)
    assert problem is DecodeProblem.TRUNCATED


def test_truncated_page_is_decoded_up_to_its_end(suites: Path) -> None:
    body, problem = _decode(suites / "compressed" / "unexpected-eof.gz", "gzip")
    assert body.decode("cp1252") == (suites / "compressed" / "unexpected-eof-output.txt").read_text("utf-8")
    assert problem is DecodeProblem.TRUNCATED


def test_gzipped_feed_equals_the_plain_feed(suites: Path) -> None:
    body, problem = _decode(suites / "compressed" / "feed-sample1.xml.gz", "gzip")
    assert body == (suites / "compressed" / "feed-sample1.xml").read_bytes()
    assert problem is DecodeProblem.NONE


@pytest.mark.parametrize(
    ("name", "coding", "expected"),
    [
        ("feed-sample1.zip", "gzip", DecodeProblem.NOT_ENCODED),
        ("feed-sample1.tar", "gzip", DecodeProblem.NOT_ENCODED),
        ("feed-sample1.xml.bz2", "bzip2", DecodeProblem.UNKNOWN_CODING),
    ],
)
def test_other_formats_are_returned_unchanged(suites: Path, name: str, coding: str, expected: DecodeProblem) -> None:
    body, problem = _decode(suites / "compressed" / name, coding)
    assert body == (suites / "compressed" / name).read_bytes()
    assert problem is expected

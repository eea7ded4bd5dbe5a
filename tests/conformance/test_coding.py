"""Content codings against the bodies of Scrapy's tests: every coding, bombs, damaged streams."""

from pathlib import Path

import pytest

from sanderling.http.decoding import DecodeProblem, build_decoder

CAP = 10_000_000


def _decode(file: Path, coding: str, cap: int = CAP) -> tuple[bytes, DecodeProblem]:
    decoder = build_decoder(coding, cap)
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
        {"html-rawdeflate.bin": "deflate", "html-zlibdeflate.bin": "deflate"},  # another edition of the page
    ],
)
def test_one_page_comes_out_of_every_coding(suites: Path, files: dict[str, str]) -> None:
    decoded = {_decode(suites / "compressed" / name, coding) for name, coding in files.items()}
    assert len(decoded) == 1
    page, problem = decoded.pop()
    assert b"<html" in page[:300]
    assert problem is DecodeProblem.NONE


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip", "zstd"])
def test_every_bomb_stops_at_the_cap(suites: Path, coding: str) -> None:
    body, problem = _decode(suites / "compressed" / f"bomb-{coding}.bin", coding)
    assert len(body) == CAP
    assert problem is DecodeProblem.TOO_LARGE


@pytest.mark.parametrize(
    ("name", "end"), [("truncated-crc-error.gz", b"</html"), ("truncated-crc-error-short.gz", b"</html>")]
)
def test_a_page_whose_checksum_was_cut_off_is_whole(suites: Path, name: str, end: bytes) -> None:
    body, problem = _decode(suites / "compressed" / name, "gzip")
    assert body.endswith(end)
    assert problem is DecodeProblem.TRUNCATED


def test_of_a_page_cut_in_the_middle_the_first_part_is_read(suites: Path) -> None:
    body, problem = _decode(suites / "compressed" / "unexpected-eof.gz", "gzip")
    assert body.decode("cp1252") == (suites / "compressed" / "unexpected-eof-output.txt").read_text("utf-8")
    assert problem is DecodeProblem.TRUNCATED


def test_a_feed_is_the_same_with_and_without_gzip(suites: Path) -> None:
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
def test_what_is_no_content_coding_is_handed_on(suites: Path, name: str, coding: str, expected: DecodeProblem) -> None:
    body, problem = _decode(suites / "compressed" / name, coding)
    assert body == (suites / "compressed" / name).read_bytes()
    assert problem is expected

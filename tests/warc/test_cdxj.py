"""Tests of CDXJ lines and of searching a sorted index file."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.warc.archive import RecordLocation
from sanderling.warc.cdxj import CdxjEntry, format_entry, parse_entry, read_captures

DAY = 86_400.0


def build_test_entry(url: str, at: float = DAY, offset: int = 0) -> CdxjEntry:
    return CdxjEntry(url, at, "text/html", 200, "sha256:X", RecordLocation("a.warc.gz", offset, 9))


def test_line_has_key_timestamp_and_json() -> None:
    key, timestamp, fields = format_entry(build_test_entry("http://www.a.test/B")).decode().split(" ", 2)
    assert (key, timestamp) == ("test,a)/b", "19700102000000")
    assert json.loads(fields) == {
        "url": "http://www.a.test/B",
        "mime": "text/html",
        "status": "200",
        "digest": "sha256:X",
        "length": "9",
        "offset": "0",
        "filename": "a.warc.gz",
    }


@given(url=st.text(max_size=30), at=st.integers(0, 4_000_000_000), mime=st.text(max_size=9), status=st.integers(0, 999))
def test_formatted_line_is_parsed_back(url: str, at: int, mime: str, status: int) -> None:
    entry = CdxjEntry("http://a/" + url, float(at), mime, status, "sha1:Y", RecordLocation("f", 1, 2))
    assert format_entry(entry).count(b"\n") == 1
    assert parse_entry(format_entry(entry)) == entry


def test_captures_are_matched_by_the_full_url(tmp_path: Path) -> None:
    urls = [
        "http://a.test/",
        "http://a.test/x",
        "http://a.test/X",
        "http://www.a.test/x",
        "http://a.test/x?a",
        "http://b.test/",
    ]
    lines = [format_entry(build_test_entry(url, DAY * day, day)) for url in urls for day in range(1, 4)]
    (tmp_path / "index.cdxj").write_bytes(b"".join(sorted(lines)))
    for url in urls:
        found = list(read_captures(tmp_path / "index.cdxj", url))
        assert [(entry.url, entry.captured_at) for entry in found] == [(url, DAY * day) for day in range(1, 4)]
    assert list(read_captures(tmp_path / "index.cdxj", "http://a.test/y")) == []


@given(
    words=st.sets(st.text("abc", min_size=1, max_size=4), max_size=40), target=st.text("abc", min_size=1, max_size=4)
)
def test_binary_search_finds_the_same_as_a_scan(
    words: set[str], target: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("cdxj") / "index.cdxj"
    path.write_bytes(
        b"".join(sorted(format_entry(build_test_entry(f"http://a.test/{word}" * (1 + len(word)))) for word in words))
    )
    url = f"http://a.test/{target}" * (1 + len(target))
    assert [entry.url for entry in read_captures(path, url)] == ([url] if target in words else [])

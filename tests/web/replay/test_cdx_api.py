"""Queries of the CDX server API, on an index with several hosts."""

from pathlib import Path

import pytest

from sanderling.errors import UsageError
from sanderling.warc.cdxj import CdxjEntry
from sanderling.warc.cdxj_index import CdxjIndex
from sanderling.warc.records import RecordLocation
from sanderling.web.replay.capture_store import CaptureStore
from sanderling.web.replay.cdx_api import find_rows, parse_query
from sanderling.web.replay.replay_url import parse_timestamp

CAPTURES = (
    ("http://example.org/", "2024", "text/html", 200),
    ("http://example.org/", "2026", "text/html", 404),
    ("https://example.org/a/b", "2025", "image/png", 200),
    ("http://example.org/ab", "2025", "text/html", 200),
    ("http://sub.example.org/", "2025", "text/html", 200),
    ("http://example.organic/", "2025", "text/html", 200),
)


@pytest.fixture
def store(tmp_path: Path) -> CaptureStore:
    (tmp_path / "indexes").mkdir()
    index = CdxjIndex(tmp_path / "indexes", run_lines=2)
    for number, (url, year, mime, status) in enumerate(CAPTURES):
        at = parse_timestamp(f"{year}0601")
        index.add([CdxjEntry(url, at, mime, status, "sha256:X", RecordLocation("a.warc.gz", number, 9))], {})
    index.write_run()
    return CaptureStore(tmp_path)


@pytest.mark.parametrize(
    ("params", "filters", "offsets"),
    [
        ({"url": "example.org/"}, [], "01"),
        ({"url": "http://example.org/*"}, [], "0123"),
        ({"url": "example.org/a*"}, [], "23"),
        ({"url": "example.org/", "matchType": "host"}, [], "0123"),
        ({"url": "*.example.org"}, [], "01234"),
        ({"url": "example.org", "matchType": "domain"}, [], "01234"),
        ({"url": "example.org/*", "from": "2025"}, [], "123"),
        ({"url": "example.org/*", "to": "2025"}, [], "023"),
        ({"url": "example.org/*", "limit": "2"}, [], "01"),
        ({"url": "example.org/*", "limit": "-1"}, [], "3"),
        ({"url": "example.org/*", "sort": "reverse"}, [], "3210"),
        ({"url": "example.org/", "closest": "20260701"}, [], "10"),
        ({"url": "example.org/*"}, ["=status:200"], "023"),
        ({"url": "example.org/*"}, ["!=statuscode:200"], "1"),
        ({"url": "example.org/*"}, ["mimetype:png"], "2"),
        ({"url": "example.org/*"}, ["~mime:image/.*|text/css"], "2"),
        ({"url": "example.org/*"}, ["=status:200", "!mime:image"], "03"),
        ({"url": "unknown.test/"}, [], ""),
    ],
)
def test_captures_are_selected(store: CaptureStore, params: dict[str, str], filters: list[str], offsets: str) -> None:
    assert "".join(row["offset"] for row in find_rows(parse_query(params, filters), store)) == offsets


@pytest.mark.parametrize(
    "params",
    [{}, {"url": "a", "matchType": "x"}, {"url": "a", "limit": "x"}, {"url": "a", "from": "x"},
     {"url": "a", "output": "xml"}],
)  # fmt: skip
def test_wrong_parameters_are_named(params: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        parse_query(params, [])

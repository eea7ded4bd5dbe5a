"""Queries of the CDX server API, on an index with several hosts."""

from pathlib import Path

import pytest

from sanderling.api.replay.capture_store import CaptureStore
from sanderling.api.replay.cdx_api import find_rows, format_row, parse_query
from sanderling.api.replay.replay_url import parse_timestamp
from sanderling.errors import UsageError
from sanderling.warc.cdxj import CdxjEntry
from sanderling.warc.cdxj_index import CdxjIndex
from sanderling.warc.records import RecordLocation

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
        ({"url": "example.org/*", "limit": "-2"}, [], "23"),
        ({"url": "example.org/*", "limit": "0"}, [], "0123"),
        ({"url": "example.org/*", "sort": "reverse"}, [], "3210"),
        ({"url": "example.org/", "closest": "20260701"}, [], "10"),
        ({"url": "example.org/*"}, ["=status:200"], "023"),
        ({"url": "example.org/*"}, ["!=statuscode:200"], "1"),
        ({"url": "example.org/*"}, ["mimetype:png"], "2"),
        ({"url": "example.org/*"}, ["~mime:image/.*|text/css"], "2"),
        ({"url": "example.org/*"}, ["=status:200", "!mime:image"], "03"),
        ({"url": "example.org/*"}, ["~status:4.."], "1"),
        ({"url": "example.org/*"}, ["~status:[34]"], "1"),
        ({"url": "example.org/*"}, ["~mime:text"], "013"),
        ({"url": "example.org/*"}, ["~mime:text$"], ""),
        ({"url": "example.org/*"}, ["~url:^https.*/b$"], "2"),
        ({"url": "example.org/*"}, [r"~url:.*example\.org/a.*b$"], "23"),
        ({"url": "example.org/", "collapseTime": "2"}, [], "01"),
        ({"url": "example.org/*", "collapseTime": "4"}, [], "012"),
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


@pytest.mark.parametrize("pattern", ["(a+)+", "a{9}", "a?", "[a", "(", "\\w", "a**", "+"])
def test_expressions_that_could_take_long_are_rejected(store: CaptureStore, pattern: str) -> None:
    with pytest.raises(UsageError, match="may contain"):
        list(find_rows(parse_query({"url": "example.org/*"}, [f"~url:{pattern}"]), store))


def test_many_wildcards_take_linear_time(store: CaptureStore) -> None:
    index = CdxjIndex(store.index_folder)
    url = "http://example.org/" + "a" * 30_000
    index.add([CdxjEntry(url, 1.7e9, "text/html", 200, "", RecordLocation("a.warc.gz", 9, 9))], {})
    index.write_run()
    filters = ["~url:" + "a.*" * 100 + "b"]
    assert not list(find_rows(parse_query({"url": "example.org/*"}, filters), store))


def test_revisits_are_resolved_as_in_pywb(tmp_path: Path) -> None:
    (tmp_path / "indexes").mkdir()
    index = CdxjIndex(tmp_path / "indexes", run_lines=9)
    for year, mime, offset, digest in ((2024, "text/html", 5, "sha1:X"), (2025, "warc/revisit", 70, "sha1:X"),
                                       (2026, "warc/revisit", 90, "sha1:LOST")):  # fmt: skip
        place = RecordLocation("a.warc.gz", offset, 9)
        at = parse_timestamp(f"{year}0601")
        index.add([CdxjEntry("http://example.org/", at, mime, 200, digest, place)], {})
    index.write_run()
    query = parse_query({"url": "example.org/", "resolveRevisits": "true", "output": "json"}, [])
    rows = list(find_rows(query, CaptureStore(tmp_path)))
    found = [(row["mime"], row["offset"], row["orig.offset"], row["orig.filename"]) for row in rows]
    assert found == [
        ("text/html", "5", "-", "-"),
        ("text/html", "70", "5", "a.warc.gz"),
        ("warc/revisit", "90", "-", "-"),
    ]
    assert '"orig.length": "9"' in format_row(rows[1], query)

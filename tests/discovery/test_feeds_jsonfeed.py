"""Feeds in JSON."""

import json

import pytest

from sanderling.discovery.entry_types import SitemapEntry, SitemapKind, SitemapProblem, SitemapReport
from sanderling.discovery.feeds import LOC_LIMIT, MAX_FEED_LENGTH
from sanderling.discovery.sitemap_parser import parse_sitemap

VERSION = "https://jsonfeed.org/version/1.1"


def _read(items: object, version: str = VERSION) -> SitemapReport:
    return parse_sitemap([json.dumps({"version": version, "items": items}).encode()])


def test_items_are_pages_with_their_dates() -> None:
    dated = {"id": "1", "url": " http://x/a ", "date_published": "1970-01-01T00:00:01Z"}
    report = _read([dated | {"date_modified": "1970-01-01T00:00:02Z"}, dated | {"url": "/b"}, {"id": "http://x/c"}])
    assert report.entries == (SitemapEntry("http://x/a", 2.0), SitemapEntry("/b", 1.0), SitemapEntry("http://x/c"))
    assert report.kind is SitemapKind.JSON
    assert report.problems == {}


@pytest.mark.parametrize("item", [{}, {"id": 7}, {"id": None, "url": []}, {"url": "urn:x"}, [], 3, None, "http://x/"])
def test_an_item_without_an_address_is_counted(item: object) -> None:
    assert _read([item]).problems == {SitemapProblem.NO_LOC: 1}


def test_what_cannot_be_read_is_counted() -> None:
    report = _read([{"url": "http://x/", "date_modified": "soon"}, {"url": "http://x/" + "a" * LOC_LIMIT}])
    assert report.entries == (SitemapEntry("http://x/"),)
    assert report.problems == {SitemapProblem.BAD_DATE: 1, SitemapProblem.BAD_LOC: 1}


@pytest.mark.parametrize(
    "body", [b"{", b'{"items": [}', b'{"a":' * 99_999, b'{"version": "https://jsonfeed.org/version/1"']
)
def test_json_that_is_none_breaks_nothing(body: bytes) -> None:
    assert parse_sitemap([body]).problems == {SitemapProblem.NOT_WELL_FORMED: 1, SitemapProblem.NOT_A_SITEMAP: 1}


def test_other_json_is_no_feed() -> None:
    assert _read([{"url": "http://x/"}], version="1.1").kind is SitemapKind.UNKNOWN
    assert _read({"url": "http://x/"}).entries == ()


def test_an_endless_feed_is_not_read() -> None:
    report = parse_sitemap([b"{" + b" " * MAX_FEED_LENGTH, b"}"])
    assert report.problems == {SitemapProblem.TOO_LARGE: 1, SitemapProblem.NOT_A_SITEMAP: 1}

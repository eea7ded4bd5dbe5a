"""Page URLs of feed entries, and JSON Feed."""

import json

import pytest

from sanderling.discovery.entry_types import SitemapEntry, SitemapKind, SitemapProblem, SitemapReport
from sanderling.discovery.feeds import LOC_LIMIT, MAX_FEED_LENGTH, join_url
from sanderling.discovery.sitemap_parser import parse_sitemap

RSS = "<rss><channel>{}</channel></rss>"
ATOM = "<feed{}><entry{}>{}</entry></feed>"


def _parse_locs(text: str) -> list[str]:
    return [entry.loc for entry in parse_sitemap([text.encode()]).entries]


@pytest.mark.parametrize(
    ("item", "locs"),
    [
        ("<link>/a</link>", ["/a"]),
        ("<link>a.html?b</link><guid>http://x/g</guid>", ["a.html?b"]),
        ("<link>//y/a</link>", ["//y/a"]),
        ("<link>mailto:a@x</link><guid>http://x/g</guid>", ["http://x/g"]),
        ("<link>a page</link><guid>http://x/g</guid>", ["http://x/g"]),
        ("<link/><guid>http://x/g</guid>", ["http://x/g"]),
        ("<image><link>http://x/logo</link></image><link>http://x/a</link>", ["http://x/a"]),
        ("<textInput><link>http://x/find</link></textInput><link>http://x/a</link>", ["http://x/a"]),
        ("<guid>17</guid>", []),
    ],
)
def test_page_url_of_an_rss_item_is_chosen(item: str, locs: list[str]) -> None:
    assert _parse_locs(RSS.format(f"<item>{item}</item>")) == locs


def test_unclosed_image_affects_only_its_item() -> None:
    items = "<item><image><link>http://x/logo</link></item><item><link>http://x/b</link></item>"
    assert _parse_locs(RSS.format(items)) == ["http://x/b"]


def test_rdf_item_uses_the_about_attribute() -> None:
    assert _parse_locs('<rdf:RDF><item rdf:about="http://x/a"><title>A</title></item></rdf:RDF>') == ["http://x/a"]


@pytest.mark.parametrize(
    ("feed", "entry", "link", "loc"),
    [
        ("", "", '<link href="a"/>', "a"),
        (' xml:base="http://y/dir/"', "", '<link href="a"/>', "http://y/dir/a"),
        (' xml:base="http://y/dir/"', ' xml:base="sub/"', '<link href="a"/>', "http://y/dir/sub/a"),
        (' xml:base="http://y/dir/"', ' xml:base="sub/"', '<link xml:base="z/" href="a"/>', "http://y/dir/sub/z/a"),
        (' xml:base="/dir/"', "", '<link href="../a"/>', "/a"),
        (' xml:base="http://y/"', "", '<link href="http://x/a"/>', "http://x/a"),
        ("", "", '<link rel="self" href="s"/><link rel=" Alternate " href="a"/>', "a"),
        ("", "", '<link rel="enclosure">http://x/e</link><link rel="alternate">http://x/a</link>', "http://x/a"),
        ("", "", '<link rel="http://www.iana.org/assignments/relation/alternate" href="a"/>', "a"),
        ("", "", '<link href="gemini://x/a"/><link href="http://x/a"/><link href="http://x/b"/>', "http://x/a"),
        ("", "", '<link href="a"/><link href="http://x/b"/>', "a"),
    ],
)
def test_relative_link_is_resolved_against_xml_base(feed: str, entry: str, link: str, loc: str) -> None:
    assert _parse_locs(ATOM.format(feed, entry, link)) == [loc]


@pytest.mark.parametrize(
    ("dates", "at"),
    [
        ("<pubDate>Thu, 01 Jan 1970 00:00:05 GMT</pubDate>", 5.0),
        ("<pubDate>Thu, 01 Jan 1970 00:00:05 GMT</pubDate><atom:updated>1970-01-01T00:00:09Z</atom:updated>", 9.0),
        ("<dc:date>1970-01-01T00:00:05Z</dc:date><dcterms:modified>1970-01-01T00:00:09Z</dcterms:modified>", 9.0),
        ("<atom:updated>soon</atom:updated><dc:date>1970-01-01T00:00:05Z</dc:date>", 5.0),
    ],
)
def test_modification_date_takes_precedence_over_publication_date(dates: str, at: float) -> None:
    report = parse_sitemap([RSS.format(f"<item><link>http://x/</link>{dates}</item>").encode()])
    assert [entry.lastmod for entry in report.entries] == [at]


def test_invalid_base_is_ignored() -> None:
    assert join_url("http://[", "a") == "a"


def test_server_warning_before_the_xml_is_skipped() -> None:
    report = parse_sitemap(
        [b"Warning: no time zone\n<?xml version='1.0'?><rss><item><link>http://x/a</link></item></rss>"]
    )
    assert [entry.loc for entry in report.entries] == ["http://x/a"]
    assert report.kind is SitemapKind.RSS
    assert report.problems == {SitemapProblem.NOT_WELL_FORMED: 1}


VERSION = "https://jsonfeed.org/version/1.1"


def _parse_json_feed(items: object, version: str = VERSION) -> SitemapReport:
    return parse_sitemap([json.dumps({"version": version, "items": items}).encode()])


def test_json_feed_items_become_entries() -> None:
    item = {"id": "1", "url": " http://x/a ", "date_published": "1970-01-01T00:00:01Z"}
    report = _parse_json_feed(
        [item | {"date_modified": "1970-01-01T00:00:02Z"}, item | {"url": "/b"}, {"id": "http://x/c"}]
    )
    assert report.entries == (SitemapEntry("http://x/a", 2.0), SitemapEntry("/b", 1.0), SitemapEntry("http://x/c"))
    assert report.kind is SitemapKind.JSON
    assert report.problems == {}


@pytest.mark.parametrize("item", [{}, {"id": 7}, {"id": None, "url": []}, {"url": "urn:x"}, [], 3, None, "http://x/"])
def test_json_feed_item_without_url_is_counted(item: object) -> None:
    assert _parse_json_feed([item]).problems == {SitemapProblem.NO_LOC: 1}


def test_json_feed_problems_are_counted() -> None:
    report = _parse_json_feed([{"url": "http://x/", "date_modified": "soon"}, {"url": "http://x/" + "a" * LOC_LIMIT}])
    assert report.entries == (SitemapEntry("http://x/"),)
    assert report.problems == {SitemapProblem.BAD_DATE: 1, SitemapProblem.BAD_LOC: 1}


@pytest.mark.parametrize(
    "body", [b"{", b'{"items": [}', b'{"a":' * 99_999, b'{"version": "https://jsonfeed.org/version/1"']
)
def test_malformed_json_is_counted(body: bytes) -> None:
    assert parse_sitemap([body]).problems == {SitemapProblem.NOT_WELL_FORMED: 1, SitemapProblem.NOT_A_SITEMAP: 1}


def test_other_json_is_not_a_feed() -> None:
    assert _parse_json_feed([{"url": "http://x/"}], version="1.1").kind is SitemapKind.UNKNOWN
    assert _parse_json_feed({"url": "http://x/"}).entries == ()


def test_json_feed_above_the_size_limit_is_not_parsed() -> None:
    report = parse_sitemap([b"{" + b" " * MAX_FEED_LENGTH, b"}"])
    assert report.problems == {SitemapProblem.TOO_LARGE: 1, SitemapProblem.NOT_A_SITEMAP: 1}

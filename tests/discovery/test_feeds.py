"""Which address of a feed's entry is its page's."""

import pytest

from sanderling.discovery.entry_types import SitemapKind, SitemapProblem
from sanderling.discovery.feeds import join_url
from sanderling.discovery.sitemap_parser import parse_sitemap

RSS = "<rss><channel>{}</channel></rss>"
ATOM = "<feed{}><entry{}>{}</entry></feed>"


def _locs(text: str) -> list[str]:
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
def test_an_item_has_one_page(item: str, locs: list[str]) -> None:
    assert _locs(RSS.format(f"<item>{item}</item>")) == locs


def test_an_image_left_open_costs_its_own_item_only() -> None:
    items = "<item><image><link>http://x/logo</link></item><item><link>http://x/b</link></item>"
    assert _locs(RSS.format(items)) == ["http://x/b"]


def test_an_item_of_rdf_is_known_by_what_it_is_about() -> None:
    assert _locs('<rdf:RDF><item rdf:about="http://x/a"><title>A</title></item></rdf:RDF>') == ["http://x/a"]


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
def test_a_relative_link_starts_where_the_feed_says(feed: str, entry: str, link: str, loc: str) -> None:
    assert _locs(ATOM.format(feed, entry, link)) == [loc]


@pytest.mark.parametrize(
    ("dates", "at"),
    [
        ("<pubDate>Thu, 01 Jan 1970 00:00:05 GMT</pubDate>", 5.0),
        ("<pubDate>Thu, 01 Jan 1970 00:00:05 GMT</pubDate><atom:updated>1970-01-01T00:00:09Z</atom:updated>", 9.0),
        ("<dc:date>1970-01-01T00:00:05Z</dc:date><dcterms:modified>1970-01-01T00:00:09Z</dcterms:modified>", 9.0),
        ("<atom:updated>soon</atom:updated><dc:date>1970-01-01T00:00:05Z</dc:date>", 5.0),
    ],
)
def test_the_date_of_a_change_counts_before_that_of_the_beginning(dates: str, at: float) -> None:
    report = parse_sitemap([RSS.format(f"<item><link>http://x/</link>{dates}</item>").encode()])
    assert [entry.lastmod for entry in report.entries] == [at]


def test_a_base_that_is_none_is_left_out() -> None:
    assert join_url("http://[", "a") == "a"


def test_what_a_server_says_before_the_xml_is_left_out() -> None:
    report = parse_sitemap(
        [b"Warning: no time zone\n<?xml version='1.0'?><rss><item><link>http://x/a</link></item></rss>"]
    )
    assert [entry.loc for entry in report.entries] == ["http://x/a"]
    assert report.kind is SitemapKind.RSS
    assert report.problems == {SitemapProblem.NOT_WELL_FORMED: 1}

"""Sitemap and feed parser."""

import gzip
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.discovery import sitemap_parser
from sanderling.discovery.dates import DatePrecision
from sanderling.discovery.entry_types import (
    AlternateLink,
    SitemapEntry,
    SitemapKind,
    SitemapLimits,
    SitemapProblem,
    SitemapReport,
)
from sanderling.discovery.sitemap_parser import SitemapParser, parse_sitemap

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'


def _parse(text: str, limits: SitemapLimits | None = None) -> SitemapReport:
    return parse_sitemap([text.encode()], limits)


def _parse_urlset(*entries: str) -> SitemapReport:
    return _parse(HEAD + "".join(f"<url>{entry}</url>" for entry in entries) + "</urlset>")


def test_all_fields_of_an_entry_are_parsed() -> None:
    report = _parse_urlset(
        "<loc>http://x/?a=1&amp;b=2</loc><lastmod>1970-01-02</lastmod>"
        "<changefreq>Daily</changefreq><priority>0,8</priority>"
    )
    assert report == SitemapReport(
        SitemapKind.URLSET,
        (SitemapEntry("http://x/?a=1&b=2", 86400.0, DatePrecision.DAY, "daily", 0.8),),
        bytes_read=report.bytes_read,
    )


@pytest.mark.parametrize(
    "entry",
    [
        "<loc>http://x/a</loc><lastmod>1970-01-01T00:00:09Z</lastmod><priority>0.5</priority>",
        " <loc> http://x/a\n</loc>\n<lastmod>1970-01-01T00:00:09Z</lastmod> <priority>0.5</priority> ",
        "<LOC>http://x/a</LOC><LastMod>1970-01-01T00:00:09Z</lastmod><Priority>0.5</priority>",
        "<s:loc>http://x/a</s:loc><s:lastmod>1970-01-01T00:00:09Z</s:lastmod><priority a='b'>0.5</priority>",
        "<priority>0.5</priority><lastmod>1970-01-01T00:00:09Z</lastmod><loc><![CDATA[http://x/a]]></loc>",
        "<loc>http://x/a<lastmod>1970-01-01T00:00:09Z<priority>0.5",
        "<!-- <loc>no</loc> --><loc>http://x/a</loc><lastmod>1970-01-01T00:00:09Z</lastmod><priority>.5</priority><b/>",
    ],
)
def test_syntax_variants_give_the_same_entry(entry: str) -> None:
    assert _parse_urlset(entry).entries == (SitemapEntry("http://x/a", 9.0, priority=0.5),)


def test_fast_path_for_plain_entries_gives_the_same_result() -> None:
    plain = "<loc>http://x/a</loc><lastmod>2020-01-01</lastmod><changefreq>x</changefreq><priority>7</priority>"
    with_attribute = plain.replace("<loc>", "<loc a='b'>")
    assert _parse_urlset(plain, plain) == _parse_urlset(plain, plain)
    assert _parse_urlset(plain).entries == _parse_urlset(with_attribute).entries
    assert (
        _parse_urlset(plain).problems
        == _parse_urlset(with_attribute).problems
        == {SitemapProblem.BAD_CHANGEFREQ: 1, SitemapProblem.BAD_PRIORITY: 1}
    )


def test_alternates_and_images_belong_to_their_entry() -> None:
    report = _parse_urlset(
        '<loc>http://x/a</loc><xhtml:link rel="alternate" hreflang="de" href="http://x/de?a&amp;b"/>'
        '<xhtml:link rel="stylesheet" href="http://x/css"/>'
        "<image:image><image:loc>http://x/1.png</image:loc></image:image>"
        "<image:image><image:loc>/2.png</image:loc></image:image>",
        "<loc>http://x/b</loc>",
    )
    first, second = report.entries
    assert first.alternates == (AlternateLink("de", "http://x/de?a&b"),)
    assert [image.loc for image in first.images] == ["http://x/1.png", "/2.png"]
    assert second == SitemapEntry("http://x/b")


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("<lastmod>2020-01-01</lastmod>", SitemapProblem.NO_LOC),
        ("", SitemapProblem.NO_LOC),
        ("<loc>mailto:x@y</loc>", SitemapProblem.BAD_LOC),
        ("<loc>&xxe;</loc>", SitemapProblem.BAD_LOC),
        ("<loc>http://x/" + "a" * 10_000 + "</loc>", SitemapProblem.BAD_LOC),
        ("<loc>http://x/a</loc><lastmod>yesterday</lastmod>", SitemapProblem.BAD_DATE),
        ("<loc>http://x/a</loc><priority>high</priority>", SitemapProblem.BAD_PRIORITY),
        ("<loc>http://x/a</loc><priority>nan</priority>", SitemapProblem.BAD_PRIORITY),
        ("<loc>http://x/a</loc><changefreq>often</changefreq>", SitemapProblem.BAD_CHANGEFREQ),
        ("<loc>http://x/a</loc><url><loc>http://x/b</loc>", SitemapProblem.NOT_WELL_FORMED),
    ],
)
def test_problems_are_counted(entry: str, problem: SitemapProblem) -> None:
    assert _parse_urlset(entry).problems == {problem: 1}


def test_invalid_entry_does_not_affect_the_next() -> None:
    report = _parse_urlset("<loc>&xxe;</loc>", "<loc>http://x/a</loc>", "<lastmod/>", "<loc>http://x/b</loc>")
    assert [entry.loc for entry in report.entries] == ["http://x/a", "http://x/b"]


@pytest.mark.parametrize(
    ("text", "locs"),
    [
        ("<url><loc>http://x/a</loc></url><url><loc>http://x/b", ["http://x/a"]),
        ("<url><loc>http://x/a</loc></url><url><loc>http://x/b<", ["http://x/a", "http://x/b"]),
        ("<url><loc>http://x/a</loc><lastm", ["http://x/a"]),
        ("<url><loc>http://x/a</loc></url><!-- ", ["http://x/a"]),
    ],
)
def test_truncated_url_is_dropped(text: str, locs: list[str]) -> None:
    report = _parse(HEAD + text)
    assert [entry.loc for entry in report.entries] == locs
    assert report.problems == {SitemapProblem.TRUNCATED: 1}


def test_sitemap_index_lists_sitemaps() -> None:
    report = _parse(
        "<sitemapindex><sitemap><loc>http://x/1.xml</loc><lastmod>1970-01-02</lastmod></sitemap></sitemapindex>"
    )
    assert report.kind is SitemapKind.INDEX
    assert report.entries == ()
    assert report.sitemaps == (SitemapEntry("http://x/1.xml", 86400.0, DatePrecision.DAY),)


RSS = """<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>http://x/</link>
<lastBuildDate>Thu, 01 Jan 1970 00:00:07 GMT</lastBuildDate><image><link>http://x/logo</link></image>
<item><title>A &amp; B</title><link>http://x/a</link><pubDate>Thu, 01 Jan 1970 00:00:09 GMT</pubDate>
<description><p>text <link>http://x/no</link></description></item>
<item><guid>http://x/b</guid><atom:link rel="self" href="http://x/self"/></item>
<item><guid isPermaLink="false">17</guid></item></channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><updated>1970-01-01T00:00:07Z</updated><link href="http://x/"/>
<entry><link rel="edit" href="http://x/edit"/><link rel="alternate" href="http://x/a"/><id>urn:1</id>
<published>1970-01-01T00:00:05Z</published><updated>1970-01-01T00:00:09Z</updated>
<content type="xhtml"><div><link href="http://x/no"/><updated>2000-01-01</updated></div></content></entry></feed>"""


@pytest.mark.parametrize(
    ("text", "kind", "locs"),
    [(RSS, SitemapKind.RSS, ["http://x/a", "http://x/b"]), (ATOM, SitemapKind.ATOM, ["http://x/a"])],
)
def test_feed_gives_the_links_of_its_items(text: str, kind: SitemapKind, locs: list[str]) -> None:
    report = _parse(text)
    assert report.kind is kind
    assert [entry.loc for entry in report.entries] == locs
    assert report.entries[0].lastmod == 9.0
    assert report.updated_at == 7.0


def test_text_list_is_a_sitemap() -> None:
    report = parse_sitemap([b"\xef\xbb\xbfhttp://x/a\r", b"\nhttp://x/b\rhttp", b"://x/c\n\nnonsense\nhttps://x/d"])
    assert [entry.loc for entry in report.entries] == ["http://x/a", "http://x/b", "http://x/c", "https://x/d"]
    assert report.kind is SitemapKind.TEXT
    assert report.problems == {SitemapProblem.BAD_LOC: 1}


@pytest.mark.parametrize("body", [b"", b"   ", b"nothing", b"\x00\x01\x02", b"<a/>", b"{}", b"%PDF-1.4"])
def test_other_files_are_reported_as_not_a_sitemap(body: bytes) -> None:
    report = parse_sitemap([body])
    assert report.kind is SitemapKind.UNKNOWN
    assert SitemapProblem.NOT_A_SITEMAP in report.problems


def test_web_page_has_no_entries() -> None:
    report = _parse("<!DOCTYPE html><html><body><url><loc>http://x/</loc></url></body></html>")
    assert report.entries == ()
    assert report.problems == {SitemapProblem.NOT_A_SITEMAP: 1}


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-8", ""),
        ("utf-8-sig", "UTF-8"),
        ("utf-16", "UTF-16"),
        ("latin-1", "ISO-8859-1"),
        ("utf-8", "utf-16"),
        ("utf-8", "rot13"),
    ],
)
def test_encoding_is_detected(encoding: str, declared: str) -> None:
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    body = f"{declaration}<urlset><url><loc>http://x/ü</loc></url></urlset>".encode(encoding)
    assert parse_sitemap([body]).entries == (SitemapEntry("http://x/ü"),)


def test_compressed_files_are_decompressed() -> None:
    compressed = gzip.compress((HEAD + "<url><loc>http://x/a</loc></url></urlset>").encode())
    assert parse_sitemap([compressed]).entries == (SitemapEntry("http://x/a"),)
    assert parse_sitemap([compressed[:-9]]).problems[SitemapProblem.BAD_GZIP] == 1


def test_number_of_entries_is_limited() -> None:
    text = HEAD + "<url><loc>http://x/a</loc></url>" * 10 + "</urlset>"
    report = _parse(text, SitemapLimits(max_entries=4))
    assert len(report.entries) == 4
    assert report.problems == {SitemapProblem.TOO_MANY_ENTRIES: 1}
    assert _parse(text, SitemapLimits(max_entries=10)).problems == {}


def test_number_of_tags_is_limited() -> None:
    parser = SitemapParser(SitemapLimits(max_tags=100))
    assert parser.feed(HEAD.encode() + b"<a>" * 20_000) == []
    assert parser.is_limit_reached
    parser.finish()
    assert parser.problems == {SitemapProblem.TOO_LARGE: 1}


def test_number_of_bytes_is_limited() -> None:
    text = HEAD + "<url><loc>http://x/a</loc></url>" * 1000 + "</urlset>"
    report = parse_sitemap([gzip.compress(text.encode())], SitemapLimits(max_bytes=5000))
    assert 0 < len(report.entries) < 200
    assert report.bytes_read == 5000
    assert report.problems == {SitemapProblem.TOO_LARGE: 1}


ENTITIES = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
HOSTILE = {
    "a bomb": gzip.compress(HEAD.encode() + bytes(10_000_000)),
    "a bomb in a bomb": gzip.compress(gzip.compress(bytes(10_000_000))),
    "a billion laughs": (
        f"<!DOCTYPE a [<!ENTITY a0 'ha'>{ENTITIES}]><urlset><url><loc>&a9;</loc></url></urlset>"
    ).encode(),
    "deep tags": b"<urlset>" + b"<url><loc>" * 20_000,
    "open tags": HEAD.encode() + b"<a" * 20_000 + b"<" * 1_000_000,
    "one tag": HEAD.encode() + b"<url " + b"a=' " * 500_000,
    "one text": HEAD.encode() + b"<url><loc>" + b"http://x/" * 500_000,
    "one comment": HEAD.encode() + b"<!--" + b"- " * 1_000_000,
    "images": HEAD.encode() + b"<url><loc>http://x/</loc>" + b"<image:image><loc>/a</loc></image:image>" * 5_000,
    "fields": HEAD.encode() + b"<url><video:video>" + b"<tag>a</tag>" * 20_000,
    "names": HEAD.encode() + b"<url>" + b"".join(b"<a%d>b</a%d>" % (n, n) for n in range(10_000)),
    "no line ends": b"http://x/" + b"a" * 3_000_000,
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_hostile_file_is_parsed_with_bounded_memory(body: bytes) -> None:
    tracemalloc.start()
    parser = SitemapParser(SitemapLimits(max_bytes=3_000_000))
    entries = [entry for at in range(0, len(body), 65536) for entry in parser.feed(body[at : at + 65536])]
    entries += parser.finish()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12_000_000
    assert len(entries) <= 1
    assert parser.problems


def test_large_sitemap_is_parsed_incrementally() -> None:
    entry = b"<url><loc>http://x/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</loc></url>\n"
    tracemalloc.start()
    parser = SitemapParser()
    count = sum(len(parser.feed(entry * 100)) for _ in range(400))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count > 39_000
    assert peak < 1_000_000


SAMPLES = [
    (
        HEAD + "<url>x<loc>http://x/a</loc>\n</url>"
        " <url><loc>http://x/b&amp;</loc><lastmod>2020-01-01</lastmod></url></urlset>"
    ).encode(),
    RSS.encode(),
    ATOM.encode(),
    b"http://x/a\nhttp://x/b\r\n",
]


@settings(max_examples=200)
@given(st.sampled_from(SAMPLES), st.integers(1, 40))
def test_result_does_not_depend_on_chunk_size(body: bytes, step: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sitemap_parser, "SCAN_BYTES", 1)  # do not buffer small chunks
        chunks = [body[at : at + step] for at in range(0, len(body), step)]
        assert parse_sitemap(chunks) == parse_sitemap([body])


@given(
    st.binary(max_size=300), st.sampled_from([b"", HEAD.encode(), HEAD.encode() + b"<url><loc>", b"<rss>", b"\x1f\x8b"])
)
def test_arbitrary_bytes_raise_no_exception(body: bytes, start: bytes) -> None:
    parse_sitemap([start + body])

"""Sitemap writer."""

from sanderling.discovery.dates import DatePrecision
from sanderling.discovery.entry_types import SitemapEntry, SitemapKind, SitemapLimits
from sanderling.discovery.sitemap_parser import parse_sitemap
from sanderling.discovery.sitemap_writer import write_sitemaps

PAGES = [
    SitemapEntry("https://x.org/?a=1&b=<2>'\"", 86400.0, DatePrecision.DAY, "daily", 0.25),
    SitemapEntry("https://x.org/b", 1700000000.0, DatePrecision.SECOND, "", 1.0),
    SitemapEntry("https://x.org/c"),
]


def test_written_sitemap_can_be_parsed() -> None:
    (file,) = write_sitemaps(PAGES, "https://x.org/")
    report = parse_sitemap([file.body])
    assert file.name == "sitemap.xml"
    assert list(report.entries) == PAGES
    assert report.problems == {}


def test_index_lists_the_files_above_the_limit() -> None:
    files = list(write_sitemaps(PAGES, "https://x.org/maps/", limits=SitemapLimits(max_entries=2)))
    assert [file.name for file in files] == ["sitemap-1.xml", "sitemap-2.xml", "sitemap.xml"]
    index = parse_sitemap([files[-1].body])
    assert index.kind is SitemapKind.INDEX
    assert [entry.loc for entry in index.sitemaps] == [
        "https://x.org/maps/sitemap-1.xml",
        "https://x.org/maps/sitemap-2.xml",
    ]
    assert [e for file in files[:2] for e in parse_sitemap([file.body]).entries] == PAGES


def test_files_respect_the_size_limit() -> None:
    entries = [SitemapEntry(f"https://x.org/{'a' * 500}/{n}") for n in range(100)]
    files = list(write_sitemaps(entries, "https://x.org", limits=SitemapLimits(max_bytes=4000)))
    assert all(len(file.body) <= 4000 for file in files[:-1])
    assert [e for file in files[:-1] for e in parse_sitemap([file.body]).entries] == entries


def test_no_entries_give_an_empty_sitemap() -> None:
    (file,) = write_sitemaps([], "https://x.org/")
    assert parse_sitemap([file.body]).kind is SitemapKind.URLSET


def test_lastmod_out_of_range_is_omitted() -> None:
    (file,) = write_sitemaps(
        [SitemapEntry("https://x.org/", 1e18), SitemapEntry("https://x.org/a", -1.0)], "https://x.org/"
    )
    assert b"lastmod" not in file.body

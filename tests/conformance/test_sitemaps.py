"""Test sitemaps and feeds with crawler-commons and the examples of the protocol."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sanderling.discovery.changefreq import CHANGEFREQS
from sanderling.discovery.dates import parse_date
from sanderling.discovery.entry_types import (
    SitemapEntry,
    SitemapImage,
    SitemapKind,
    SitemapLimits,
    SitemapProblem,
    SitemapReport,
    SitemapVideo,
    VideoPrice,
)
from sanderling.discovery.sitemap_parser import parse_sitemap
from sanderling.models import Host
from sanderling.urls.scope import can_sitemap_list, is_below_sitemap

Case = dict[str, Any]
COMMONS, PROTOCOL = "sitemaps-crawler-commons", "sitemaps-protocol"


def _load_cases(suites: Path, suite: str, key: str = "files") -> Any:
    return json.loads((suites / suite / "expected.json").read_text())[key]


def _parse_file(suites: Path, suite: str, case: Case) -> SitemapReport:
    return parse_sitemap([(suites / suite / case["file"]).read_bytes()])


def _parse_timestamp(text: str | None) -> float | None:
    moment = parse_date(text) if text else None
    return moment.timestamp if moment else None


def _find_differences(case: Case, report: SitemapReport) -> list[str]:
    """Return the keys that differ from the suite."""
    found = report.entries + report.sitemaps
    locs = [entry.loc for entry in found]
    checks: dict[str, Callable[[Any], bool]] = {
        "index": lambda value: (report.kind is SitemapKind.INDEX) is value,
        "url_count": lambda value: len(report.entries) == value,
        "lenient_url_count": lambda value: len(report.entries) == value,
        "entry_count": lambda value: len(report.sitemaps) == value,
        "urls": lambda value: locs == value,
        "contains": lambda value: set(value) <= set(locs),
        "second": lambda value: locs[1] == value,
        "first_changefreq": lambda value: found[0].changefreq == value,
        "feed_lastmod": lambda value: report.updated_at == _parse_timestamp(value),
        "entries": lambda value: len(found) == len(value) and all(map(_matches_entry, found, value)),
        "records": lambda value: len(found) == len(value) and all(map(_matches_record, found, value)),
    }
    return [key for key, check in checks.items() if key in case and not check(case[key])]


def _matches_entry(entry: SitemapEntry, expected: Any) -> bool:
    return (
        (entry.loc, entry.lastmod) == (expected[0], _parse_timestamp(expected[1]))
        if isinstance(expected, list)
        else entry.loc == expected
    )


def _matches_record(entry: SitemapEntry, record: Case) -> bool:
    is_same_page = entry.loc == record["loc"] and entry.lastmod == _parse_timestamp(record["lastmod"])
    has_same_hints = (entry.changefreq or None) == record.get("changefreq") and entry.priority == record.get("priority")
    return is_same_page and (has_same_hints or "changefreq" not in record)


@pytest.mark.parametrize(("suite", "number"), [(COMMONS, 37), (PROTOCOL, 7)])
def test_files_of_published_suites(suites: Path, suite: str, number: int) -> None:
    cases = _load_cases(suites, suite)
    wrong = [
        (case["file"], bad) for case in cases if (bad := _find_differences(case, _parse_file(suites, suite, case)))
    ]
    assert wrong == []
    assert len(cases) == number


def test_ambiguous_files_are_parsed_leniently(suites: Path) -> None:
    reports = {c["file"]: _parse_file(suites, COMMONS, c) for c in _load_cases(suites, COMMONS) if "acceptable" in c}
    results = {file: ([entry.loc for entry in report.entries], report.problems) for file, report in reports.items()}
    assert results == {
        "inline/xxe.xml": (["http://www.example.com/visit-here"], {SitemapProblem.BAD_LOC: 1}),
        "inline/broken.xml": (
            ["http://cs.harding.edu/fmccown/sitemaps/something.html"],
            {SitemapProblem.NO_LOC: 1, SitemapProblem.NOT_WELL_FORMED: 1},
        ),
        "inline/bogus.bin": ([], {SitemapProblem.BAD_LOC: 1, SitemapProblem.NOT_A_SITEMAP: 1}),
    }


def test_sitemaps_cannot_include_local_files(suites: Path) -> None:
    secret = Path("/etc/passwd").read_text().splitlines()[0]
    for name in ("inline/xxe.xml", "inline/xinclude.xml"):
        assert secret not in str(_parse_file(suites, COMMONS, {"file": name}))


def _parse_extension(suites: Path, name: str) -> tuple[tuple[SitemapEntry, ...], Case]:
    case = next(c for c in _load_cases(suites, COMMONS) if c["file"].endswith(name))
    return _parse_file(suites, COMMONS, case).entries, case


def test_video_fields_are_parsed(suites: Path) -> None:
    entries, case = _parse_extension(suites, "sitemap-videos.xml")
    expected = dict(case["videos"][0])
    currency, amount, kind = expected.pop("price")
    for date in ("expiration", "publication"):
        expected[date] = _parse_timestamp(expected[date])
    for words in ("tags", "allowed_countries"):
        expected[words] = tuple(expected[words])
    assert entries[0].videos == (SitemapVideo(**expected, prices=(VideoPrice(currency, amount, kind),)),)
    assert [entry.videos[0].prices for entry in entries[1:]] == [(VideoPrice("EUR", 1.99),), ()]


def test_image_fields_are_parsed(suites: Path) -> None:
    entries, case = _parse_extension(suites, "sitemap-images.xml")
    assert entries[0].images == tuple(SitemapImage(**image) for image in case["images"])


def test_alternate_languages_are_parsed(suites: Path) -> None:
    entries, case = _parse_extension(suites, "sitemap-links.xml")
    expected = sorted(map(tuple, case["alternates_of_each"]))
    assert [sorted((a.language, a.href) for a in entry.alternates) for entry in entries] == [expected] * 3


def test_news_fields_are_parsed(suites: Path) -> None:
    entries, case = _parse_extension(suites, "sitemap-news.xml")
    for entry, expected in zip(entries, case["news"], strict=True):
        news = entry.news
        assert news is not None
        assert news.is_valid is expected.get("valid", True)
        assert (news.publication_name or None, news.language, news.title) == tuple(
            expected[k] for k in ("name", "language", "title")
        )
        assert news.published_at == _parse_timestamp(expected["date"])
        for words in ("keywords", "genres", "stock_tickers"):
            assert getattr(news, words) == tuple(expected.get(words, ()))
        assert news.access == expected.get("access", "")


def test_mobile_pages_are_recognized(suites: Path) -> None:
    entries, _ = _parse_extension(suites, "sitemap-mobile.xml")
    assert [entry.is_mobile for entry in entries] == ["mobile-friendly" in entry.loc for entry in entries]
    assert any(entry.is_mobile for entry in entries)


def test_real_news_sitemaps_are_parsed(suites: Path) -> None:
    entries, _ = _parse_extension(suites, "shinpaideshou-news-sitemap.xml")
    start, end = _parse_timestamp("2017"), _parse_timestamp("2018")
    assert start is not None
    assert end is not None
    assert all(
        e.news and e.news.publication_name and e.news.published_at and start <= e.news.published_at < end
        for e in entries
    )


@pytest.mark.parametrize("form", ["w3c", "rss"])
def test_dates_are_parsed(suites: Path, form: str) -> None:
    for text, expected in _load_cases(suites, COMMONS, "dates")[form]:
        assert _parse_timestamp(text) == _parse_timestamp(expected), text


def test_location_rule_of_the_protocol(suites: Path) -> None:
    for case in _load_cases(suites, COMMONS, "scope"):
        assert is_below_sitemap(case["url"], case["sitemap"]) is case["in_scope"]
    for case in _load_cases(suites, PROTOCOL, "location"):
        assert all(is_below_sitemap(url, case["sitemap"]) for url in case["ok"])
        assert not any(is_below_sitemap(url, case["sitemap"]) for url in case["not_ok"])


def test_host_that_names_a_sitemap_in_robots_txt_may_be_listed_in_it(suites: Path) -> None:
    assert "host A" in _load_cases(suites, PROTOCOL, "cross_submit")
    page, sitemap = "http://a.example/page", "http://b.example/sitemap.xml"
    assert not can_sitemap_list(page, sitemap)
    assert can_sitemap_list(page, sitemap, {Host("http://a.example")})


def test_limits_are_those_of_the_protocol(suites: Path) -> None:
    protocol_limits, limits = _load_cases(suites, PROTOCOL, "limits"), SitemapLimits()
    assert (limits.max_entries, limits.max_bytes) == (
        protocol_limits["urls_per_sitemap"],
        protocol_limits["bytes_uncompressed"],
    )
    assert protocol_limits["sitemaps_per_index"] == limits.max_entries
    assert list(CHANGEFREQS) == protocol_limits["changefreq"]

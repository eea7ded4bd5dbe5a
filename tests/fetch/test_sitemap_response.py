"""Sitemaps, TVI files, images and change lists."""

from sanderling.fetch.sitemap_response import MAX_TVI_BYTES, parse_non_page
from sanderling.models import UrlRole
from sanderling.page_fingerprints import PageFingerprints

URL = "https://a.example/x"


def test_sitemap_gives_hints_and_kind() -> None:
    body = b"<urlset><url><loc>https://a.example/p</loc></url></urlset>"
    fields, description = parse_non_page(UrlRole.SITEMAP, URL, body, "application/xml", "")
    assert [hint.url for hint in fields["sitemap_hints"]] == ["https://a.example/p"]
    assert (fields["file_refs"], description) == ((), "urlset")
    assert "urlset" not in parse_non_page(UrlRole.SITEMAP, URL, b"<html>nothing</html>", "text/html", "")[1]


def test_oversized_tvi_file_is_dropped() -> None:
    assert parse_non_page(UrlRole.TVI_FILE, URL, b"a b", "text/plain", "") == (
        {"fingerprints": PageFingerprints(tvi_table=b"a b")},
        "",
    )
    assert parse_non_page(UrlRole.TVI_FILE, URL, b"a" * (MAX_TVI_BYTES + 1), "text/plain", "") == ({}, "")


def test_invalid_image_has_no_fingerprint() -> None:
    assert parse_non_page(UrlRole.REQUISITE, URL, b"GIF89a...", "image/gif", "") == ({}, "")
    assert parse_non_page(UrlRole.REQUISITE, URL, b"body { }", "text/css", "") == ({}, "")


def test_invalid_change_list_is_empty() -> None:
    fields, _ = parse_non_page(UrlRole.CHANGE_LIST, URL, b"oops", "text/plain", "")
    assert (fields["sitemap_hints"], fields["change_list_until"], fields["change_list_next"]) == ((), "", "")

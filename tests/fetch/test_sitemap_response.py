"""What is no page is read as what it was asked for."""

from sanderling.fetch.sitemap_response import MAX_TVI_BYTES, parse_non_page
from sanderling.models import UrlRole

URL = "https://a.example/x"


def test_a_sitemap_gives_pages_and_says_what_it_is() -> None:
    body = b"<urlset><url><loc>https://a.example/p</loc></url></urlset>"
    found, note = parse_non_page(UrlRole.SITEMAP, URL, body, "application/xml", "")
    assert [hint.url for hint in found["sitemap_hints"]] == ["https://a.example/p"]
    assert (found["file_refs"], note) == ((), "urlset")
    assert "urlset" not in parse_non_page(UrlRole.SITEMAP, URL, b"<html>nothing</html>", "text/html", "")[1]


def test_a_table_is_kept_whole_or_not_at_all() -> None:
    assert parse_non_page(UrlRole.TVI_FILE, URL, b"a b", "text/plain", "") == ({"fingerprints": {"table": b"a b"}}, "")
    assert parse_non_page(UrlRole.TVI_FILE, URL, b"a" * (MAX_TVI_BYTES + 1), "text/plain", "") == (
        {"fingerprints": {}},
        "",
    )


def test_a_picture_that_is_none_has_no_look() -> None:
    assert parse_non_page(UrlRole.RESOURCE, URL, b"GIF89a...", "image/gif", "") == ({}, "")
    assert parse_non_page(UrlRole.RESOURCE, URL, b"body { }", "text/css", "") == ({}, "")


def test_what_is_no_list_of_changes_speaks_until_no_time() -> None:
    found, _ = parse_non_page(UrlRole.CHANGE_LIST, URL, b"oops", "text/plain", "")
    assert (found["sitemap_hints"], found["change_list_until"], found["change_list_next"]) == ((), "", "")

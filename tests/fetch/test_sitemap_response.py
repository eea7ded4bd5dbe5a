"""What is no page is read as what it was asked for."""

from sanderling.fetch.sitemap_response import MAX_TABLE, read_beside
from sanderling.models import Role

URL = "https://a.example/x"


def test_a_sitemap_gives_pages_and_says_what_it_is() -> None:
    body = b"<urlset><url><loc>https://a.example/p</loc></url></urlset>"
    found, note = read_beside(Role.SITEMAP, URL, body, "application/xml", "")
    assert [hint.url for hint in found["hints"]] == ["https://a.example/p"]
    assert (found["pointers"], note) == ((), "urlset")
    assert "urlset" not in read_beside(Role.SITEMAP, URL, b"<html>nothing</html>", "text/html", "")[1]


def test_a_table_is_kept_whole_or_not_at_all() -> None:
    assert read_beside(Role.SIDE, URL, b"a b", "text/plain", "") == ({"marks": {"table": b"a b"}}, "")
    assert read_beside(Role.SIDE, URL, b"a" * (MAX_TABLE + 1), "text/plain", "") == ({"marks": {}}, "")


def test_a_picture_that_is_none_has_no_look() -> None:
    assert read_beside(Role.RESOURCE, URL, b"GIF89a...", "image/gif", "") == ({}, "")
    assert read_beside(Role.RESOURCE, URL, b"body { }", "text/css", "") == ({}, "")


def test_what_is_no_list_of_changes_speaks_until_no_time() -> None:
    found, _ = read_beside(Role.CHANGES, URL, b"oops", "text/plain", "")
    assert (found["hints"], found["list_until"], found["list_next"]) == ((), "", "")

"""Where a page leads."""

from sanderling.migrants.follow import links_of, pointers_of
from sanderling.pages.links import extract
from sanderling.pages.parse import parse


def _urls(page: bytes, charset: str = "") -> list[str]:
    return [link.url for link in links_of(extract(parse(page, charset), "http://x.org/dir/page"), nofollow=False)]


def test_queries_are_escaped_in_the_encoding_of_their_page_and_paths_in_utf_8() -> None:
    link = '<a href="/café?q=café">x</a>'
    assert _urls(link.encode("latin-1"), "iso-8859-1") == ["http://x.org/caf%C3%A9?q=caf%E9"]
    assert _urls(link.encode(), "utf-8") == ["http://x.org/caf%C3%A9?q=caf%C3%A9"]
    assert _urls(b"<meta charset=shift_jis><a href='?\x87\x40'>x</a>") == ["http://x.org/dir/page?%87@"]


def test_a_refresh_and_feeds_know_the_encoding_too() -> None:
    head = "<meta http-equiv=refresh content='0;url=?ä'><link rel=alternate type=application/rss+xml href='?ö'>"
    found = extract(parse(head.encode("latin-1"), "latin1"), "http://x.org/")
    assert [link.url for link in links_of(found, nofollow=False)] == ["http://x.org/?%E4"]
    assert [pointer.url for pointer in pointers_of(found)] == ["http://x.org/?%F6"]

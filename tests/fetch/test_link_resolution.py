"""Where a page leads."""

from sanderling.fetch import link_resolution
from sanderling.fetch.link_resolution import resolve_file_refs, resolve_links
from sanderling.html.links import extract_metadata
from sanderling.html.parser import parse_html
from sanderling.urls.normalize import LENGTH_LIMIT


def _urls(page: bytes, charset: str = "") -> list[str]:
    return [
        link.url
        for link in resolve_links(extract_metadata(parse_html(page, charset), "http://x.org/dir/page"), nofollow=False)
    ]


def test_queries_are_escaped_in_the_encoding_of_their_page_and_paths_in_utf_8() -> None:
    link = '<a href="/café?q=café">x</a>'
    assert _urls(link.encode("latin-1"), "iso-8859-1") == ["http://x.org/caf%C3%A9?q=caf%E9"]
    assert _urls(link.encode(), "utf-8") == ["http://x.org/caf%C3%A9?q=caf%C3%A9"]
    assert _urls(b"<meta charset=shift_jis><a href='?\x87\x40'>x</a>") == ["http://x.org/dir/page?%87@"]


def test_a_refresh_and_feeds_know_the_encoding_too() -> None:
    head = "<meta http-equiv=refresh content='0;url=?ä'><link rel=alternate type=application/rss+xml href='?ö'>"
    found = extract_metadata(parse_html(head.encode("latin-1"), "latin1"), "http://x.org/")
    assert [link.url for link in resolve_links(found, nofollow=False)] == ["http://x.org/?%E4"]
    assert [pointer.url for pointer in resolve_file_refs(found)] == ["http://x.org/?%F6"]


def test_links_that_are_too_long_are_told_by_their_beginnings_a_few_of_each_page() -> None:
    long = "".join(f"<a href='/{n}{'x' * 9000}'>x</a>" for n in range(link_resolution.MAX_LONG_LINKS + 5))
    others = "<a href='mailto:a@b'>x</a><a href='data:,y'>x</a><a href='http://['>x</a>"
    found = _urls((others + long).encode())
    assert len(found) == link_resolution.MAX_LONG_LINKS
    assert {len(url) for url in found} == {LENGTH_LIMIT + 1}
    assert found[1].startswith("http://x.org/1xxx")


def test_a_link_is_too_long_by_what_is_sent() -> None:
    assert len(_urls(f"<a href='/{'ä' * 400}'>x</a>".encode())[0]) == LENGTH_LIMIT + 1
    assert _urls(f"<area href='/a#{'x' * 5000}'>".encode()) == ["http://x.org/a"]

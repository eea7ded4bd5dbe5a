"""Resolution of page links."""

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


def test_query_uses_page_encoding_and_path_uses_utf8() -> None:
    link = '<a href="/café?q=café">x</a>'
    assert _urls(link.encode("latin-1"), "iso-8859-1") == ["http://x.org/caf%C3%A9?q=caf%E9"]
    assert _urls(link.encode(), "utf-8") == ["http://x.org/caf%C3%A9?q=caf%C3%A9"]
    assert _urls(b"<meta charset=shift_jis><a href='?\x87\x40'>x</a>") == ["http://x.org/dir/page?%87@"]


def test_refresh_and_feed_use_page_encoding() -> None:
    head = "<meta http-equiv=refresh content='0;url=?ä'><link rel=alternate type=application/rss+xml href='?ö'>"
    found = extract_metadata(parse_html(head.encode("latin-1"), "latin1"), "http://x.org/")
    assert [link.url for link in resolve_links(found, nofollow=False)] == ["http://x.org/?%E4"]
    assert [file_ref.url for file_ref in resolve_file_refs(found)] == ["http://x.org/?%F6"]


def test_long_links_are_truncated_and_limited() -> None:
    long = "".join(f"<a href='/{n}{'x' * 9000}'>x</a>" for n in range(link_resolution.MAX_LONG_LINKS + 5))
    others = "<a href='mailto:a@b'>x</a><a href='data:,y'>x</a><a href='http://['>x</a>"
    found = _urls((others + long).encode())
    assert len(found) == link_resolution.MAX_LONG_LINKS
    assert {len(url) for url in found} == {LENGTH_LIMIT + 1}
    assert found[1].startswith("http://x.org/1xxx")


def test_link_length_counts_escaped_url_without_fragment() -> None:
    assert len(_urls(f"<a href='/{'ä' * 400}'>x</a>".encode())[0]) == LENGTH_LIMIT + 1
    assert _urls(f"<area href='/a#{'x' * 5000}'>".encode()) == ["http://x.org/a"]

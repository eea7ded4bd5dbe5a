"""Link and Refresh headers."""

import pytest

from sanderling.fetch.link_header import MAX_TARGETS, extract_header_links, parse_link_header
from sanderling.models import UrlRole

PAGE = "http://x.org/dir/page"


@pytest.mark.parametrize(
    ("header", "targets"),
    [
        ('<a>; rel="next"', [("a", {"next"})]),
        ("<a> ; REL = Next ,<b>;rel=prev", [("a", {"next"}), ("b", {"prev"})]),
        ('<a>; rel="up next"; title="; , <c>"', [("a", {"up", "next"})]),
        ('<a>; rel="n\\ext"', [("a", {"next"})]),
        ('<a>;; rel="next', [("a", {"next"})]),
        ("<a>; rel=next; rel=prev", [("a", {"next"})]),
        ('<a>; anchor="#part"; rel=next', [("a", set())]),
        ("<a,b;c>; rel=next", [("a,b;c", {"next"})]),
        ("nonsense <a>; rel=next, , <b>", [("a", {"next"}), ("b", set())]),
        ("<a; rel=next", []),
        ("<<a>; rel=next", [("a", {"next"})]),
        ("", []),
    ],
)
def test_parse_link_header(header: str, targets: list[tuple[str, set[str]]]) -> None:
    assert [(target.href, set(target.relations)) for target in parse_link_header(header)] == targets


def test_link_targets_are_limited() -> None:
    assert len(list(parse_link_header("<a>;rel=next," * 1000))) == MAX_TARGETS


def test_header_links_feeds_sitemaps_and_canonical() -> None:
    link = (
        b"</same>; rel=canonical, <2>; rel=next, </de>; rel=alternate; hreflang=de, </style.css>; rel=stylesheet,"
        b'</feed>; rel="alternate"; type="application/atom+xml", </map.xml>; rel=sitemap, <http://[>; rel="next"'
    )
    header_links = extract_header_links(PAGE, {b"link": link, b"refresh": b"5; url=/later"}, nofollow=True)
    assert header_links.canonical == "http://x.org/same"
    assert [link.url for link in header_links.links] == ["http://x.org/later", "http://x.org/dir/2", "http://x.org/de"]
    assert all(link.nofollow for link in header_links.links)
    assert [(file_ref.url, file_ref.role) for file_ref in header_links.file_refs] == [
        ("http://x.org/feed", UrlRole.FEED),
        ("http://x.org/map.xml", UrlRole.SITEMAP),
    ]


@pytest.mark.parametrize(("character", "escaped"), [("é".encode(), "%C3%A9"), (b"\xe9", "%E9")])
def test_non_ascii_bytes_are_percent_encoded(character: bytes, escaped: str) -> None:
    header_links = extract_header_links(
        "http://a/", {b"link": b"</caf" + character + b">; rel=canonical", b"refresh": b"0;url=/" + character}
    )
    assert (header_links.canonical, header_links.links[0].url) == (f"http://a/caf{escaped}", f"http://a/{escaped}")


def test_irrelevant_headers_give_no_links() -> None:
    header_links = extract_header_links(PAGE, {b"refresh": b"5", b"link": b"<x>; rel=preload"})
    assert (header_links.canonical, header_links.links, header_links.file_refs) == ("", (), ())

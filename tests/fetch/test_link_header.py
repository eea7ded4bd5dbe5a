"""Where an answer leads before its body is read."""

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
def test_links_are_read_as_far_as_they_make_sense(header: str, targets: list[tuple[str, set[str]]]) -> None:
    assert [(target.href, set(target.relations)) for target in parse_link_header(header)] == targets


def test_endless_links_end() -> None:
    assert len(list(parse_link_header("<a>;rel=next," * 1000))) == MAX_TARGETS


def test_the_head_names_pages_feeds_and_the_page_itself() -> None:
    link = (
        b"</same>; rel=canonical, <2>; rel=next, </de>; rel=alternate; hreflang=de, </style.css>; rel=stylesheet,"
        b'</feed>; rel="alternate"; type="application/atom+xml", </map.xml>; rel=sitemap, <http://[>; rel="next"'
    )
    leads = extract_header_links(PAGE, {b"link": link, b"refresh": b"5; url=/later"}, nofollow=True)
    assert leads.canonical == "http://x.org/same"
    assert [link.url for link in leads.links] == ["http://x.org/later", "http://x.org/dir/2", "http://x.org/de"]
    assert all(link.nofollow for link in leads.links)
    assert [(pointer.url, pointer.role) for pointer in leads.file_refs] == [
        ("http://x.org/feed", UrlRole.FEED),
        ("http://x.org/map.xml", UrlRole.SITEMAP),
    ]


@pytest.mark.parametrize(("letter", "escaped"), [("é".encode(), "%C3%A9"), (b"\xe9", "%E9")])
def test_letters_in_a_head_are_read_as_those_of_a_redirect(letter: bytes, escaped: str) -> None:
    leads = extract_header_links(
        "http://a/", {b"link": b"</caf" + letter + b">; rel=canonical", b"refresh": b"0;url=/" + letter}
    )
    assert (leads.canonical, leads.links[0].url) == (f"http://a/caf{escaped}", f"http://a/{escaped}")


def test_a_head_that_says_nothing_leads_nowhere() -> None:
    leads = extract_header_links(PAGE, {b"refresh": b"5", b"link": b"<x>; rel=preload"})
    assert (leads.canonical, leads.links, leads.file_refs) == ("", (), ())

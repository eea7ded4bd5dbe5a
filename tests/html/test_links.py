"""Tests of link and metadata extraction."""

import pytest

from sanderling.fingerprint.fast.fast_scan import scan_page
from sanderling.html.links import MAX_LINKS, PageMetadata, RawLink, extract_metadata, parse_robots_directives
from sanderling.html.parser import parse_html


def read_page(html: str, url: str = "http://x.org/dir/page") -> PageMetadata:
    return extract_metadata(parse_html(html.encode()), url)


def find_hrefs(html: str) -> list[str]:
    return [link.href for link in read_page(html).links]


def test_anchors_areas_and_frames_are_links() -> None:
    assert find_hrefs("<a href=a>A</a><map><area href=b></map><iframe src=c></iframe>") == ["b", "c", "a"]


def test_links_in_svg_and_shadow_roots_are_found() -> None:
    assert find_hrefs('<svg><a xlink:href="/old"></a><a href="/new"></a><a href="#x"></a></svg>') == ["/new", "/old"]
    assert find_hrefs('<a href="" xlink:href="/old"></a>') == []
    assert find_hrefs("<div><template shadowrootmode=open><a href=/in>x</a></template></div>") == ["/in"]


def test_alternate_versions_are_links_but_alternate_style_sheets_are_not() -> None:
    head = "<link rel=alternate hreflang=de href=/de><link rel=alternate media=handheld href=/m>"
    rest = '<link rel=alternate href=/x><link rel="alternate stylesheet" media=print href=/s>'
    assert find_hrefs(head + rest) == ["/de", "/m"]


def test_repeated_link_keeps_first_anchor_text() -> None:
    links = read_page('<a href=a><img src=i alt=""></a><a href=a>the text</a>').links
    assert [(x.href, x.anchor) for x in links] == [("a", "the text")]


@pytest.mark.parametrize(
    ("markup", "anchor"),
    [
        ("Opening<br>hours", "Opening hours"),
        ("<div>Title</div><span>Author</span>", "Title Author"),
        ("<h3>Title</h3>\n<p>Words</p>", "Title \nWords"),
        ("<ul><li>one<li>two</ul>three", "one two three"),
        ("one</p>two</br>three", "one two three"),
        ("over<b>due</b>", "overdue"),
        ("<p><br></p>", ""),
        ("<p>" + 150 * "a<br>", " ".join(100 * "a") + " "),
    ],
)
def test_line_breaks_separate_words_of_anchor_text(markup: str, anchor: str) -> None:
    body = f"<!doctype html><a href=x>{markup}</a>".encode()
    scanned = scan_page(body, "utf-8")
    assert extract_metadata(parse_html(body), "http://x/").links == [RawLink("x", anchor)]
    assert scanned is None or extract_metadata(scanned, "http://x/").links == [RawLink("x", anchor)]


def test_image_link_uses_alt_text() -> None:
    assert read_page('<a href=a><img src=i alt="Home"></a>').links[0].anchor == "Home"


def test_same_page_fragments_are_not_links() -> None:
    assert find_hrefs('<a href="#top">up</a><a href="">same</a><a>none</a>') == []


def test_base_element_sets_base_url() -> None:
    assert read_page('<base href="/other/"><a href=a>A</a>').base_url == "http://x.org/other/"


def test_empty_href_leads_to_base_url() -> None:
    page = '<a href="" rel=nofollow>Start</a><a href=a>A</a>'
    assert read_page("<base href=/other/>" + page).links == [RawLink("a", "A"), RawLink("", "Start", True)]
    assert read_page("<base href=/other/><a href=#x>Below</a>" + page).links == [
        RawLink("a", "A"),
        RawLink("", "Below"),
    ]
    for base in ("", "<base href=page>", "<base target=_top>"):
        assert read_page(base + page).links == [RawLink("a", "A")]


@pytest.mark.parametrize(
    ("head", "base"),
    [
        ("<base target=_top><base href=/first/><base href=/second/>", "http://x.org/first/"),
        ("<base href=' ?q '>", "http://x.org/dir/page?q"),
        ("<base href=''>", "http://x.org/dir/page"),
        ("<svg><base href=/svg/></svg><base href=/own/>", "http://x.org/own/"),
        ("<template><base href=/template/></template>", "http://x.org/dir/page"),
        ("<noscript><base href=/n/></noscript>", "http://x.org/dir/page"),
        ("<NoScript><meta name=a><Base href=/n/></noscript><base href=/own/>", "http://x.org/own/"),
        ("<base href=/own/><noscript><base href=/n/></noscript>", "http://x.org/own/"),
        ("<body><noscript><p><base href=/n/></noscript>", "http://x.org/dir/page"),
        ("<body><noscript><base href=/n/></noscript><base href=/own/>", "http://x.org/own/"),
        *((f"<base href='{invalid}'>", "http://x.org/dir/page") for invalid in ("http://[", "data:,x", "javascript:x")),
    ],
)
def test_first_valid_base_href_is_used(head: str, base: str) -> None:
    assert read_page(head).base_url == base


def test_head_metadata_is_extracted() -> None:
    page = read_page(
        "<html lang=en-GB><title> A \n title </title><link rel=canonical href=/c><link rel=sitemap href=/s.xml>"
        '<link rel=alternate type=application/rss+xml href=/feed><link rel="alternate" hreflang=de href=/de>'
        '<link rel=stylesheet href=/style.css><meta name=ROBOTS content="NOINDEX, follow">'
    )
    assert (page.title, page.language, page.canonical) == ("A title", "en-GB", "/c")
    assert (page.sitemaps, page.feeds) == (("/s.xml",), ("/feed",))
    assert [x.href for x in page.links] == ["/de"]
    assert page.noindex
    assert not page.nofollow


def test_feeds_are_recognized_by_type_or_rel() -> None:
    head = '<link rel="Alternate" type="Application/RSS+xml; charset=utf-8" href=/a><link rel=feed href=/b>'
    assert read_page(head + "<link rel=alternate type=text/xml href=/c>").feeds == ("/a", "/b")


def test_nofollow_is_read_from_links_and_meta() -> None:
    page = read_page('<meta name=robots content=none><a rel="x NoFollow" href=a>A</a>')
    assert page.nofollow
    assert page.links[0].nofollow


def test_meta_refresh_target_is_extracted() -> None:
    assert read_page('<meta http-equiv=refresh content="5; url=/next">').refresh_target == "/next"
    assert (
        read_page("<meta http-equiv=Refresh content=5><meta http-equiv=REFRESH content='0;/b'>").refresh_target == "/b"
    )
    assert read_page("<noscript><meta http-equiv=refresh content='0;/no-script'></noscript>").refresh_target == ""
    assert read_page("<meta name=refresh content='0;/a'><meta http-equiv=expires content='0;/b'>").refresh_target == ""


def test_links_above_limit_are_only_counted() -> None:
    page = read_page("".join(f"<a href=/{n}>x</a>" for n in range(MAX_LINKS + 7)))
    assert len(page.links) == MAX_LINKS
    assert page.dropped_count == 7


def test_empty_href_has_tag_path() -> None:
    page = extract_metadata(
        parse_html(b"<base href=/q/><main><p><a href=''>x</a></p></main>"), "http://x.org/", with_tag_paths=True
    )
    (link,) = page.links
    assert link.tag_path.endswith("p")


def test_robots_directives_for_other_agents_are_ignored() -> None:
    assert list(parse_robots_directives("noindex, googlebot: nofollow, sanderling: none")) == ["noindex", "none"]


def test_robots_directives_accept_any_separator() -> None:
    assert list(parse_robots_directives(" NoIndex;nofollow none,, max-snippet: 5,")) == ["noindex", "nofollow", "none"]


def test_robots_meta_for_configured_agent_is_used() -> None:
    tree = parse_html(b"<meta name=Heron content=noindex><meta name=sanderling content=nofollow>")
    heron, default = extract_metadata(tree, "http://x.org/", agent="Heron"), extract_metadata(tree, "http://x.org/")
    assert (heron.noindex, heron.nofollow) == (True, False)
    assert (default.noindex, default.nofollow) == (False, True)


def test_byte_order_mark_overrides_charset_and_charset_overrides_page() -> None:
    assert parse_html(b"<meta charset=utf-8><p>\xe9", "iso-8859-1").text == "é"
    assert parse_html("\ufeff<p>é".encode(), "iso-8859-1").text == "é"
    assert parse_html("<p>é".encode(), "no-such-charset").text == "é"


def test_xml_declaration_sets_encoding_as_last_resort() -> None:
    xml = b"<?xml version='1.0' encoding='koi8-r'?>"
    assert parse_html(xml + b"<p>\xc1").text == "а"
    assert parse_html(xml + b"<meta charset=iso-8859-7><p>\xe1").text == "α"
    assert parse_html(xml + b"<p>\xe9", "iso-8859-1").text == "é"
    assert parse_html("<?xml version='1.0' encoding='utf-16'?><p>é".encode()).text == "é"

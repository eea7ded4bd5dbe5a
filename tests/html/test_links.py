import pytest

from sanderling.fingerprint.fast.fast_scan import scan_page
from sanderling.html.links import MAX_LINKS, PageMetadata, RawLink, extract_metadata, parse_robots_directives
from sanderling.html.parser import parse_html


def read(html: str, url: str = "http://x.org/dir/page") -> PageMetadata:
    return extract_metadata(parse_html(html.encode()), url)


def hrefs(html: str) -> list[str]:
    return [link.href for link in read(html).links]


def test_anchors_areas_and_frames_are_links() -> None:
    assert hrefs("<a href=a>A</a><map><area href=b></map><iframe src=c></iframe>") == ["b", "c", "a"]


def test_links_are_found_in_drawings_and_in_shadows() -> None:
    assert hrefs('<svg><a xlink:href="/old"></a><a href="/new"></a><a href="#x"></a></svg>') == ["/new", "/old"]
    assert hrefs('<a href="" xlink:href="/old"></a>') == []
    assert hrefs("<div><template shadowrootmode=open><a href=/in>x</a></template></div>") == ["/in"]


def test_versions_of_a_page_are_links_and_other_style_sheets_are_none() -> None:
    head = "<link rel=alternate hreflang=de href=/de><link rel=alternate media=handheld href=/m>"
    rest = '<link rel=alternate href=/x><link rel="alternate stylesheet" media=print href=/s>'
    assert hrefs(head + rest) == ["/de", "/m"]


def test_a_link_is_kept_once_with_the_first_words_said_about_it() -> None:
    found = read('<a href=a><img src=i alt=""></a><a href=a>the text</a>').links
    assert [(x.href, x.anchor) for x in found] == [("a", "the text")]


@pytest.mark.parametrize(
    ("inside", "words"),
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
def test_the_words_of_two_lines_stay_two(inside: str, words: str) -> None:
    body = f"<!doctype html><a href=x>{inside}</a>".encode()
    seen = scan_page(body, "utf-8")
    assert extract_metadata(parse_html(body), "http://x/").links == [RawLink("x", words)]
    assert seen is None or extract_metadata(seen, "http://x/").links == [RawLink("x", words)]


def test_an_image_link_is_named_by_its_alternative_text() -> None:
    assert read('<a href=a><img src=i alt="Home"></a>').links[0].anchor == "Home"


def test_fragments_of_the_same_page_are_no_links() -> None:
    assert hrefs('<a href="#top">up</a><a href="">same</a><a>none</a>') == []


def test_the_base_element_moves_every_relative_link() -> None:
    assert read('<base href="/other/"><a href=a>A</a>').base_url == "http://x.org/other/"


def test_a_link_to_nothing_leads_to_the_base_and_without_one_to_the_page_itself() -> None:
    page = '<a href="" rel=nofollow>Start</a><a href=a>A</a>'
    assert read("<base href=/other/>" + page).links == [RawLink("a", "A"), RawLink("", "Start", True)]
    assert read("<base href=/other/><a href=#x>Below</a>" + page).links == [RawLink("a", "A"), RawLink("", "Below")]
    for base in ("", "<base href=page>", "<base target=_top>"):
        assert read(base + page).links == [RawLink("a", "A")]


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
        *(
            (f"<base href='{nonsense}'>", "http://x.org/dir/page")
            for nonsense in ("http://[", "data:,x", "javascript:x")
        ),
    ],
)
def test_the_first_base_that_has_an_address_counts(head: str, base: str) -> None:
    assert read(head).base_url == base


def test_the_head_is_read() -> None:
    page = read(
        "<html lang=en-GB><title> A \n title </title><link rel=canonical href=/c><link rel=sitemap href=/s.xml>"
        '<link rel=alternate type=application/rss+xml href=/feed><link rel="alternate" hreflang=de href=/de>'
        '<link rel=stylesheet href=/style.css><meta name=ROBOTS content="NOINDEX, follow">'
    )
    assert (page.title, page.language, page.canonical) == ("A title", "en-GB", "/c")
    assert (page.sitemaps, page.feeds) == (("/s.xml",), ("/feed",))
    assert [x.href for x in page.links] == ["/de"]
    assert page.noindex
    assert not page.nofollow


def test_feeds_are_known_by_their_type_or_by_name() -> None:
    head = '<link rel="Alternate" type="Application/RSS+xml; charset=utf-8" href=/a><link rel=feed href=/b>'
    assert read(head + "<link rel=alternate type=text/xml href=/c>").feeds == ("/a", "/b")


def test_nofollow_is_seen_on_links_and_on_pages() -> None:
    page = read('<meta name=robots content=none><a rel="x NoFollow" href=a>A</a>')
    assert page.nofollow
    assert page.links[0].nofollow


def test_a_meta_refresh_is_a_target() -> None:
    assert read('<meta http-equiv=refresh content="5; url=/next">').refresh_target == "/next"
    assert read("<meta http-equiv=Refresh content=5><meta http-equiv=REFRESH content='0;/b'>").refresh_target == "/b"
    assert read("<noscript><meta http-equiv=refresh content='0;/no-script'></noscript>").refresh_target == ""
    assert read("<meta name=refresh content='0;/a'><meta http-equiv=expires content='0;/b'>").refresh_target == ""


def test_links_beyond_the_cap_are_counted_not_kept() -> None:
    page = read("".join(f"<a href=/{n}>x</a>" for n in range(MAX_LINKS + 7)))
    assert len(page.links) == MAX_LINKS
    assert page.dropped_count == 7


def test_a_link_to_nothing_has_its_place_too() -> None:
    page = extract_metadata(
        parse_html(b"<base href=/q/><main><p><a href=''>x</a></p></main>"), "http://x.org/", with_tag_paths=True
    )
    (link,) = page.links
    assert link.tag_path.endswith("p")


def test_directives_for_other_agents_are_passed_over() -> None:
    assert list(parse_robots_directives("noindex, googlebot: nofollow, sanderling: none")) == ["noindex", "none"]


def test_directives_are_found_whatever_stands_between_them() -> None:
    assert list(parse_robots_directives(" NoIndex;nofollow none,, max-snippet: 5,")) == ["noindex", "nofollow", "none"]


def test_a_page_may_speak_to_us_by_the_name_we_go_by() -> None:
    tree = parse_html(b"<meta name=Heron content=noindex><meta name=sanderling content=nofollow>")
    ours, theirs = extract_metadata(tree, "http://x.org/", agent="Heron"), extract_metadata(tree, "http://x.org/")
    assert (ours.noindex, ours.nofollow) == (True, False)
    assert (theirs.noindex, theirs.nofollow) == (False, True)


def test_the_declared_charset_wins_over_the_page_and_a_byte_order_mark_over_both() -> None:
    assert parse_html(b"<meta charset=utf-8><p>\xe9", "iso-8859-1").text == "é"
    assert parse_html("\ufeff<p>é".encode(), "iso-8859-1").text == "é"
    assert parse_html("<p>é".encode(), "no-such-charset").text == "é"


def test_the_declaration_of_xml_says_the_encoding_where_nothing_else_does() -> None:
    xml = b"<?xml version='1.0' encoding='koi8-r'?>"
    assert parse_html(xml + b"<p>\xc1").text == "а"
    assert parse_html(xml + b"<meta charset=iso-8859-7><p>\xe1").text == "α"
    assert parse_html(xml + b"<p>\xe9", "iso-8859-1").text == "é"
    assert parse_html("<?xml version='1.0' encoding='utf-16'?><p>é".encode()).text == "é"

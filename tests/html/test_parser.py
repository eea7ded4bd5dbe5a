"""Tests of HTML parsing."""

from sanderling.html.parser import parse_html
from sanderling.html.text import render_text

FRAME = '<noscript><iframe src="https://t.example/ns.html" height="0"{0}</noscript>'
PAGE = "<html><head>{0}</head><body>{1}<p>The boat leaves at noon.</p><a href='/fares'>Fares</a></body></html>"


def test_unclosed_iframe_in_noscript_does_not_swallow_page() -> None:
    for open_frame in (FRAME.format("/>"), FRAME.format(">")):
        for page in (PAGE.format(open_frame, ""), PAGE.format("", open_frame)):
            tree = parse_html(page.encode())
            assert render_text(tree).split() == ["The", "boat", "leaves", "at", "noon.", "Fares"]
            assert [link.attr("href") for link in tree.find_all("a")] == ["/fares"]


def test_noscript_content_is_parsed() -> None:
    note = "<noscript><p>Please <a href='/plain'>go this way</a>.</p></noscript>"
    for page in (PAGE.format("", note), PAGE.format(FRAME.format("></iframe>"), note)):
        assert [link.attr("href") for link in parse_html(page.encode()).find_all("a")] == ["/plain", "/fares"]

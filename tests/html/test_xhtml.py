"""Tests of self-closed tags in XHTML."""

import pytest

from sanderling.html.parser import parse_html
from sanderling.html.text import render_text
from sanderling.html.xhtml import expand_self_closed_tags

PAGE = """<?xml version="1.0" encoding="{2}"?>
<html xmlns="http://www.w3.org/1999/xhtml"><head>{0}<title>Ferries&nbsp;é</title></head><body>{1}<hr/>
<p>The boat leaves at noon.<br/></p><a id="x"/><a href="/fares">Fares</a></body></html>"""
SCRIPT = '<script src="x.js"/>'


def extract_words(page: bytes, charset: str = "") -> list[str]:
    return render_text(parse_html(page, charset)).split()


def page(head: str = "", start: str = "", encoding: str = "utf-8") -> bytes:
    return PAGE.format(head, start, encoding).encode(encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1", "windows-1252"])
def test_self_closed_raw_text_element_does_not_swallow_page(encoding: str) -> None:
    for element in (SCRIPT, "<style/>", '<script src="x.js" />', SCRIPT + "<script>1</script>"):
        tree = parse_html(page(element, encoding=encoding))
        assert render_text(tree).split() == ["The", "boat", "leaves", "at", "noon.", "Fares"]
        assert [link.text for link in tree.find_all("a")] == ["", "Fares"]
        title = tree.find("title")
        assert title is not None
        assert title.text == "Ferries\xa0é"
    for element in ('<iframe src="x"/>', '<textarea name="x"/>', "<title/>"):
        assert extract_words(page(start=element))[-6:] == ["The", "boat", "leaves", "at", "noon.", "Fares"]


@pytest.mark.parametrize(("encoding", "charset"), [("utf-8", "utf8"), ("iso-8859-1", "")])
def test_parsing_is_equal_with_declared_and_detected_charset(encoding: str, charset: str) -> None:
    markup = f'<meta http-equiv="content-type" content="text/html; charset={encoding}"/>'
    body = page(markup + SCRIPT, "<a id='é'/>").partition(b"\n")[2].decode().encode(encoding)
    tree = parse_html(body, charset)
    assert render_text(tree).split() == extract_words(body, (tree.encoding or "").lower())
    assert "<a id='é'></a>".encode(encoding) in expand_self_closed_tags(body)
    assert expand_self_closed_tags(b"\xef\xbb\xbf" + body) == b"\xef\xbb\xbf" + expand_self_closed_tags(body)


def test_text_that_resembles_a_tag_is_unchanged() -> None:
    markup = f"<a>/></a><!-- {SCRIPT} --><p title='/'></p><b><b/></b>"
    assert f"<a>/></a><!-- {SCRIPT} --><p title='/'></p><b><b></b></b>".encode() in expand_self_closed_tags(
        page(SCRIPT, markup)
    )


@pytest.mark.parametrize(
    "body",
    [
        page(),
        page(SCRIPT).replace(b"1999", b"2000"),
        page(SCRIPT, "<p>"),
        page(SCRIPT).replace(b"<html", b"<!DOCTYPE html [<!ENTITY x 'y'>]><html"),
        page(SCRIPT)[:-8],
    ],
)
def test_other_pages_are_unchanged(body: bytes) -> None:
    assert expand_self_closed_tags(body) == body

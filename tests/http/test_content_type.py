"""What a Content-Type says."""

import pytest

from sanderling.http.content_type import MAX_TYPE_LENGTH, is_html, parse_charset, parse_mime_type


@pytest.mark.parametrize(
    ("header", "mime"),
    [
        ("Text/HTML ; charset=x", "text/html"),
        ("application/vnd.my+xml", "application/vnd.my+xml"),
        ("text/html, text/plain", "text/plain"),
        ("text/html;charset=big5,*/*", "text/html"),
        ('text/css;x="a,b/c"', "text/css"),
        ("text/plain, nonsense", "text/plain"),
        *((nonsense, "") for nonsense in ("", "html", "/html", "text/", "a/b/c", "text/ht ml", "(a)/b", "\xe4/\xe4")),
    ],
)
def test_of_several_types_the_last_that_is_one_counts(header: str, mime: str) -> None:
    assert parse_mime_type(header) == mime


def test_a_type_is_short() -> None:
    assert len(parse_mime_type("text/" + "x" * 500)) == MAX_TYPE_LENGTH


@pytest.mark.parametrize(
    ("header", "charset"),
    [
        ("text/html;charset=koi8-r", "koi8-r"),
        ("text/html; x; ;y=;CHARSET=KOI8-R", "koi8-r"),
        ('text/html;charset="koi8-r"', "koi8-r"),
        ('text/html;charset="koi8-r', "koi8-r"),
        ('text/html;charset="k\\oi8-r"; q', "koi8-r"),
        ('text/html;charset="koi8-r"q', "koi8-r"),
        ("text/html;charset= koi8-r ", "koi8-r"),
        ('text/html;title="a;charset=big5";charset=koi8-r', "koi8-r"),
        ("text/html;charset=koi8-r;charset=big5", "koi8-r"),
        ("text/html;charset=koi8-r, text/html", "koi8-r"),
        ("text/html;charset=koi8-r, text/plain", ""),
        ("text/html;charset =koi8-r", ""),
        ('text/html;charset=""', ""),
        ("text/html", ""),
    ],
)
def test_the_first_charset_of_a_type_is_read(header: str, charset: str) -> None:
    assert parse_charset(header) == charset


@pytest.mark.parametrize(
    "start", ["<!doctype HTML>", "<html\n>", " <p>", "\t<H1 x>", "<a/>", "<!-- x", "\ufeff\n<Body>"]
)
def test_where_no_type_is_declared_a_page_is_known_by_its_first_tag(start: str) -> None:
    assert is_html("", start.encode())
    assert is_html("application/unknown", start.encode())
    assert not is_html("text/plain", start.encode())


@pytest.mark.parametrize("start", ["", "text", "<htmlx>", "<?xml version='1.0'?>", "<rss>", "%PDF", "<", "x<p>"])
def test_other_files_are_no_pages(start: str) -> None:
    assert not is_html("", start.encode())
    assert is_html("application/xhtml+xml", start.encode())

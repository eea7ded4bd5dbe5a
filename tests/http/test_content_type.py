"""Content-Type headers."""

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
        *((invalid, "") for invalid in ("", "html", "/html", "text/", "a/b/c", "text/ht ml", "(a)/b", "\xe4/\xe4")),
    ],
)
def test_last_valid_type_of_a_list_counts(header: str, mime: str) -> None:
    assert parse_mime_type(header) == mime


def test_type_is_truncated() -> None:
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
def test_first_charset_parameter_counts(header: str, charset: str) -> None:
    assert parse_charset(header) == charset


@pytest.mark.parametrize(
    "start", ["<!doctype HTML>", "<html\n>", " <p>", "\t<H1 x>", "<a/>", "<!-- x", "\ufeff\n<Body>"]
)
def test_html_without_declared_type_is_sniffed(start: str) -> None:
    assert is_html("", start.encode())
    assert is_html("application/unknown", start.encode())
    assert not is_html("text/plain", start.encode())


@pytest.mark.parametrize("start", ["", "text", "<htmlx>", "<?xml version='1.0'?>", "<rss>", "%PDF", "<", "x<p>"])
def test_other_content_is_not_sniffed_as_html(start: str) -> None:
    assert not is_html("", start.encode())
    assert is_html("application/xhtml+xml", start.encode())

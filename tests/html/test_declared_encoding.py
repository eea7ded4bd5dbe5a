"""Tests of declared encodings."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.html.declared_encoding import find_declared_encoding
from sanderling.html.parser import parse_html

PIECES = (
    *(b"<meta charset=", b"<META CHARSET='", b"utf-8", b"koi8-r", b'"', b"'", b">", b" ", b"/>", b"<!--", b"-->"),
    *(b"--!>", b"<!-->", b"<!", b"<?", b"</p", b"<p title=", b"=", b"<script>", b"</script>", b"<title>", b"</title>"),
    *(b"<meta http-equiv=content-type content='text/html; charset=", b"<!doctype html>", b"<meta charset=utf-8>", b"x"),
    *(b" charset=koi8-r", b"\x0b", b"<", b"<html lang='en'>", b"<meta charset='koi8-r' />", b"<noscript>", b" " * 1000),
)


@pytest.mark.parametrize(
    ("body", "charset", "encoding"),
    [
        (b"x", "utf-8", "UTF-8"),
        (b"x", "latin1", "windows-1252"),
        (b"x", "utf-16", ""),
        (b"x", "nonsense", ""),
        (b"x", "", ""),
        (b"\xef\xbb\xbfx", "utf-8", ""),
        (b"<meta charset='utf-8'>", "", "UTF-8"),
        (b"<META CHARSET=utf8>", "", "UTF-8"),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">', "", "windows-1252"),
        (b"<!-- <meta charset=koi8-r> --><meta charset=utf-8>", "", "UTF-8"),
        (b"<!--><meta charset=koi8-r>--><meta charset=utf-8>", "", ""),
        (b"<!-- <meta charset=utf-8>", "", ""),
        (b"<p title='charset'><meta charset=utf-8>", "", ""),
        (b"<meta charset=utf-8><meta charset=koi8-r>", "", "UTF-8"),
        (b"<meta charset=utf-8/>", "", ""),
        (b"<meta charset='utf-8 x'>", "", ""),
        (b"<me<!-- -->ta charset=utf-8>", "", ""),
        (b"<p title='<!--'><meta charset=koi8-r>--><meta charset=utf-8>", "", ""),
        (b"<p title='<meta charset=utf-8>'>", "", ""),
        (b"<p a=b='c d=' e><meta charset=utf-8>'>", "", ""),
        (b"<!--x--!><meta charset=koi8-r>--><meta charset=utf-8>", "", ""),
        (b"<script><meta charset=koi8-r></script><meta charset=utf-8>", "", ""),
        (b"<meta http-equiv=content-type content='x; charset=utf-8' charset=koi8-r>", "", ""),
        (b"<title>x</title><link rel='y' href=z><META charset = 'utf-8' />", "", "UTF-8"),
    ],
)
def test_declared_encoding_is_found_only_if_unambiguous(body: bytes, charset: str, encoding: str) -> None:
    assert find_declared_encoding(body, charset) == encoding
    if encoding:
        assert parse_html(body, charset).encoding == encoding


@given(seed=st.integers(0, 1 << 40))
def test_declared_encoding_agrees_with_parser(seed: int) -> None:
    random = Random(seed)
    body = b"".join(random.choices(PIECES, k=random.choice([2, 4, 8]))) + random.choice([b"", b"<meta charset=utf-8>"])
    assert find_declared_encoding(body, "") in ("", parse_html(body).encoding)

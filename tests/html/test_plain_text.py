"""Bytes as text: real files of several encodings, and bytes that only claim to be text."""

import codecs
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.html.plain_text import decode_plain_text, is_text

WORDS = "Größe der Vögel: naïve, café"


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        (WORDS.encode(), ""),
        (WORDS.encode(), "utf-8"),
        (WORDS.encode("latin-1"), "iso-8859-1"),
        (WORDS.encode("latin-1"), ""),  # nobody says so: what browsers fall back to
        (codecs.BOM_UTF8 + WORDS.encode(), "iso-8859-1"),
        (WORDS.encode("utf-16"), ""),
        (codecs.BOM_UTF16_BE + WORDS.encode("utf-16-be"), "utf-8"),
        (WORDS.encode(), "nobody-knows"),
    ],
)
def test_text_is_read_in_its_encoding(body: bytes, charset: str) -> None:
    assert decode_plain_text(body, charset) == WORDS
    assert is_text(body)


def test_a_character_cut_at_the_end_is_no_other_encoding() -> None:
    assert decode_plain_text(WORDS.encode()[:-1]) == WORDS[:-1] + "\ufffd"


def test_a_foreign_letter_at_the_end_is_not_taken_for_one_that_was_cut() -> None:
    assert decode_plain_text("caf\xe9".encode("latin-1")) == "caf\xe9"
    assert decode_plain_text("Gr\xf6\xdfe".encode("latin-1"), "nobody-knows") == "Gr\xf6\xdfe"


def test_wide_text_is_text_where_its_server_says_so() -> None:
    assert is_text("words".encode("utf-16-le"), "utf-16le")
    assert not is_text(gzip.compress(b"words", mtime=0), "utf-8")


@pytest.mark.parametrize("body", [gzip.compress(b"words", mtime=0), b"\x89PNG\r\n\x1a\n", "words".encode("utf-16-le")])
def test_what_a_server_calls_text_may_be_none(body: bytes) -> None:
    assert not is_text(body)


@pytest.mark.parametrize("charset", ["idna", "undefined", "punycode", "base64", "utf-16", "unicode_escape", "rot13"])
def test_a_charset_that_is_none_means_nothing(charset: str) -> None:
    assert decode_plain_text(WORDS.encode(), charset) == WORDS


@given(st.binary(max_size=2000), st.text(max_size=20))
def test_no_bytes_and_no_charset_break_it(body: bytes, charset: str) -> None:
    is_text(body)
    decode_plain_text(body, charset)

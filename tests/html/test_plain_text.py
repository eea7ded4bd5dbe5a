"""Tests of plain text detection and decoding, with several encodings and binary data."""

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
        (WORDS.encode("latin-1"), ""),  # undeclared: the fallback of browsers
        (codecs.BOM_UTF8 + WORDS.encode(), "iso-8859-1"),
        (WORDS.encode("utf-16"), ""),
        (codecs.BOM_UTF16_BE + WORDS.encode("utf-16-be"), "utf-8"),
        (WORDS.encode(), "no-such-charset"),
    ],
)
def test_text_is_decoded_in_its_encoding(body: bytes, charset: str) -> None:
    assert decode_plain_text(body, charset) == WORDS
    assert is_text(body)


def test_truncated_character_does_not_change_encoding() -> None:
    assert decode_plain_text(WORDS.encode()[:-1]) == WORDS[:-1] + "\ufffd"


def test_final_latin1_character_is_not_a_truncated_utf8_character() -> None:
    assert decode_plain_text("caf\xe9".encode("latin-1")) == "caf\xe9"
    assert decode_plain_text("Gr\xf6\xdfe".encode("latin-1"), "no-such-charset") == "Gr\xf6\xdfe"


def test_utf16_is_text_if_declared() -> None:
    assert is_text("words".encode("utf-16-le"), "utf-16le")
    assert not is_text(gzip.compress(b"words", mtime=0), "utf-8")


@pytest.mark.parametrize("body", [gzip.compress(b"words", mtime=0), b"\x89PNG\r\n\x1a\n", "words".encode("utf-16-le")])
def test_binary_data_is_not_text(body: bytes) -> None:
    assert not is_text(body)


@pytest.mark.parametrize("charset", ["idna", "undefined", "punycode", "base64", "utf-16", "unicode_escape", "rot13"])
def test_invalid_charset_is_ignored(charset: str) -> None:
    assert decode_plain_text(WORDS.encode(), charset) == WORDS


@given(st.binary(max_size=2000), st.text(max_size=20))
def test_decoding_never_raises(body: bytes, charset: str) -> None:
    is_text(body)
    decode_plain_text(body, charset)

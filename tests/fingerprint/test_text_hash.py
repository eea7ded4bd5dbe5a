import random
import string
from ctypes import CDLL

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.fingerprint import text_hash
from sanderling.fingerprint.text_hash import TextHasher, build_text_hasher, fingerprint_text, fingerprint_text_in_python

ODD = [
    *(
        "\u00a0",
        "\u200b",
        "\u00a0\u200b",
        "\u00ad",
        "é",
        "日本",
        "\x00",
        "\x7f",
        "\udc80",
        "\t",
        "\x0b",
        "\x1c",
        "T",
        "tt",
    ),
    *("#", "ไ", "\u1000", "\u1780", "\u1ea0", "\u3000", "\u2014", "\ue000", "\uff21", "😀", "Ж", "7", " "),
]
WORDS = st.text(st.one_of(st.sampled_from("tT \n.e5"), st.characters())) | st.lists(st.sampled_from(ODD)).map("".join)


@pytest.fixture(scope="module")
def hash_text(native: CDLL) -> TextHasher:
    return build_text_hasher(native)


@given(text=WORDS)
def test_library_and_python_agree(hash_text: TextHasher, text: str) -> None:
    assert hash_text(text) == fingerprint_text_in_python(text)


def test_library_and_python_agree_on_long_texts(hash_text: TextHasher) -> None:
    dice = random.Random(4)
    for length in range(1, 700, 7):
        text = "t".join("".join(dice.choices(string.printable, k=dice.randrange(length))) for _ in range(40))
        assert hash_text(text) == fingerprint_text_in_python(text)


@pytest.mark.parametrize("text", ["潮が引くと砂浜に鳥が走る。", "Отлив — и птицы бегут", "น้ำลงแล้วนก", "a b c 1 2 3"])
def test_library_and_python_agree_on_other_scripts(hash_text: TextHasher, text: str) -> None:
    assert hash_text(text * 40) == fingerprint_text(text * 40) == fingerprint_text_in_python(text * 40)


def test_library_and_python_split_words_at_the_same_characters(hash_text: TextHasher) -> None:
    for first in range(0x80, 0x20000, 16):  # all scripts in use; few words, so that one difference shows
        text = "".join(f"a{chr(code)}b" for code in range(first, first + 16) if not 0xD800 <= code < 0xE000)
        assert hash_text(text) == fingerprint_text_in_python(text), hex(first)


def test_empty_text_has_an_empty_sketch(hash_text: TextHasher) -> None:
    assert hash_text("") == hash_text(" \n") == fingerprint_text_in_python("")
    assert fingerprint_text("")[1] == bytes(32)


def test_python_is_used_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_hash, "_native_hasher", None)
    assert fingerprint_text("the tide runs out") == fingerprint_text_in_python("the tide runs out")

"""The two marks of a text, by the compiled lines and in Python: the same to the bit."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.fingerprint import text_hash
from sanderling.fingerprint.text_hash import TextHasher, build_text_hasher, fingerprint_text, fingerprint_text_in_python
from sanderling.html.native import NativeLibrary

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
def make(native: NativeLibrary) -> TextHasher:
    return build_text_hasher(native)


@given(words=WORDS)
def test_both_ways_give_the_same_marks(make: TextHasher, words: str) -> None:
    assert make(words) == fingerprint_text_in_python(words)


def test_long_texts_of_every_length_of_piece_get_the_same_marks(make: TextHasher) -> None:
    dice = random.Random(4)
    for length in range(1, 700, 7):
        words = "t".join("".join(dice.choices(string.printable, k=dice.randrange(length))) for _ in range(40))
        assert make(words) == fingerprint_text_in_python(words)


@pytest.mark.parametrize("words", ["潮が引くと砂浜に鳥が走る。", "Отлив — и птицы бегут", "น้ำลงแล้วนก", "a b c 1 2 3"])
def test_texts_in_other_scripts_get_the_same_marks(make: TextHasher, words: str) -> None:
    assert make(words * 40) == fingerprint_text(words * 40) == fingerprint_text_in_python(words * 40)


def test_an_empty_text_is_like_no_other(make: TextHasher) -> None:
    assert make("") == make(" \n") == fingerprint_text_in_python("")
    assert fingerprint_text("")[1] == bytes(32)


def test_without_the_library_python_makes_the_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_hash, "_native_hasher", None)
    assert fingerprint_text("the tide runs out") == fingerprint_text_in_python("the tide runs out")

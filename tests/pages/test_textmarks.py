"""The two marks of a text, by the compiled lines and in Python: the same to the bit."""

import random
import shutil
import string
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.pages import textmarks
from sanderling.pages.textmarks import LIBRARY, SOURCE, Maker, in_python, load, text_marks

ODD = ["\u00a0", "\u200b", "\u00a0\u200b", "é", "日本", "\x00", "\x7f", "\udc80", "\t", "\x0b", "\x1c", "T", "tt", "#"]
WORDS = st.text(st.one_of(st.sampled_from("tT \n.e5"), st.characters())) | st.lists(st.sampled_from(ODD)).map("".join)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler: apt-get install gcc")
    library = tmp_path_factory.mktemp("native") / "made.so"
    strict = ["-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-std=c99"]
    subprocess.run([compiler, *strict, "-shared", "-fPIC", "-o", str(library), str(SOURCE)], check=True)
    made = load(library)
    assert made is not None
    return made


@given(words=WORDS)
def test_both_ways_give_the_same_marks(native: Maker, words: str) -> None:
    assert native(words) in (in_python(words), None)


def test_long_texts_of_every_length_of_piece_get_the_same_marks(native: Maker) -> None:
    dice = random.Random(4)
    for length in range(1, 700, 7):
        words = "t".join("".join(dice.choices(string.printable, k=dice.randrange(length))) for _ in range(40))
        assert native(words) == in_python(words)


def test_a_text_in_another_script_is_left_to_python(native: Maker) -> None:
    words = "潮が引くと砂浜に鳥が走る。" * 40
    assert native(words) is None
    assert text_marks(words) == in_python(words)


def test_an_empty_text_is_like_no_other(native: Maker) -> None:
    assert native("") == native(" \n") == in_python("")
    assert text_marks("")[1] == bytes(8)


def test_without_the_library_python_makes_the_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textmarks, "_native", None)
    assert text_marks("the tide runs out") == in_python("the tide runs out")


def test_what_is_no_library_of_ours_is_not_loaded(tmp_path: Path) -> None:
    assert load(tmp_path / "none.so") is None
    torn = tmp_path / "torn.so"
    torn.write_bytes(b"\x7fELF")
    assert load(torn) is None


def test_installing_compiled_the_library_where_there_is_a_compiler() -> None:
    assert LIBRARY.exists() or shutil.which("cc") is None
    assert textmarks.IS_NATIVE is LIBRARY.exists()

"""Tokenization, stop words and language detection."""

import pytest

from sanderling.search import tokenizer
from sanderling.search.language import detect_page_language
from sanderling.search.tokenizer import is_stop_word, stem_text


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Running runs", "en", "run run"),
        ("the user's don't", "en", "the user dont"),
        ("C++ and C#, a+b", "en", "c++ and c# a b"),
        ("foo_bar node.js", "en", "foo bar node js"),
        ("“Curly” quotes—dashes", "en", "cur quot dash"),
        ("Résumé resume", "en", "resum resum"),
        ("Häuser", "de", "haus"),
        ("Häuser", "", "hauser"),
        ("東京都 birds", "ja", "東京 京都 birds"),
        ("iPhone手机壳", "zh", "iphone 手机 机壳"),
        ("人々と𠮷野家", "ja", "人々 々と と𠮷 𠮷野 野家"),
        ("x" * 41, "en", ""),
        ("\ud800half", "en", "half"),
        ("", "en", ""),
    ],
)
def test_text_becomes_stems_of_its_language(text: str, language: str, expected: str) -> None:
    assert stem_text(text, language) == expected


@pytest.mark.parametrize("language", [*tokenizer.STEMMERS, "cs", "pl", "xx", ""])
def test_every_language_produces_stems(language: str) -> None:
    assert stem_text("Mrówki niosą liście", language).startswith("mrow")
    assert not is_stop_word("mrówki", language)


def test_stem_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer, "MAX_CACHED_STEMS", 10)
    stem_text(" ".join(f"word{i}" for i in range(1000)), "it")
    assert len(tokenizer._get_stem_cache("it")) <= 10


def test_stop_words_depend_on_the_language() -> None:
    assert is_stop_word("The", "en")
    assert not is_stop_word("the", "de")
    assert not is_stop_word("the", "xx")


def test_declared_language_wins() -> None:
    assert detect_page_language("de-AT", "The tide comes in and the birds run away from it") == "de"
    assert detect_page_language("nb_NO", "") == "no"


GERMAN = "Die Vögel laufen am Strand entlang und suchen nach Futter, das die Wellen gebracht haben. "
ENGLISH = "The birds run along the beach and look for food that the waves have left behind on the sand. "


@pytest.mark.parametrize(("most", "language"), [(GERMAN, "de"), (ENGLISH, "en")])
@pytest.mark.parametrize("place", [0, 10, 20])
def test_language_of_a_mixed_page_is_that_of_most_of_its_text(most: str, language: str, place: int) -> None:
    other = ENGLISH if most is GERMAN else GERMAN
    parts = [most] * 20
    parts[place:place] = [other] * 12
    assert detect_page_language("", "".join(parts)) == language


def test_language_of_alternating_paragraphs_is_that_of_the_longer_ones() -> None:
    assert detect_page_language("", (ENGLISH + "\n" + 2 * GERMAN + "\n") * 6) == "de"


def test_undeclared_language_is_detected() -> None:
    german = "Die Vögel laufen am Strand entlang und suchen nach Futter, das die Wellen gebracht haben. " * 3
    assert detect_page_language("", german) == "de"
    assert detect_page_language("nonsense-tag", german) == "de"
    assert detect_page_language("", "12345 67890") == ""

"""Compounds split and joined by the words of an index."""

from pathlib import Path

import pytest
from tests.support.documents import NOW, page

from sanderling.search.compounds import MAX_PARTS, join_words, split_compound
from sanderling.search.engine import SearchEngine
from sanderling.search.index import SearchIndex, open_search_index
from sanderling.search.search_types import SearchRequest, SearchResults
from sanderling.search.tokenizer import MAX_WORD_LENGTH, stem_text


def count_in(text: str, language: str) -> dict[str, int]:
    stems = stem_text(text, language).split()
    return {stem: stems.count(stem) for stem in stems}


@pytest.mark.parametrize(
    ("word", "language", "vocabulary", "parts"),
    [
        ("Druckerkonfiguration", "de", "Drucker Konfiguration", "Drucker Konfiguration"),
        ("Verwaltungsgerichtshof", "de", "Verwaltung Gericht Hof", "Verwaltung Gericht Hof"),
        ("Paketverwaltung", "de", "Paket Verwaltung", "Paket Verwaltung"),
        ("Schulbuch", "de", "Schule Buch", "Schule Buch"),
        ("Straßenbahn", "de", "Straße Bahn", "Straße Bahn"),
        ("Druckerkonfiguration", "de", "Konfiguration", ""),
        ("Druckerkonfiguration", "en", "Drucker Konfiguration", ""),
        ("Aktionsplan", "de", "Aktion Plan Akt Ion", "Aktion Plan"),
        ("anderen", "de", "an der den", ""),
        ("printerconfiguratie", "nl", "printer configuratie", "printer configuratie"),
        ("skrivarinställning", "sv", "skrivare inställning", "skrivare inställning"),
        ("tietokoneohjelma", "fi", "tietokone ohjelma", "tietokone ohjelma"),
    ],
)
def test_compound_is_split_into_known_words(word: str, language: str, vocabulary: str, parts: str) -> None:
    counts = count_in(vocabulary, language)
    assert split_compound(word, language, lambda stem: counts.get(stem, 0)) == tuple(stem_text(parts, language).split())


def test_frequent_parts_win() -> None:
    counts = count_in("Staub Ecken " + "Stau Becken " * 5, "de")
    assert split_compound("Staubecken", "de", lambda stem: counts.get(stem, 0)) == ("stau", stem_text("Becken", "de"))


def test_splits_of_the_longest_word_are_bounded() -> None:
    looked_up: list[str] = []

    def know_everything(stem: str) -> int:
        looked_up.append(stem)
        return 1

    assert len(split_compound("k" * MAX_WORD_LENGTH, "de", know_everything)) <= MAX_PARTS
    assert len(looked_up) < 7 * MAX_WORD_LENGTH**2
    assert split_compound("k" * (MAX_WORD_LENGTH + 1), "de", know_everything) == ()


def test_words_are_joined_in_either_order() -> None:
    counts = count_in("Druckerkonfiguration Verwaltungsakt", "de")

    def join(*words: str) -> list[str]:
        return join_words(words, "de", lambda stem: counts.get(stem, 0))

    assert join("Konfiguration", "Druckern") == [stem_text("Druckerkonfiguration", "de")]
    assert join("Akt", "Verwaltung") == [stem_text("Verwaltungsakt", "de")]
    assert join("Konfiguration") == []
    assert join_words(("Konfiguration", "Drucker"), "en", lambda _: 1) == []


PAGES = [
    page("https://d.example/joined", "Eins", "Hier steht die Druckerkonfiguration des Systems.", language="de"),
    page("https://d.example/apart", "Zwei", "Die Konfiguration der Drucker ist im System.", language="de"),
    page("https://d.example/far", "Drei", "Drucker sind laut. Das System hat eine Konfiguration.", language="de"),
    page("https://d.example/half", "Vier", "Die Konfiguration des Systems ist hier.", language="de"),
    page("https://d.example/none", "Fünf", "Das Wetter ist heute schön.", language="de"),
    page("https://d.example/english", "Six", "The Konfiguration of a Drucker: a Drucker Konfiguration.", language="en"),
]


@pytest.fixture
def german_index(tmp_path: Path) -> SearchIndex:
    index = open_search_index(tmp_path / "index", write=True)
    assert index is not None
    index.replace(PAGES)
    index.commit(1)
    return index


def search(index: SearchIndex, text: str) -> SearchResults:
    return SearchEngine(index).search(SearchRequest(text, now=NOW))


def names(results: SearchResults) -> list[str]:
    return [hit.url.rsplit("/", 1)[1] for hit in results.hits]


def test_compound_finds_its_parts_after_exact_matches(german_index: SearchIndex) -> None:
    results = search(german_index, "Druckerkonfiguration lang:de")
    assert names(results) == ["joined", "apart", "far"]
    assert {run.text for run in results.hits[1].snippet if run.is_match} == {"Konfiguration", "Drucker"}


def test_parts_find_their_compound_after_exact_matches(german_index: SearchIndex) -> None:
    for text in ("Konfiguration der Drucker lang:de", "Konfiguration von Druckern lang:de"):
        found = names(search(german_index, text))
        assert set(found[:2]) == {"apart", "far"}
        assert found[2:] == ["joined", "half"]


def test_unknown_compound_is_split_instead_of_corrected(german_index: SearchIndex) -> None:
    results = search(german_index, "Systemkonfigurationen lang:de")
    assert results.corrected_query == ""
    assert set(names(results)) == {"far", "half", "apart"}


def test_phrase_and_other_languages_are_not_expanded(german_index: SearchIndex) -> None:
    assert names(search(german_index, '"Druckerkonfiguration"')) == ["joined"]
    assert "english" not in names(search(german_index, "Druckerkonfiguration"))

"""Snippets and highlighting, as text and never as HTML."""

from sanderling.search.search_types import TextRun
from sanderling.search.snippets import build_snippet, highlight_text


def render(runs: tuple[TextRun, ...]) -> str:
    return "".join(f"[{p.text}]" if p.is_match else p.text for p in runs)


def test_window_with_most_distinct_stems_is_chosen() -> None:
    body = "tide " + "filler " * 100 + "where the tide meets the sand " + "filler " * 100
    shown = render(build_snippet(body, "en", {"tide", "sand"}, 120))
    assert "the [tide] meets the [sand]" in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")


def test_snippet_starts_at_a_whole_word_of_code() -> None:
    code = "forms.ModelMultipleChoiceField(queryset=Author.objects.all())"
    shown = render(build_snippet(f"{'filler ' * 20}{code} tide sand", "en", {"tide", "sand"}))
    assert shown == f"… {code} [tide] [sand]"


def test_inflected_forms_are_marked_and_parts_of_words_are_not() -> None:
    assert render(highlight_text("Running, she runs; overrun", "en", {"run"})) == "[Running], she [runs]; overrun"


def test_bigrams_of_unspaced_text_are_marked() -> None:
    assert render(highlight_text("私は東京に住む", "ja", {"東京"})) == "私は[東京]に住む"


def test_words_are_marked_in_texts_whose_lower_case_is_longer() -> None:
    text = "İstanbul ve Kitaplar. Kitap"
    assert render(highlight_text(text, "tr", {"kitap"})) == "İstanbul ve [Kitaplar]. [Kitap]"
    assert render(highlight_text("Die Häuser, das HAUS", "de", {"haus"})) == "Die [Häuser], das [HAUS]"


def test_words_with_signs_are_marked_whole() -> None:
    text = "In C++, the user's 'name'"
    assert render(highlight_text(text, "en", {"c++", "user", "name"})) == "In [C++], the [user's] '[name]'"


def test_markup_stays_text() -> None:
    runs = highlight_text("<script>alert(1)</script> tide", "en", {"tide", "alert"})
    assert render(runs) == "<script>[alert](1)</script> [tide]"


def test_snippet_without_a_match_is_the_beginning() -> None:
    assert render(build_snippet("One. " * 100, "en", {"tide"}, 50)).startswith("One. One.")
    assert build_snippet("", "en", {"tide"}) == ()


def test_adjacent_matches_far_down_are_found() -> None:
    filler = "The tide comes. " * 1_000
    runs = build_snippet(filler + "Here TIDE and Tables meet. " + filler, "en", {"tide", "tabl"})
    assert {piece.text for piece in runs if piece.is_match} >= {"TIDE", "Tables"}
    assert runs[0].text == "… "
    assert runs[-1].text == " …"


def test_ellipsis_after_the_scanned_text() -> None:
    assert build_snippet("tide " * 5_000, "en", {"tide"})[-1].text == " …"

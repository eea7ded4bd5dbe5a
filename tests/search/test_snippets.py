"""Snippets show why a page was found, as text and never as HTML."""

from sanderling.search.search_types import TextRun
from sanderling.search.snippets import build_snippet, highlight_text


def text_of(pieces: tuple[TextRun, ...]) -> str:
    return "".join(f"[{p.text}]" if p.is_match else p.text for p in pieces)


def test_the_stretch_with_most_different_words_is_chosen() -> None:
    body = "tide " + "filler " * 100 + "where the tide meets the sand " + "filler " * 100
    shown = text_of(build_snippet(body, "en", {"tide", "sand"}, 120))
    assert "the [tide] meets the [sand]" in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")


def test_a_piece_begins_with_a_whole_word_even_of_code() -> None:
    code = "forms.ModelMultipleChoiceField(queryset=Author.objects.all())"
    shown = text_of(build_snippet(f"{'filler ' * 20}{code} tide sand", "en", {"tide", "sand"}))
    assert shown == f"… {code} [tide] [sand]"


def test_every_form_of_a_word_is_marked_and_parts_of_words_are_not() -> None:
    assert text_of(highlight_text("Running, she runs; overrun", "en", {"run"})) == "[Running], she [runs]; overrun"


def test_signs_without_spaces_are_marked_in_place() -> None:
    assert text_of(highlight_text("私は東京に住む", "ja", {"東京"})) == "私は[東京]に住む"


def test_markup_stays_text() -> None:
    pieces = highlight_text("<script>alert(1)</script> tide", "en", {"tide", "alert"})
    assert text_of(pieces) == "<script>[alert](1)</script> [tide]"


def test_without_a_match_the_beginning_is_shown() -> None:
    assert text_of(build_snippet("One. " * 100, "en", {"tide"}, 50)).startswith("One. One.")
    assert build_snippet("", "en", {"tide"}) == ()


def test_words_that_meet_only_far_down_are_shown_where_they_meet() -> None:
    filler = "The tide comes. " * 1_000
    pieces = build_snippet(filler + "Here TIDE and Tables meet. " + filler, "en", {"tide", "tabl"})
    assert {piece.text for piece in pieces if piece.is_match} >= {"TIDE", "Tables"}
    assert pieces[0].text == "… "
    assert pieces[-1].text == " …"


def test_a_text_that_goes_on_behind_what_was_looked_at_says_so() -> None:
    assert build_snippet("tide " * 5_000, "en", {"tide"})[-1].text == " …"

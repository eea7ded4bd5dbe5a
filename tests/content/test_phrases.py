"""Tests of boilerplate phrases."""

import pytest

from sanderling.content.phrases import (
    CALL_TO_ACTION,
    FEEDBACK_PROMPT,
    NAVIGATION,
    RELATED_LINKS,
    SHARE_BUTTON,
    SOCIAL_NETWORK,
    TABLE_OF_CONTENTS,
    classify_link_line,
    classify_phrase,
    compute_phrase_keys,
    load_phrases,
)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("You may also like…", RELATED_LINKS),
        ("ÄHNLICHE ARTIKEL", RELATED_LINKS),
        ("We found other products you might like!", RELATED_LINKS),
        ("Les clients qui ont acheté ce produit ont également acheté :", RELATED_LINKS),
        ("関連記事：", RELATED_LINKS),
        ("Was this article helpful?", FEEDBACK_PROMPT),
        ("1,204 out of 1,377 found this helpful", FEEDBACK_PROMPT),
        ("Cet article vous a-t-il été utile ?", FEEDBACK_PROMPT),
        ("↑ Back to top", SHARE_BUTTON),
        ("Start your free trial →", CALL_TO_ACTION),
        ("Inhaltsverzeichnis", TABLE_OF_CONTENTS),
        ("Was this article helpful to the court?", None),
        ("Related parties", None),
        ("See also", None),
        ("", None),
    ],
)
def test_phrase_is_classified_by_its_letters(line: str, kind: str | None) -> None:
    assert classify_phrase(line) == kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Facebook X LinkedIn", SOCIAL_NETWORK),
        ("Share on LinkedIn (opens in a new window)", SHARE_BUTTON),
        ("Teilen Drucken E-Mail", SHARE_BUTTON),
        ("¿Te ha resultado útil? Sí No", FEEDBACK_PROMPT),
        ("Home › Help", NAVIGATION),
        ("Xylophones", None),
        ("Facebook and its friends", None),
    ],
)
def test_link_row_is_classified_by_all_of_its_words(line: str, kind: str | None) -> None:
    [key] = compute_phrase_keys([line])
    assert classify_link_line(key, is_link_only=True) == kind
    assert kind is None or key[:2] in load_phrases().link_line_prefixes


def test_line_with_other_text_is_no_share_row() -> None:
    [key] = compute_phrase_keys(["Share on Facebook"])
    assert classify_link_line(key, is_link_only=False) is None


def test_phrase_keys_are_not_empty() -> None:
    assert b"" not in load_phrases().kind_by_key
    assert b"" not in load_phrases().related_links_prefixes
    assert compute_phrase_keys([]) == []
    assert compute_phrase_keys(["", "A b"]) == [b"", b"ab"]

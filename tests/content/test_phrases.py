"""Common words of furniture."""

import pytest

from sanderling.content.phrases import (
    CALL_TO_ACTION,
    FEEDBACK_PROMPT,
    KIND_BY_PHRASE_KEY,
    NAVIGATION,
    PHRASE_KEY_PREFIXES,
    RELATED_LINKS,
    RELATED_LINKS_PREFIX_KEYS,
    SHARE_BUTTON,
    SOCIAL_NETWORK,
    TABLE_OF_CONTENTS,
    classify_link_line,
    classify_phrase,
    compute_phrase_keys,
)


@pytest.mark.parametrize(
    ("line", "sort"),
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
def test_a_line_is_known_by_its_letters(line: str, sort: str | None) -> None:
    assert classify_phrase(line) == sort


@pytest.mark.parametrize(
    ("line", "sort"),
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
def test_a_row_of_links_is_known_by_all_of_its_words(line: str, sort: str | None) -> None:
    [key] = compute_phrase_keys([line])
    assert classify_link_line(key, is_link_only=True) == sort
    assert sort is None or key[:2] in PHRASE_KEY_PREFIXES


def test_what_is_not_all_links_offers_nothing() -> None:
    [key] = compute_phrase_keys(["Share on Facebook"])
    assert classify_link_line(key, is_link_only=False) is None


def test_no_phrase_is_lost() -> None:
    assert b"" not in KIND_BY_PHRASE_KEY
    assert b"" not in RELATED_LINKS_PREFIX_KEYS
    assert compute_phrase_keys([]) == []
    assert compute_phrase_keys(["", "A b"]) == [b"", b"ab"]

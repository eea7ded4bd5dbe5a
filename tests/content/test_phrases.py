"""Common words of furniture."""

import pytest

from sanderling.content.phrases import (
    ANNOUNCED,
    CALL,
    CONTENTS,
    HELPFUL,
    KNOWN,
    NETWORK,
    OTHERS,
    SHARE,
    STARTS,
    WAY,
    letters_of,
    sort_of,
    sort_of_links,
)


@pytest.mark.parametrize(
    ("line", "sort"),
    [
        ("You may also like…", OTHERS),
        ("ÄHNLICHE ARTIKEL", OTHERS),
        ("We found other products you might like!", OTHERS),
        ("Les clients qui ont acheté ce produit ont également acheté :", OTHERS),
        ("関連記事：", OTHERS),
        ("Was this article helpful?", HELPFUL),
        ("1,204 out of 1,377 found this helpful", HELPFUL),
        ("Cet article vous a-t-il été utile ?", HELPFUL),
        ("↑ Back to top", SHARE),
        ("Start your free trial →", CALL),
        ("Inhaltsverzeichnis", CONTENTS),
        ("Was this article helpful to the court?", None),
        ("Related parties", None),
        ("See also", None),
        ("", None),
    ],
)
def test_a_line_is_known_by_its_letters(line: str, sort: str | None) -> None:
    assert sort_of(line) == sort


@pytest.mark.parametrize(
    ("line", "sort"),
    [
        ("Facebook X LinkedIn", NETWORK),
        ("Share on LinkedIn (opens in a new window)", SHARE),
        ("Teilen Drucken E-Mail", SHARE),
        ("¿Te ha resultado útil? Sí No", HELPFUL),
        ("Home › Help", WAY),
        ("Xylophones", None),
        ("Facebook and its friends", None),
    ],
)
def test_a_row_of_links_is_known_by_all_of_its_words(line: str, sort: str | None) -> None:
    [key] = letters_of([line])
    assert sort_of_links(key, is_bare=True) == sort
    assert sort is None or key[:2] in STARTS


def test_what_is_not_all_links_offers_nothing() -> None:
    [key] = letters_of(["Share on Facebook"])
    assert sort_of_links(key, is_bare=False) is None


def test_no_phrase_is_lost() -> None:
    assert b"" not in KNOWN
    assert b"" not in ANNOUNCED
    assert letters_of([]) == []
    assert letters_of(["", "A b"]) == [b"", b"ab"]

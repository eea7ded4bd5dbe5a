"""Names that tell what a part of a page is."""

import pytest

from sanderling.content.class_names import (
    BOILERPLATE,
    INLINE_BOILERPLATE,
    INLINE_SUBSTRINGS,
    PREFILTER_SUBSTRINGS,
    REQUIRED_SUBSTRINGS,
    classify_name,
    find_inline_boilerplate,
    match_class_names,
)
from sanderling.html.parser import parse_html


@pytest.mark.parametrize(
    ("name", "sounds"),
    [
        ("Site-Footer", BOILERPLATE),
        ("breadcrumbs", BOILERPLATE | INLINE_BOILERPLATE),
        ("post relatedPosts", INLINE_BOILERPLATE),
        ("c-share-buttons--small", INLINE_BOILERPLATE),
        ("article_votes", INLINE_BOILERPLATE),
        ("personal-information-that-you-share", 0),
        ("xjs-shared-article", 0),
        ("helpful-tips", 0),
        ("", 0),
    ],
)
def test_a_name_sounds_like_what_it_names(name: str, sounds: int) -> None:
    assert classify_name(name) == sounds


def test_no_telling_name_is_passed_over() -> None:
    assert all(any(sign.decode() in name for sign in REQUIRED_SUBSTRINGS) for name in INLINE_SUBSTRINGS)


def test_only_parts_with_lines_of_their_own_are_furniture_inside_a_text() -> None:
    tree = parse_html(
        b"<div class=share-bar><a class=share-button>x</a></div><ul id=related-posts></ul><h2 class=share-bar>"
    )
    assert [element.tag for element in match_class_names(tree).inline_boilerplate] == ["div", "ul"]
    body = tree.find("body")
    assert body is not None
    assert [element.tag for element in find_inline_boilerplate(body)] == ["div"]


def test_each_telling_name_has_one_of_the_pieces_that_are_looked_for_first() -> None:
    assert [sign for sign in REQUIRED_SUBSTRINGS if not any(piece in sign for piece in PREFILTER_SUBSTRINGS)] == []

"""Names that tell what a part of a page is."""

import pytest

from sanderling.content.class_names import FURNITURE, INSIDE, PIECES, SIGNS, TRIMMING, hinted, hinted_inside, sound
from sanderling.html.parser import parse


@pytest.mark.parametrize(
    ("name", "sounds"),
    [
        ("Site-Footer", FURNITURE),
        ("breadcrumbs", FURNITURE | TRIMMING),
        ("post relatedPosts", TRIMMING),
        ("c-share-buttons--small", TRIMMING),
        ("article_votes", TRIMMING),
        ("personal-information-that-you-share", 0),
        ("xjs-shared-article", 0),
        ("helpful-tips", 0),
        ("", 0),
    ],
)
def test_a_name_sounds_like_what_it_names(name: str, sounds: int) -> None:
    assert sound(name) == sounds


def test_no_telling_name_is_passed_over() -> None:
    assert all(any(sign.decode() in name for sign in SIGNS) for name in INSIDE)


def test_only_parts_with_lines_of_their_own_are_furniture_inside_a_text() -> None:
    tree = parse(
        b"<div class=share-bar><a class=share-button>x</a></div><ul id=related-posts></ul><h2 class=share-bar>"
    )
    assert [element.tag for element in hinted(tree).trimmings] == ["div", "ul"]
    body = tree.find("body")
    assert body is not None
    assert [element.tag for element in hinted_inside(body)] == ["div"]


def test_each_telling_name_has_one_of_the_pieces_that_are_looked_for_first() -> None:
    assert [sign for sign in SIGNS if not any(piece in sign for piece in PIECES)] == []

"""Tests of class name classification."""

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
    ("name", "flags"),
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
def test_class_name_flags(name: str, flags: int) -> None:
    assert classify_name(name) == flags


def test_inline_names_contain_a_required_substring() -> None:
    assert all(any(substring.decode() in name for substring in REQUIRED_SUBSTRINGS) for name in INLINE_SUBSTRINGS)


def test_only_block_elements_are_inline_boilerplate() -> None:
    tree = parse_html(
        b"<div class=share-bar><a class=share-button>x</a></div><ul id=related-posts></ul><h2 class=share-bar>"
    )
    assert [element.tag for element in match_class_names(tree).inline_boilerplate] == ["div", "ul"]
    body = tree.find("body")
    assert body is not None
    assert [element.tag for element in find_inline_boilerplate(body)] == ["div"]


def test_required_substrings_contain_a_prefilter_substring() -> None:
    assert [
        substring
        for substring in REQUIRED_SUBSTRINGS
        if not any(prefilter in substring for prefilter in PREFILTER_SUBSTRINGS)
    ] == []

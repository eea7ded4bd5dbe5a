from experiments.paper_methods import fingerprint_tags

from sanderling.fingerprint.tag_outline import (
    SKIPPED_TAGS,
    TagOutline,
    build_outline,
    build_pruned_outline,
    decode_outline,
    pack_outline,
    resolve_tag_names,
)
from sanderling.html.parser import parse_html


def tags(names: str) -> list[str]:
    return names.split(" ")


# IPC Table 7
INITIAL = tags(
    "html head title body table tr td p img tr td td tr td td img p b font p font br font br br br br font br ul ul "
    "li p font b font a font li p font a font p"
)
CHANGED = INITIAL[:19] + tags("ul ul li p font b font a font") + tags("li p font b font a font") * 3
PRINTED_INITIAL = ("hhtbtttpitttttipbfpfbfbbbbfbuulpfbfaflpfafp", "ldeyerdpgrddrddgpbtptrtrrrrtrlliptbtatiptatp")
PRINTED_CHANGED = (
    "hhtbtttpitttttipbfuulpfbfaflpfbfaflpfbfaflpfbfaf",
    "ldeyerdpgrddrddgpbtlliptbfatiptbtatipfbtatiptbtat",
)


def test_table_7_first_page() -> None:
    fingerprint = fingerprint_tags(INITIAL)
    assert len(INITIAL) == len(fingerprint.first_letters) == 44
    assert fingerprint.last_letters == PRINTED_INITIAL[1]
    assert (
        fingerprint.first_letters[:9] + fingerprint.first_letters[10:] == PRINTED_INITIAL[0]
    )  # the print lost the t of one tr (E34)


def test_table_7_changed_page() -> None:
    fingerprint = fingerprint_tags(CHANGED)
    assert len(CHANGED) == len(fingerprint.first_letters) == 49
    assert fingerprint.first_letters[:9] + fingerprint.first_letters[10:] == PRINTED_CHANGED[0]
    slips = [place for place in range(49) if fingerprint.last_letters[place] != PRINTED_CHANGED[1][place]]
    assert slips == [25, 37]  # printed f for t (E34)


def test_hash_distinguishes_tags_with_the_same_letters() -> None:
    for first_tag, second_tag in (
        ("title", "table"),
        ("td", "thead"),
        ("hr", "header"),
        ("article", "aside"),
        ("span", "section"),
    ):
        first, second = fingerprint_tags([first_tag]), fingerprint_tags([second_tag])
        assert (first.first_letters, first.last_letters) == (second.first_letters, second.last_letters)
        assert first != second


def test_outline_has_the_depth_of_each_tag() -> None:
    tree = parse_html(b"<title>t</title><div><p>a<b>b</b></p></div><p>c")
    outline = build_outline(tree, list(tree.iter_elements()))
    assert outline == TagOutline(
        ["html", "head", "title", "body", "div", "p", "b", "p"], bytes([1, 2, 3, 2, 3, 4, 5, 3])
    )


def test_packed_outline_can_be_decoded() -> None:
    tree = parse_html(b"<template><i>x</i></template><my-tag><svg><path/></svg></my-tag>" * 300)
    outline = build_outline(tree, list(tree.iter_elements()))
    for packed in (outline, TagOutline([], b"")):
        assert resolve_tag_names(decode_outline(pack_outline(packed))) == packed


def test_depth_is_limited() -> None:
    tree = parse_html(b"<div>" * 600)
    outline = build_outline(tree, list(tree.iter_elements()))
    assert max(outline.depths) == 255


def test_children_of_skipped_tags_move_up() -> None:
    tree = parse_html(
        b"<div><b><i><a>x</a></i><section>y<a>z</a></section></b></div><my-tag><blink><ul><li>x</ul></blink></my-tag><p>z"
    )
    outline, cosmetic = build_pruned_outline(tree)
    assert outline.tags == ["html", "head", "body", "div", "a", "section", "a", "my-tag", "ul", "li", "p"]
    assert outline.depths == bytes([1, 2, 2, 3, 4, 4, 5, 3, 4, 5, 3])
    assert sum(cosmetic) == 3


def test_template_content_has_no_parent() -> None:
    tree = parse_html(b"<div><template><ul><li>x</ul></template><p>y</p><p>z</p></div>")
    outline = build_outline(
        tree, [first_tag for first_tag in tree.iter_elements() if first_tag.tag not in SKIPPED_TAGS], SKIPPED_TAGS
    )
    assert outline.tags == ["html", "head", "body", "div", "ul", "li", "p", "p"]
    assert outline.depths == bytes([1, 2, 2, 3, 2, 3, 2, 2])

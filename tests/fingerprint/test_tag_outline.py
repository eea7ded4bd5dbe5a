"""The skeleton of a page and the papers' fingerprints."""

from sanderling.fingerprint.tag_outline import (
    SKIPPED_TAGS,
    TagOutline,
    build_outline,
    build_pruned_outline,
    fingerprint_tags,
    pack_outline,
    unpack_outline,
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
    mark = fingerprint_tags(INITIAL)
    assert len(INITIAL) == len(mark.first_letters) == 44
    assert mark.last_letters == PRINTED_INITIAL[1]
    assert (
        mark.first_letters[:9] + mark.first_letters[10:] == PRINTED_INITIAL[0]
    )  # the print lost the t of one tr (E34)


def test_table_7_changed_page() -> None:
    mark = fingerprint_tags(CHANGED)
    assert len(CHANGED) == len(mark.first_letters) == 49
    assert mark.first_letters[:9] + mark.first_letters[10:] == PRINTED_CHANGED[0]
    slips = [place for place in range(49) if mark.last_letters[place] != PRINTED_CHANGED[1][place]]
    assert slips == [25, 37]  # printed f for t (E34)


def test_the_guard_tells_apart_what_shares_both_letters() -> None:
    for one, other in (
        ("title", "table"),
        ("td", "thead"),
        ("hr", "header"),
        ("article", "aside"),
        ("span", "section"),
    ):
        blind, seeing = fingerprint_tags([one]), fingerprint_tags([other])
        assert (blind.first_letters, blind.last_letters) == (seeing.first_letters, seeing.last_letters)
        assert blind != seeing


def test_a_skeleton_knows_how_deep_each_tag_stands() -> None:
    tree = parse_html(b"<title>t</title><div><p>a<b>b</b></p></div><p>c")
    skeleton = build_outline(tree, list(tree.iter_elements()))
    assert skeleton == TagOutline(
        ["html", "head", "title", "body", "div", "p", "b", "p"], bytes([1, 2, 3, 2, 3, 4, 5, 3])
    )


def test_a_skeleton_survives_packing() -> None:
    tree = parse_html(b"<template><i>x</i></template><my-tag><svg><path/></svg></my-tag>" * 300)
    skeleton = build_outline(tree, list(tree.iter_elements()))
    assert unpack_outline(pack_outline(skeleton)) == skeleton
    assert unpack_outline(pack_outline(TagOutline([], b""))) == TagOutline([], b"")


def test_a_very_deep_page_is_cut_not_refused() -> None:
    tree = parse_html(b"<div>" * 600)
    skeleton = build_outline(tree, list(tree.iter_elements()))
    assert max(skeleton.depths) == 255


def test_what_is_inside_a_tag_left_out_is_handed_up() -> None:
    tree = parse_html(
        b"<div><b><i><a>x</a></i><section>y<a>z</a></section></b></div><my-tag><blink><ul><li>x</ul></blink></my-tag><p>z"
    )
    skeleton, cosmetic = build_pruned_outline(tree)
    assert skeleton.tags == ["html", "head", "body", "div", "a", "section", "a", "my-tag", "ul", "li", "p"]
    assert skeleton.depths == bytes([1, 2, 2, 3, 4, 4, 5, 3, 4, 5, 3])
    assert sum(cosmetic) == 3


def test_what_hangs_in_a_template_hangs_on_nothing() -> None:
    tree = parse_html(b"<div><template><ul><li>x</ul></template><p>y</p><p>z</p></div>")
    skeleton = build_outline(tree, [one for one in tree.iter_elements() if one.tag not in SKIPPED_TAGS], SKIPPED_TAGS)
    assert skeleton.tags == ["html", "head", "body", "div", "ul", "li", "p", "p"]
    assert skeleton.depths == bytes([1, 2, 2, 3, 2, 3, 2, 2])

"""Signatures of pages."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.fingerprint.structure import (
    HEAD_BLOCKS,
    TAIL_BLOCKS,
    compute_feature_similarity,
    decode_features,
    fingerprint_structure,
    is_block_feature,
)
from sanderling.html.parser import parse_html


def signature(body: str) -> bytes:
    return fingerprint_structure(parse_html(f"<html><body>{body}</body></html>".encode()))


def test_repetition_leaves_the_features_alone() -> None:
    row = "<div class=row><h3>x</h3></div>"
    assert decode_features(signature(row * 3)) == decode_features(signature(row * 20))


def test_words_and_inline_tags_leave_the_signature_alone() -> None:
    assert signature("<div class=a><h1>One</h1></div>") == signature("<div class=a><h1>Two <b>three</b></h1></div>")


def test_another_class_is_another_signature() -> None:
    assert signature("<div class=a></div>") != signature("<div class=b></div>")


def test_the_order_of_classes_and_the_numbers_in_them_do_not_matter() -> None:
    assert signature("<div class='row1 wide'>") == signature("<div class='wide row27'>")
    assert signature("<div class='item:a51f'>") == signature("<div class='item:b302'>")


def test_a_huge_page_has_a_small_signature_that_shows_both_ends() -> None:
    many = "".join(f"<div class=c{chr(97 + n % 26)}></div>" for n in range(5000))
    huge = signature(f"<nav></nav>{many}<footer></footer>")
    assert len(huge) == 2 * (HEAD_BLOCKS + 1 + TAIL_BLOCKS)
    assert decode_features(signature("<nav>")) & decode_features(signature("<footer>")) < decode_features(huge)


def test_blocks_that_are_not_neighbours_on_the_page_are_not_called_so() -> None:
    first, last = "<ul></ul>" * (HEAD_BLOCKS - 1), "<ol></ol>" * (TAIL_BLOCKS)
    whole = decode_features(signature(first + "<hr>" * 9 + last))
    short = decode_features(signature("<ul></ul><ol></ol>"))
    neighbours = {feature for feature in short if not is_block_feature(feature)} - decode_features(
        signature("<ul></ul>")
    )
    assert not neighbours & whole


def test_likeness_is_one_for_the_same_build_and_less_for_another() -> None:
    a, b = decode_features(signature("<div class=a><ul>")), decode_features(signature("<div class=b><ul>"))
    assert compute_feature_similarity(a, a) == 1.0
    assert 0 < compute_feature_similarity(a, b) < 1


def test_an_empty_page_has_a_signature_all_the_same() -> None:
    assert fingerprint_structure(parse_html(b"")) == signature("")
    assert compute_feature_similarity(decode_features(b""), decode_features(b"")) == 1.0


@given(st.binary(max_size=300))
def test_any_bytes_have_features(raw: bytes) -> None:
    assert all(0 < feature < 1 << 32 for feature in decode_features(raw))

from hypothesis import given
from hypothesis import strategies as st

from sanderling.fingerprint.structure import (
    HEAD_BLOCKS,
    TAIL_BLOCKS,
    compute_feature_similarity,
    decode_features,
    fingerprint_structure,
)
from sanderling.html.parser import parse_html


def fingerprint(body: str) -> bytes:
    return fingerprint_structure(parse_html(f"<html><body>{body}</body></html>".encode()))


def test_repeated_blocks_do_not_change_the_features() -> None:
    row = "<div class=row><h3>x</h3></div>"
    assert decode_features(fingerprint(row * 3)) == decode_features(fingerprint(row * 20))


def test_text_and_inline_tags_are_ignored() -> None:
    assert fingerprint("<div class=a><h1>One</h1></div>") == fingerprint("<div class=a><h1>Two <b>three</b></h1></div>")


def test_other_class_gives_another_fingerprint() -> None:
    assert fingerprint("<div class=a></div>") != fingerprint("<div class=b></div>")


def test_class_order_and_numbers_are_ignored() -> None:
    assert fingerprint("<div class='row1 wide'>") == fingerprint("<div class='wide row27'>")
    assert fingerprint("<div class='item:a51f'>") == fingerprint("<div class='item:b302'>")


def test_fingerprint_of_a_large_page_keeps_both_ends() -> None:
    many = "".join(f"<div class=c{chr(97 + n % 26)}></div>" for n in range(5000))
    huge = fingerprint(f"<nav></nav>{many}<footer></footer>")
    assert len(huge) == 2 * (HEAD_BLOCKS + 1 + TAIL_BLOCKS)
    assert decode_features(fingerprint("<nav>")) & decode_features(fingerprint("<footer>")) < decode_features(huge)


def test_blocks_around_the_gap_are_not_adjacent() -> None:
    first, last = "<ul></ul>" * (HEAD_BLOCKS - 1), "<ol></ol>" * (TAIL_BLOCKS)
    whole = decode_features(fingerprint(first + "<hr>" * 9 + last))
    short = decode_features(fingerprint("<ul></ul><ol></ol>"))
    pairs = {feature for feature in short if feature >= 1 << 16} - decode_features(fingerprint("<ul></ul>"))
    assert not pairs & whole


def test_similarity_of_equal_and_other_features() -> None:
    a, b = decode_features(fingerprint("<div class=a><ul>")), decode_features(fingerprint("<div class=b><ul>"))
    assert compute_feature_similarity(a, a) == 1.0
    assert 0 < compute_feature_similarity(a, b) < 1


def test_empty_page_has_a_fingerprint() -> None:
    assert fingerprint_structure(parse_html(b"")) == fingerprint("")
    assert compute_feature_similarity(decode_features(b""), decode_features(b"")) == 1.0


@given(st.binary(max_size=300))
def test_any_bytes_have_features(raw: bytes) -> None:
    assert all(0 < feature < 1 << 32 for feature in decode_features(raw))

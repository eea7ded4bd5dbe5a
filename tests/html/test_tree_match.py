"""Simple Tree Matching against its golden numbers, and its rivals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.html.tag_tree import Node, read
from sanderling.html.tree_match import (
    RIVALS,
    Verdict,
    edit_distance,
    layers,
    matched,
    matched_as_printed,
    similarity,
    tag_matching,
    tag_sequence,
    verdict,
)

A9 = read("R(b(d(h) e(i)) c(f g))")
B7 = read("R(b(d e) c(f(x)))")
LIST = read("ul(li li li li)")

trees = st.recursive(
    st.builds(Node, st.sampled_from("abc")),
    lambda kids: st.builds(Node, st.sampled_from("abc"), st.lists(kids, max_size=4).map(tuple)),
    max_leaves=15,
)


def plain(a: Node, b: Node) -> int:
    """The corrected recurrence, word for word."""
    if a.tag != b.tag:
        return 0
    table = [[0] * (len(b.children) + 1) for _ in range(len(a.children) + 1)]
    for i, left in enumerate(a.children, 1):
        for j, right in enumerate(b.children, 1):
            table[i][j] = max(table[i][j - 1], table[i - 1][j], table[i - 1][j - 1] + plain(left, right))
    return table[-1][-1] + 1


def test_the_worked_example_matches_six_nodes_of_nine_and_seven() -> None:
    assert (A9.size, B7.size, matched(A9, B7), similarity(A9, B7)) == (9, 7, 6, 0.75)


def test_a_list_of_four_matches_itself_in_five_nodes_and_the_printed_formula_says_eight() -> None:
    assert matched(LIST, LIST) == 5
    assert similarity(LIST, LIST) == 1.0
    assert matched_as_printed(LIST, LIST) == 8


@pytest.mark.parametrize(
    ("value", "meaning"),
    [(0.0, Verdict.DIFFERENT), (0.39, Verdict.DIFFERENT), (0.4, Verdict.SIMILAR), (0.75, Verdict.SIMILAR),
     (0.9, Verdict.SIMILAR), (0.91, Verdict.SAME), (1.0, Verdict.SAME)],
)  # fmt: skip
def test_the_two_thresholds_part_different_similar_and_same(value: float, meaning: Verdict) -> None:
    assert verdict(value) is meaning


@given(trees, trees)
def test_the_fast_matching_counts_what_the_plain_one_counts(a: Node, b: Node) -> None:
    assert matched(a, b) == plain(a, b)


@pytest.mark.parametrize("method", RIVALS.values(), ids=list(RIVALS))
@given(a=trees, b=trees)
def test_every_method_gives_one_for_equals_and_is_symmetric_within_bounds(method, a: Node, b: Node) -> None:  # type: ignore[no-untyped-def]
    assert method(a, a) == 1.0
    assert -1e-9 <= method(a, b) <= 1.0
    assert method(a, b) == pytest.approx(method(b, a))


def test_rivals_by_hand() -> None:
    one, other = read("a(b c)"), read("a(c b)")
    assert tag_matching(one, other) == 1.0
    assert tag_sequence(one, other) == pytest.approx(2 / 3)
    assert layers(one, read("a(b d)")) == pytest.approx(1 - 2 / 6)
    assert edit_distance(one, read("a(b)")) == 1
    assert edit_distance(one, read("a(b x(y))")) == 2


def test_a_large_tree_is_matched() -> None:
    rows = " ".join(f"tr(td td{'(p)' * (n % 2)} {'td ' * (n % 7)}th)" for n in range(400))
    a, b = read(f"body(table({rows}))"), read(f"body(table({rows} tr) hr)")
    assert a.size > 2000
    assert similarity(a, b) > 0.99

"""Tests of Simple Tree Matching against reference values, and of the other similarity measures."""

import pytest
from experiments.tree_measures import (
    SIMILARITY_MEASURES,
    SimilarityClass,
    classify_similarity,
    compute_edit_distance,
    compute_layer_similarity,
    compute_tag_overlap,
    compute_tag_sequence_similarity,
    count_matching_nodes_as_printed,
    parse_tag_tree,
)
from hypothesis import given
from hypothesis import strategies as st

from sanderling.html.tag_tree import TagNode
from sanderling.html.tree_match import compute_similarity, count_matching_nodes

A9 = parse_tag_tree("R(b(d(h) e(i)) c(f g))")
B7 = parse_tag_tree("R(b(d e) c(f(x)))")
LIST = parse_tag_tree("ul(li li li li)")

trees = st.recursive(
    st.builds(TagNode, st.sampled_from("abc")),
    lambda children: st.builds(TagNode, st.sampled_from("abc"), st.lists(children, max_size=4).map(tuple)),
    max_leaves=15,
)


def count_naively(a: TagNode, b: TagNode) -> int:
    """The corrected recurrence without optimizations."""
    if a.tag != b.tag:
        return 0
    table = [[0] * (len(b.children) + 1) for _ in range(len(a.children) + 1)]
    for i, left in enumerate(a.children, 1):
        for j, right in enumerate(b.children, 1):
            table[i][j] = max(table[i][j - 1], table[i - 1][j], table[i - 1][j - 1] + count_naively(left, right))
    return table[-1][-1] + 1


def test_worked_example_of_the_thesis() -> None:
    assert (A9.size, B7.size, count_matching_nodes(A9, B7), compute_similarity(A9, B7)) == (9, 7, 6, 0.75)


def test_printed_recurrence_counts_too_many_nodes() -> None:
    assert count_matching_nodes(LIST, LIST) == 5
    assert compute_similarity(LIST, LIST) == 1.0
    assert count_matching_nodes_as_printed(LIST, LIST) == 8


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, SimilarityClass.DIFFERENT),
        (0.39, SimilarityClass.DIFFERENT),
        (0.4, SimilarityClass.SIMILAR),
        (0.75, SimilarityClass.SIMILAR),
        (0.9, SimilarityClass.SIMILAR),
        (0.91, SimilarityClass.SAME),
        (1.0, SimilarityClass.SAME),
    ],
)
def test_similarity_is_classified_by_thresholds(value: float, expected: SimilarityClass) -> None:
    assert classify_similarity(value) is expected


@given(trees, trees)
def test_optimized_matching_equals_naive_recurrence(a: TagNode, b: TagNode) -> None:
    assert count_matching_nodes(a, b) == count_naively(a, b)


@pytest.mark.parametrize("method", SIMILARITY_MEASURES.values(), ids=list(SIMILARITY_MEASURES))
@given(a=trees, b=trees)
def test_measures_are_symmetric_and_normalized(method, a: TagNode, b: TagNode) -> None:  # type: ignore[no-untyped-def]
    assert method(a, a) == 1.0
    assert -1e-9 <= method(a, b) <= 1.0
    assert method(a, b) == pytest.approx(method(b, a))


def test_other_measures_on_small_trees() -> None:
    first, second = parse_tag_tree("a(b c)"), parse_tag_tree("a(c b)")
    assert compute_tag_overlap(first, second) == 1.0
    assert compute_tag_sequence_similarity(first, second) == pytest.approx(2 / 3)
    assert compute_layer_similarity(first, parse_tag_tree("a(b d)")) == pytest.approx(1 - 2 / 6)
    assert compute_edit_distance(first, parse_tag_tree("a(b)")) == 1
    assert compute_edit_distance(first, parse_tag_tree("a(b x(y))")) == 2


def test_a_large_tree_is_matched() -> None:
    rows = " ".join(f"tr(td td{'(p)' * (n % 2)} {'td ' * (n % 7)}th)" for n in range(400))
    a, b = parse_tag_tree(f"body(table({rows}))"), parse_tag_tree(f"body(table({rows} tr) hr)")
    assert a.size > 2000
    assert compute_similarity(a, b) > 0.99

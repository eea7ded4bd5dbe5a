"""Retrieval measures against values computed by hand."""

from math import log2

import pytest
from benchmarks.lib.ranking_measures import compute_average_precision, compute_ndcg, compute_precision


def test_average_precision_counts_missed_pages() -> None:
    assert compute_average_precision(["a", "x", "b"], {"a", "b", "c"}) == pytest.approx((1 + 2 / 3) / 3)
    assert compute_average_precision(["a"], set()) == 0


def test_precision_divides_by_the_depth() -> None:
    assert compute_precision(["a", "x"], {"a"}) == 0.1


def test_ndcg_of_ideal_and_reversed_order() -> None:
    gains = {"a": 3.0, "b": 1.0}
    assert compute_ndcg(["a", "b"], gains) == 1
    assert compute_ndcg(["b", "a"], gains) == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))
    assert compute_ndcg(["x"], {}) == 0

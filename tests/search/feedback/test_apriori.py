"""Corrected numbers of the thesis, and frequent sets computed by other tools."""

import csv
import json
from pathlib import Path

import pytest

from sanderling.search.feedback.apriori import (  # fmt: skip
    compute_confidences,
    compute_min_count,
    compute_page_weight,
    compute_pattern_weight,
    find_frequent_sets,
)

# MIG Tables 6.2-6.5: actions of 15 users on page P1 (8 bookmark, 1 scroll, 10 save, ...).
P1 = [{8, 1, 5}, {10, 8, 1}, {6}, {7}, {9}, {11}, {12}, {1, 8, 10}, {4}, {2}, {8, 3}, {13}, {8, 10}, {8}, {1, 5}]
PRINTED_P1, PRINTED_P2 = 3.34, 2.6  # P1: C1 misprinted as 100 % instead of 67 %; P2: not the result of its own steps


def test_supports_of_the_worked_example() -> None:
    counts = find_frequent_sets(P1, 1)
    assert [counts[frozenset(s)] for s in ({1}, {8}, {10}, {8, 10}, {1, 10}, {1, 8}, {1, 8, 10})] == [
        4, 6, 3, 3, 2, 3, 2
    ]  # fmt: skip


def test_printed_triple_is_not_frequent_at_20_percent() -> None:
    assert compute_min_count(0.2, 15) == 3
    assert frozenset({1, 8, 10}) not in find_frequent_sets(P1, 3)
    assert max(find_frequent_sets(P1, 2), key=len) == {1, 8, 10}


def test_weight_of_page_1_differs_from_the_printed_value() -> None:
    page = compute_page_weight(P1, min_support=2 / 15)
    subsets = ((10,), (8,), (1,), (8, 10), (1, 10), (1, 8))
    assert [round(page.confidences[s], 2) for s in subsets] == [0.67, 0.33, 0.5, 0.67, 1.0, 0.67]
    assert (page.pattern, round(page.weight, 2), round(page.normalized_weight, 2)) == ((1, 8, 10), 3.00, 0.5)
    assert round(page.weight, 2) != PRINTED_P1


def test_stated_support_gives_a_pair() -> None:
    page = compute_page_weight(P1)
    assert (page.pattern, page.weight, page.normalized_weight) == ((8, 10), 1.0, 0.5)


@pytest.mark.parametrize(("mouse_and_print", "weight"), [(4, 2.33), (3, 3.0), (2, 3.33)])
def test_weight_of_page_2_depends_on_an_impossible_count(mouse_and_print: int, weight: float) -> None:
    printing, mouse, bookmark = 9, 13, 8
    counts = {
        frozenset({printing}): 6, frozenset({mouse}): 3, frozenset({bookmark}): 4,
        frozenset({mouse, bookmark}): 2, frozenset({mouse, printing}): mouse_and_print,
        frozenset({printing, bookmark}): 3, frozenset({printing, mouse, bookmark}): 2,
    }  # fmt: skip
    page = compute_pattern_weight({printing, mouse, bookmark}, counts)
    assert round(page.weight, 2) == weight
    assert round(page.weight, 2) != PRINTED_P2


def test_page_without_a_pattern_has_no_weight() -> None:
    assert compute_page_weight([]).weight == 0
    assert compute_page_weight([{1}, {2}, {3}]).weight == 0


def test_confidences_are_between_0_and_1() -> None:
    counts = find_frequent_sets(P1, 1)
    assert all(0 < c <= 1 for c in compute_confidences({1, 5, 8}, counts).values())


@pytest.mark.parametrize("which", [0, 1])
def test_frequent_sets_of_textbook_examples(which: int, suites: Path) -> None:
    example = json.loads((suites / "baskets" / "textbook.json").read_text())[which]
    found = find_frequent_sets(example["transactions"], example["min_count"])
    assert found == {frozenset(row["items"]): row["count"] for row in example["frequent"]}


@pytest.fixture(scope="module")
def groceries(suites: Path) -> list[list[str]]:
    with (suites / "baskets" / "groceries.csv").open() as lines:
        return [[item.strip() for item in row] for row in csv.reader(lines) if row]


def test_frequent_sets_of_groceries(groceries: list[list[str]], suites: Path) -> None:
    known = json.loads((suites / "baskets" / "groceries_frequent_0.01.json").read_text())
    found = find_frequent_sets(groceries, compute_min_count(0.01, len(groceries)))
    assert found == {frozenset(row["items"]): row["count"] for row in known}

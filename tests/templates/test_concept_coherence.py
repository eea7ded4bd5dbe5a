"""Coherence of concepts: what knowing that a page is in a set tells about its other features."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.templates.concept_coherence import BitCosts, ReferencePages, is_concept_size, select_sets

PRODUCT, PRICE, NEWS, AUTHOR, ODD, EVEN = (4 * n for n in range(1, 7))


def build_pages() -> list[frozenset[int]]:
    """Thirty products, some without a price, and thirty news pages; odd and even tell nothing else."""
    pages = [frozenset({PRODUCT} if n % 10 == 0 else {PRODUCT, PRICE}) for n in range(30)]
    return [page | {(ODD, EVEN)[n % 2]} for n, page in enumerate([*pages, *[frozenset({NEWS, AUTHOR})] * 30])]


def test_a_type_saves_bits_and_an_accidental_feature_saves_fewer() -> None:
    reference = ReferencePages(build_pages())
    assert reference.measure_saving(PRODUCT) == reference.measure_saving(NEWS)
    assert reference.measure_saving(PRODUCT) > reference.measure_saving(PRICE) > reference.measure_saving(ODD)


@pytest.mark.parametrize("feature", [99, 4])
def test_pages_that_the_reference_does_not_have_save_nothing(feature: int) -> None:
    assert ReferencePages([]).measure_saving(feature) == 0.0
    assert ReferencePages([frozenset({4}), frozenset({8})]).measure_saving(feature) == 0.0


def test_equal_sets_are_one_and_each_view_weighs_the_same() -> None:
    postings = {4: 0b0111, 8: 0b0111, 5: 0b0011, 9: 0b1100}  # one set of view 0, two of view 1
    found = select_sets(postings, 4, 1, 10)
    assert {(one.feature, one.pages): one.weight for one in found} == {
        (4, 0b0111): 1.0,
        (5, 0b11): 0.5,
        (9, 0b1100): 0.5,
    }


@given(st.integers(1, 60), st.data())
def test_a_split_never_costs_more_bits_than_the_whole(size: int, data: st.DataObject) -> None:
    left = data.draw(st.integers(0, size))
    inside, outside = data.draw(st.integers(0, left)), data.draw(st.integers(0, size - left))
    costs = BitCosts(size)
    assert costs.compute_split((left, size - left), inside, outside) <= costs.compute(size, inside + outside) + 1e-6


def test_the_smallest_concepts_grow_with_the_site_to_a_bound() -> None:
    assert [is_concept_size(2, count) for count in (3, 99, 200, 10_000)] == [True, True, False, False]
    assert is_concept_size(4, 1_000_000)
    assert not is_concept_size(20, 20)

"""Concept averaging: which pages are of the type of the samples."""

from collections.abc import Collection
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.templates.concept_averaging import (
    SCALE_BITS,
    Concept,
    Inference,
    PageSets,
    calibrate,
    infer_concepts,
    iter_bits,
)
from sanderling.templates.page_features import DIRECTORY, URL

CHROME, PRODUCT, NEWS, GERMAN, FRENCH = 0, 4, 8, 2, 6  # features: the lowest two bits are the view


def build_site() -> list[frozenset[int]]:
    """Ten products and ten news pages, half of each in German and half in French."""
    languages = (GERMAN, FRENCH)
    return [frozenset({CHROME, kind, languages[n % 2]}) for kind in (PRODUCT, NEWS) for n in range(10)]


def test_two_samples_in_different_languages_stand_for_their_type_in_all_languages() -> None:
    pages = build_site()
    found = infer_concepts(PageSets(pages), [pages[0], pages[1], pages[2]]).rank_pages()
    assert set(found) == set(range(10))


def test_samples_of_one_language_and_two_types_stand_for_the_language() -> None:
    pages = build_site()
    found = infer_concepts(PageSets(pages), [pages[0], pages[10], pages[2]]).rank_pages()
    assert set(found) == set(range(0, 20, 2))


def test_concepts_with_a_negative_sample_are_dropped() -> None:
    pages = build_site()
    inference = infer_concepts(PageSets(pages), [pages[0]], [pages[1]])
    assert [concept.features for concept in inference.concepts] == [(GERMAN,)]


def test_one_sample_asks_about_a_page_that_tells_the_concepts_apart() -> None:
    pages = build_site()
    (page,) = infer_concepts(PageSets(pages), [pages[0]]).choose_questions([0], 1)
    assert page in {*range(1, 10, 2), *range(10, 20, 2)}  # of the other language, or of the other type


def test_one_of_three_samples_may_lack_the_feature_of_the_type() -> None:
    pages = [*build_site(), frozenset({CHROME, GERMAN})]
    found = infer_concepts(PageSets(pages), [pages[0], pages[1], pages[2], pages[20]]).rank_pages()
    assert set(found) >= set(range(10))


@settings(deadline=None)
@given(
    st.lists(
        st.frozensets(st.integers(0, 40).filter(lambda feature: feature & 3 < 3), max_size=12), min_size=1, max_size=60
    ),
    st.data(),
)
def test_sums_by_bit_planes_equal_sums_page_by_page(pages: list[frozenset[int]], data: st.DataObject) -> None:
    samples = [pages[n] for n in data.draw(st.lists(st.integers(0, len(pages) - 1), min_size=1, max_size=4))]
    inference = infer_concepts(PageSets(pages), samples)
    found = inference.rank_pages(0.0)
    for number, probability in found.items():
        exact = sum(c.weight for c in inference.concepts if c.pages >> number & 1)
        assert isclose(probability, exact, abs_tol=len(inference.concepts) / (1 << SCALE_BITS))


def test_the_order_of_the_pages_does_not_change_the_answer() -> None:
    pages = build_site()
    forward = infer_concepts(PageSets(pages), [pages[0], pages[1]]).rank_pages()
    backward = infer_concepts(PageSets(pages[::-1]), [pages[1], pages[0]]).rank_pages()
    assert {19 - number: probability for number, probability in backward.items()} == forward


def test_samples_from_two_directories_stand_for_both() -> None:
    directories = [DIRECTORY | number << 2 | URL for number in range(5)]
    pages = [frozenset({CHROME, directories[n % 5], 64 + 4 * n}) for n in range(50)]
    found = infer_concepts(PageSets(pages), [pages[0], pages[1], pages[5], pages[6]]).rank_pages()
    assert set(found) == {n for n in range(50) if n % 5 < 2}


@given(st.lists(st.frozensets(st.integers(0, 20), min_size=1), min_size=1, max_size=4, unique=True))
def test_no_other_cut_has_a_larger_expected_f1(sets: list[frozenset[int]]) -> None:
    concepts = [Concept((4 * n,), sum(1 << page for page in pages), 1 / len(sets)) for n, pages in enumerate(sets)]
    inference = Inference(concepts)

    def expect(found: Collection[int]) -> float:
        return sum(2 * len(pages & set(found)) / (len(pages) + len(found)) for pages in sets)

    best = expect(inference.rank_pages())
    assert all(expect(inference.rank_pages(n / 16)) <= best + 1e-9 for n in range(1, 17))


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_calibration_keeps_the_order_and_the_ends(count: int) -> None:
    values = [calibrate(n / 20, count) for n in range(21)]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (0.0, 1.0)


@given(st.integers(0, 1 << 200))
def test_positions_of_bits(bits: int) -> None:
    assert sum(1 << n for n in iter_bits(bits)) == bits

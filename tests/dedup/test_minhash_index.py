"""Lookup of near duplicates."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.dedup.minhash_index import GUARANTEED_DISTANCE, MinhashIndex, NearDuplicate
from sanderling.fingerprint.minhash import compute_hamming_distance

sketches = st.integers(1, 2**256 - 1)


@given(st.lists(sketches, max_size=20), sketches, st.sets(st.integers(0, 255), max_size=GUARANTEED_DISTANCE))
def test_all_sketches_within_the_guaranteed_distance_are_found(others: list[int], sketch: int, bits: set[int]) -> None:
    index = MinhashIndex()
    for number, other in enumerate(others, 2):
        index.add(number, other)
    index.add(1, sketch)
    query = sketch
    for bit in bits:
        query ^= 1 << bit
    expected = {number: compute_hamming_distance(other, query) for number, other in enumerate(others, 2)} | {
        1: len(bits)
    }
    found = index.find(query, GUARANTEED_DISTANCE) if query else []
    assert {near.page: near.distance for near in found} == (
        {page: distance for page, distance in expected.items() if distance <= GUARANTEED_DISTANCE} if query else {}
    )


def test_results_are_sorted_by_distance() -> None:
    index = MinhashIndex()
    index.add(1, 0b1111)
    index.add(2, 0b0001)
    assert index.find(0b0011) == [NearDuplicate(2, 1), NearDuplicate(1, 2)]
    assert index.find(0b0011, max_distance=1) == [NearDuplicate(2, 1)]


def test_empty_page_is_not_indexed() -> None:
    index = MinhashIndex()
    index.add(1, 0)
    assert len(index) == 0
    assert index.find(0) == []


def test_page_can_be_discarded() -> None:
    index = MinhashIndex()
    for page in range(1, 40):
        index.add(page, page << 20 | 1)
    for page in range(1, 39):
        index.discard(page, page << 20 | 1)
    assert [near.page for near in index.find(39 << 20 | 1)] == [39]
    assert len(index) == 1


def test_page_takes_at_most_72_bytes() -> None:
    index = MinhashIndex()
    empty = index.bytes_used
    for page in range(1, 10_001):
        index.add(page, page * 0x9E3779B97F4A7C15**4 & (2**256 - 1))
    assert (index.bytes_used - empty) / 10_000 <= 72

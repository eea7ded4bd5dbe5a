"""Near duplicates by look-up."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.dedup.minhash_index import GUARANTEED_DISTANCE, MinhashIndex, NearDuplicate
from sanderling.fingerprint.minhash import compute_hamming_distance

marks = st.integers(1, 2**256 - 1)


@given(st.lists(marks, max_size=20), marks, st.sets(st.integers(0, 255), max_size=GUARANTEED_DISTANCE))
def test_whatever_is_near_is_found_and_nothing_else(others: list[int], mark: int, bits: set[int]) -> None:
    index = MinhashIndex()
    for number, other in enumerate(others, 2):
        index.add(number, other)
    index.add(1, mark)
    asked = mark
    for bit in bits:
        asked ^= 1 << bit
    expected = {number: compute_hamming_distance(other, asked) for number, other in enumerate(others, 2)} | {
        1: len(bits)
    }
    found = index.find(asked, GUARANTEED_DISTANCE) if asked else []
    assert {twin.page: twin.distance for twin in found} == (
        {page: far for page, far in expected.items() if far <= GUARANTEED_DISTANCE} if asked else {}
    )


def test_nearest_come_first() -> None:
    index = MinhashIndex()
    index.add(1, 0b1111)
    index.add(2, 0b0001)
    assert index.find(0b0011) == [NearDuplicate(2, 1), NearDuplicate(1, 2)]
    assert index.find(0b0011, max_distance=1) == [NearDuplicate(2, 1)]


def test_an_empty_page_is_like_no_other() -> None:
    index = MinhashIndex()
    index.add(1, 0)
    assert len(index) == 0
    assert index.find(0) == []


def test_a_page_can_be_forgotten() -> None:
    index = MinhashIndex()
    for page in range(1, 40):
        index.add(page, page << 20 | 1)
    for page in range(1, 39):
        index.discard(page, page << 20 | 1)
    assert [twin.page for twin in index.find(39 << 20 | 1)] == [39]
    assert len(index) == 1


def test_a_page_costs_at_most_72_bytes() -> None:
    index = MinhashIndex()
    empty = index.bytes_used
    for page in range(1, 10_001):
        index.add(page, page * 0x9E3779B97F4A7C15**4 & (2**256 - 1))
    assert (index.bytes_used - empty) / 10_000 <= 72

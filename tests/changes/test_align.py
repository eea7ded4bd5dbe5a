from hypothesis import given
from hypothesis import strategies as st

from sanderling.changes.align import Hunk, align_blocks

blocks = st.lists(st.integers(0, 6), max_size=25)


def patch(old: list[int], new: list[int], hunks: list[Hunk]) -> list[int]:
    built, at = [], 0
    for hunk in hunks:
        built += old[at : hunk.old[0]] + new[hunk.new[0] : hunk.new[1]]
        at = hunk.old[1]
    return built + old[at:]


@given(blocks, blocks)
def test_hunks_transform_old_into_new(old: list[int], new: list[int]) -> None:
    assert patch(old, new, align_blocks(old, new)) == new


@given(blocks)
def test_equal_versions_have_no_hunks(old: list[int]) -> None:
    assert align_blocks(old, list(old)) == []


def test_inserted_block_is_a_single_hunk() -> None:
    old = list(range(100))
    assert align_blocks(old, [*old[:50], 999, *old[50:]]) == [Hunk((50, 50), (50, 51))]


def test_replaced_block_is_a_single_hunk() -> None:
    old = [1, 2, 2, 3, 3, 4]
    assert align_blocks(old, [1, 2, 9, 3, 3, 4]) == [Hunk((2, 3), (2, 3))]


def test_long_versions_without_anchors_are_aligned() -> None:
    old, new = [1, 2] * 5000, [2, 3] * 5000
    assert patch(old, new, align_blocks(old, new)) == new

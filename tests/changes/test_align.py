"""Blocks of two versions laid side by side."""

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
def test_the_hunks_turn_one_version_into_the_other(old: list[int], new: list[int]) -> None:
    assert patch(old, new, align_blocks(old, new)) == new


@given(blocks)
def test_equal_versions_have_no_hunks(old: list[int]) -> None:
    assert align_blocks(old, list(old)) == []


def test_an_inserted_block_is_one_insertion() -> None:
    old = list(range(100))
    assert align_blocks(old, [*old[:50], 999, *old[50:]]) == [Hunk((50, 50), (50, 51))]


def test_a_replaced_block_is_one_replacement() -> None:
    old = [1, 2, 2, 3, 3, 4]
    assert align_blocks(old, [1, 2, 9, 3, 3, 4]) == [Hunk((2, 3), (2, 3))]


def test_two_unlike_long_versions_stay_cheap() -> None:
    old, new = [1, 2] * 5000, [2, 3] * 5000
    assert patch(old, new, align_blocks(old, new)) == new

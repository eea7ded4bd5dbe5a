"""The same words cut into other blocks."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.changes.align import Hunk
from sanderling.changes.reflow import BlockRun, drop_reflowed_blocks
from sanderling.fingerprint.model import MAX_BLOCK_SIZE, combine_hashes, hash_block

LETTERS = st.text("agull \u00fc", min_size=1).map(str.encode)


def left_over(old: list[bytes], new: list[bytes]) -> list[Hunk]:
    runs = (
        BlockRun([hash_block(block) for block in some], [len(block) for block in some], (0, len(some)))
        for some in (old, new)
    )
    return list(drop_reflowed_blocks(*runs))


@given(LETTERS, LETTERS)
def test_the_hash_of_two_blocks_that_became_one_follows_from_theirs(one: bytes, other: bytes) -> None:
    assert combine_hashes(hash_block(one), hash_block(other), len(other)) == hash_block(one + other)


def test_a_block_that_became_two_is_left_out_among_others_that_differ() -> None:
    assert left_over([b"gull", b"onetwo", b"tern"], [b"crab", b"one", b"two", b"wave"]) == [
        Hunk((0, 1), (0, 1)),
        Hunk((2, 3), (3, 4)),
    ]


def test_what_is_all_cut_otherwise_leaves_nothing() -> None:
    assert left_over([b"onetw", b"othree"], [b"one", b"two", b"three"]) == []
    assert left_over([b"one", b"two", b"three"], [b"onetw", b"othree"]) == []


def test_digits_that_went_to_the_next_block_are_other_numbers() -> None:
    assert left_over([b"1", b"23"], [b"12", b"3"]) == [Hunk((0, 2), (0, 2))]
    assert left_over([b"tea1", b"23cups"], [b"tea12", b"3cups"]) == [Hunk((0, 2), (0, 2))]


def test_of_very_long_blocks_nobody_knows_where_they_end() -> None:
    long = b"a" * MAX_BLOCK_SIZE
    assert left_over([long], [b"a", long[1:]]) == [Hunk((0, 1), (0, 2))]

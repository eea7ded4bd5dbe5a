from hypothesis import given
from hypothesis import strategies as st

from sanderling.changes.align import Hunk
from sanderling.changes.reflow import BlockRun, drop_reflowed_blocks
from sanderling.fingerprint.model import MAX_BLOCK_SIZE, combine_hashes, hash_block

LETTERS = st.text("agull \u00fc", min_size=1).map(str.encode)


def list_hunks(old: list[bytes], new: list[bytes]) -> list[Hunk]:
    runs = (
        BlockRun([hash_block(block) for block in version], [len(block) for block in version], (0, len(version)))
        for version in (old, new)
    )
    return list(drop_reflowed_blocks(*runs))


@given(LETTERS, LETTERS)
def test_hash_of_joined_blocks_is_combined(first: bytes, second: bytes) -> None:
    assert combine_hashes(hash_block(first), hash_block(second), len(second)) == hash_block(first + second)


def test_split_block_between_changed_blocks_is_dropped() -> None:
    assert list_hunks([b"gull", b"onetwo", b"tern"], [b"crab", b"one", b"two", b"wave"]) == [
        Hunk((0, 1), (0, 1)),
        Hunk((2, 3), (3, 4)),
    ]


def test_completely_reflowed_text_has_no_hunks() -> None:
    assert list_hunks([b"onetw", b"othree"], [b"one", b"two", b"three"]) == []
    assert list_hunks([b"one", b"two", b"three"], [b"onetw", b"othree"]) == []


def test_digits_moved_to_the_next_block_are_a_change() -> None:
    assert list_hunks([b"1", b"23"], [b"12", b"3"]) == [Hunk((0, 2), (0, 2))]
    assert list_hunks([b"tea1", b"23cups"], [b"tea12", b"3cups"]) == [Hunk((0, 2), (0, 2))]


def test_blocks_of_unknown_size_are_not_reflowed() -> None:
    long = b"a" * MAX_BLOCK_SIZE
    assert list_hunks([long], [b"a", long[1:]]) == [Hunk((0, 1), (0, 2))]

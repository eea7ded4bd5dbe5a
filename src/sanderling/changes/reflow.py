"""The same words cut into other blocks, found by the hashes and lengths of blocks alone.

The hash of a block is its letters read as one number, modulo a prime (`fingerprint/model.py`). So that of several
blocks in a row follows from theirs, and a paragraph that became two is seen to be those two.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from sanderling.changes.align import Hunk
from sanderling.fingerprint.model import MAX_BLOCK_SIZE, combine_hashes, hash_block

MAX_COMPARED_CELLS = 10_000  # old blocks times new ones of a hunk that are compared run by run

BlockRange = tuple[int, int]
"""The first block of some in a row, and the one after the last."""


class BlockRun:
    """Some blocks in a row: what any of them read together, and how long that is."""

    def __init__(self, hashes: Sequence[int], sizes: Sequence[int], block_range: BlockRange) -> None:
        some = slice(*block_range)
        self.first_block = block_range[0]
        self.end_offsets = [0, *accumulate(sizes[some])]
        self.prefix_hashes = list(
            accumulate(zip(hashes[some], sizes[some], strict=True), _append_hash, initial=hash_block(b""))
        )
        self.has_exact_sizes = max(sizes[some], default=MAX_BLOCK_SIZE) < MAX_BLOCK_SIZE

    def __len__(self) -> int:
        return len(self.end_offsets) - 1

    def measure(self, block_range: BlockRange) -> int:
        """Measure some blocks."""
        return self.end_offsets[block_range[1]] - self.end_offsets[block_range[0]]

    def compute_hash(self, block_range: BlockRange) -> int:
        """Hash some blocks as if they were one."""
        return combine_hashes(
            -self.prefix_hashes[block_range[0]], self.prefix_hashes[block_range[1]], self.measure(block_range)
        )


def _append_hash(prefix_hash: int, block: tuple[int, int]) -> int:
    key, size = block
    return combine_hashes(prefix_hash, key, size)


def drop_reflowed_blocks(left: BlockRun, right: BlockRun) -> Iterator[Hunk]:
    """Say what is left of two runs in the place of one another without what reads the same and is cut otherwise."""
    at = to = 0
    for mine, yours in (*_find_reflowed_ranges(left, right), ((len(left), len(left)), (len(right), len(right)))):
        if at < mine[0] or to < yours[0]:
            yield Hunk(
                (left.first_block + at, left.first_block + mine[0]),
                (right.first_block + to, right.first_block + yours[0]),
            )
        at, to = mine[1], yours[1]


def _find_reflowed_ranges(left: BlockRun, right: BlockRun) -> Iterator[tuple[BlockRange, BlockRange]]:
    """Go through the parts of two runs that read the same, in the order of both."""
    if not (
        left.has_exact_sizes
        and right.has_exact_sizes
        and len(left) + len(right) > 2
        and len(left) * len(right) <= MAX_COMPARED_CELLS
    ):
        return
    whole = (0, len(left)), (0, len(right))
    if _is_same_text(left, whole[0], right, whole[1]):
        yield whole
        return
    at = to = 0
    for mine, yours in sorted(
        [*_find_split_blocks(left, right), *((mine, yours) for yours, mine in _find_split_blocks(right, left))]
    ):
        if mine[0] >= at and yours[0] >= to:
            yield mine, yours
            at, to = mine[1], yours[1]


def _find_split_blocks(left: BlockRun, right: BlockRun) -> Iterator[tuple[BlockRange, BlockRange]]:
    """Find the blocks of one run that are several blocks of another."""
    places = {end: place for place, end in enumerate(right.end_offsets)}
    for block in range(len(left)):
        mine = block, block + 1
        ends = [places.get(end, 0) for end in map(left.measure(mine).__add__, right.end_offsets)]
        parts = ((start, end) for start, end in enumerate(ends) if end > start + 1)
        yield from ((mine, part) for part in parts if _is_same_text(left, mine, right, part))


def _is_same_text(left: BlockRun, left_range: BlockRange, right: BlockRun, right_range: BlockRange) -> bool:
    return left.measure(left_range) == right.measure(right_range) and left.compute_hash(
        left_range
    ) == right.compute_hash(right_range)

"""Detect equal text with other block boundaries, from hashes and sizes alone.

The hash of joined blocks follows from their hashes (`fingerprint/model.py`), so a paragraph that was split in two is
recognized.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from sanderling.changes.align import Hunk
from sanderling.fingerprint.model import MAX_BLOCK_SIZE, combine_hashes, hash_block

MAX_COMPARED_CELLS = 10_000  # old blocks times new blocks of a hunk; larger hunks are not searched

BlockRange = tuple[int, int]
"""Start and end of a range of blocks."""


class BlockRun:
    """Consecutive blocks, with size and hash of any range."""

    def __init__(self, hashes: Sequence[int], sizes: Sequence[int], block_range: BlockRange) -> None:
        selected = slice(*block_range)
        self.first_block = block_range[0]
        self.end_offsets = [0, *accumulate(sizes[selected])]
        self.prefix_hashes = list(
            accumulate(zip(hashes[selected], sizes[selected], strict=True), _append_hash, initial=hash_block(b""))
        )
        self.has_exact_sizes = max(sizes[selected], default=MAX_BLOCK_SIZE) < MAX_BLOCK_SIZE

    def __len__(self) -> int:
        return len(self.end_offsets) - 1

    def measure(self, block_range: BlockRange) -> int:
        return self.end_offsets[block_range[1]] - self.end_offsets[block_range[0]]

    def compute_hash(self, block_range: BlockRange) -> int:
        """Hash a range as if it were a single block."""
        return combine_hashes(
            -self.prefix_hashes[block_range[0]], self.prefix_hashes[block_range[1]], self.measure(block_range)
        )


def _append_hash(prefix_hash: int, block: tuple[int, int]) -> int:
    key, size = block
    return combine_hashes(prefix_hash, key, size)


def drop_reflowed_blocks(left: BlockRun, right: BlockRun) -> Iterator[Hunk]:
    """Yield the remaining hunks of two runs without equal text that was only reflowed."""
    old_at = new_at = 0
    for old_range, new_range in (
        *_find_reflowed_ranges(left, right),
        ((len(left), len(left)), (len(right), len(right))),
    ):
        if old_at < old_range[0] or new_at < new_range[0]:
            yield Hunk(
                (left.first_block + old_at, left.first_block + old_range[0]),
                (right.first_block + new_at, right.first_block + new_range[0]),
            )
        old_at, new_at = old_range[1], new_range[1]


def _find_reflowed_ranges(left: BlockRun, right: BlockRun) -> Iterator[tuple[BlockRange, BlockRange]]:
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
    old_at = new_at = 0
    for old_range, new_range in sorted(
        [
            *_find_split_blocks(left, right),
            *((old_range, new_range) for new_range, old_range in _find_split_blocks(right, left)),
        ]
    ):
        if old_range[0] >= old_at and new_range[0] >= new_at:
            yield old_range, new_range
            old_at, new_at = old_range[1], new_range[1]


def _find_split_blocks(left: BlockRun, right: BlockRun) -> Iterator[tuple[BlockRange, BlockRange]]:
    indexes_by_offset = {end: index for index, end in enumerate(right.end_offsets)}
    for block in range(len(left)):
        block_range = block, block + 1
        ends = [indexes_by_offset.get(end, 0) for end in map(left.measure(block_range).__add__, right.end_offsets)]
        parts = ((start, end) for start, end in enumerate(ends) if end > start + 1)
        yield from ((block_range, part) for part in parts if _is_same_text(left, block_range, right, part))


def _is_same_text(left: BlockRun, left_range: BlockRange, right: BlockRun, right_range: BlockRange) -> bool:
    return left.measure(left_range) == right.measure(right_range) and left.compute_hash(
        left_range
    ) == right.compute_hash(right_range)

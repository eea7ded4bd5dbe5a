"""The same words cut into other blocks, found by the hashes and lengths of blocks alone.

The hash of a block is its letters read as one number, modulo a prime (`fingerprint/model.py`). So that of several
blocks in a row follows from theirs, and a paragraph that became two is seen to be those two.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from sanderling.changes.align import Hunk
from sanderling.fingerprint.model import MAX_SIZE, hash_of, joined

MAX_TRIED = 10_000  # old blocks times new ones of a hunk that are compared run by run

Part = tuple[int, int]
"""The first block of some in a row, and the one after the last."""


class Run:
    """Some blocks in a row: what any of them read together, and how long that is."""

    def __init__(self, keys: Sequence[int], sizes: Sequence[int], part: Part) -> None:
        some = slice(*part)
        self.first = part[0]
        self.ends = [0, *accumulate(sizes[some])]
        self.sums = list(accumulate(zip(keys[some], sizes[some], strict=True), _with, initial=hash_of(b"")))
        self.is_whole = max(sizes[some], default=MAX_SIZE) < MAX_SIZE

    def __len__(self) -> int:
        return len(self.ends) - 1

    def size(self, part: Part) -> int:
        """Measure some blocks."""
        return self.ends[part[1]] - self.ends[part[0]]

    def key(self, part: Part) -> int:
        """Hash some blocks as if they were one."""
        return joined(-self.sums[part[0]], self.sums[part[1]], self.size(part))


def _with(before: int, block: tuple[int, int]) -> int:
    key, size = block
    return joined(before, key, size)


def without_recut(left: Run, right: Run) -> Iterator[Hunk]:
    """Say what is left of two runs in the place of one another without what reads the same and is cut otherwise."""
    at = to = 0
    for mine, yours in (*_recut(left, right), ((len(left), len(left)), (len(right), len(right)))):
        if at < mine[0] or to < yours[0]:
            yield Hunk((left.first + at, left.first + mine[0]), (right.first + to, right.first + yours[0]))
        at, to = mine[1], yours[1]


def _recut(left: Run, right: Run) -> Iterator[tuple[Part, Part]]:
    """Go through the parts of two runs that read the same, in the order of both."""
    if not (left.is_whole and right.is_whole and len(left) + len(right) > 2 and len(left) * len(right) <= MAX_TRIED):
        return
    whole = (0, len(left)), (0, len(right))
    if _are_alike(left, whole[0], right, whole[1]):
        yield whole
        return
    at = to = 0
    for mine, yours in sorted([*_split(left, right), *((mine, yours) for yours, mine in _split(right, left))]):
        if mine[0] >= at and yours[0] >= to:
            yield mine, yours
            at, to = mine[1], yours[1]


def _split(left: Run, right: Run) -> Iterator[tuple[Part, Part]]:
    """Find the blocks of one run that are several blocks of another."""
    places = {end: place for place, end in enumerate(right.ends)}
    for block in range(len(left)):
        mine = block, block + 1
        ends = [places.get(end, 0) for end in map(left.size(mine).__add__, right.ends)]
        parts = ((start, end) for start, end in enumerate(ends) if end > start + 1)
        yield from ((mine, part) for part in parts if _are_alike(left, mine, right, part))


def _are_alike(left: Run, mine: Part, right: Run, yours: Part) -> bool:
    return left.size(mine) == right.size(yours) and left.key(mine) == right.key(yours)

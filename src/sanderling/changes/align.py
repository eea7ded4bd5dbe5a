"""Align the blocks of two versions, so that an inserted paragraph is a single insertion.

Blocks that are unique in both versions are anchors (patience diff). Between anchors the longest common runs are
matched, while that is cheap.
"""

from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from sanderling.fingerprint.fast.common_affix import count_common_ends

MAX_CELLS = 60_000  # old blocks times new blocks of a gap; larger gaps are not matched


class Hunk(Struct, frozen=True):
    """Old blocks start..end replaced by new blocks start..end; either may be empty."""

    old: tuple[int, int]
    new: tuple[int, int]


def align_blocks(old: Sequence[int], new: Sequence[int]) -> list[Hunk]:
    """Return the hunks in which two sequences of block hashes differ."""
    start, tail = count_common_ends(old, new)
    return _align_gap(old, new, (start, len(old) - tail), (start, len(new) - tail))


def _align_gap(
    old: Sequence[int], new: Sequence[int], old_range: tuple[int, int], new_range: tuple[int, int]
) -> list[Hunk]:
    if old_range[0] == old_range[1] and new_range[0] == new_range[1]:
        return []
    if (
        old_range[0] == old_range[1]
        or new_range[0] == new_range[1]
        or (old_range[1] - old_range[0] == new_range[1] - new_range[0] == 1)
    ):
        return (
            [Hunk(old_range, new_range)] if old[old_range[0] : old_range[1]] != new[new_range[0] : new_range[1]] else []
        )
    anchors = _find_anchors(old, new, old_range, new_range)
    if not anchors:
        return _align_runs(old, new, old_range, new_range)
    hunks: list[Hunk] = []
    old_start, new_start = old_range[0], new_range[0]
    for old_anchor, new_anchor in (*anchors, (old_range[1], new_range[1])):
        hunks += (
            _align_gap(old, new, (old_start, old_anchor), (new_start, new_anchor))
            if (old_anchor, new_anchor) != (old_start, new_start)
            else []
        )
        old_start, new_start = old_anchor + 1, new_anchor + 1
    return hunks


def _find_anchors(
    old: Sequence[int], new: Sequence[int], old_range: tuple[int, int], new_range: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return the longest increasing series of blocks that are unique in both gaps."""
    old_unique = _find_unique_blocks(old, old_range)
    new_unique = _find_unique_blocks(new, new_range)
    pairs = [(number, new_unique[key]) for key, number in old_unique.items() if key in new_unique]
    return _find_longest_rising(sorted(pairs))


def _find_unique_blocks(blocks: Sequence[int], gap: tuple[int, int]) -> dict[int, int]:
    part = blocks[gap[0] : gap[1]]
    last = dict(zip(part, range(*gap), strict=True))
    if len(last) == len(part):
        return last
    first = dict(zip(part[::-1], range(gap[1] - 1, gap[0] - 1, -1), strict=True))
    return {key: number for key, number in last.items() if first[key] == number}


def _find_longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence whose second items increase (patience sorting)."""
    numbers = [number for _, number in pairs]
    if numbers == sorted(numbers):
        return pairs
    tops: list[int] = []
    top_indexes: list[int] = []
    previous: list[int] = []
    for index, number in enumerate(numbers):
        pile = bisect_left(tops, number)
        previous.append(top_indexes[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(number)
            top_indexes.append(index)
        else:
            tops[pile], top_indexes[pile] = number, index
    chain, index = [], top_indexes[-1] if top_indexes else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]


def _align_runs(
    old: Sequence[int], new: Sequence[int], old_range: tuple[int, int], new_range: tuple[int, int]
) -> list[Hunk]:
    if (old_range[1] - old_range[0]) * (new_range[1] - new_range[0]) > MAX_CELLS:
        return [Hunk(old_range, new_range)]
    matcher = SequenceMatcher(None, old[old_range[0] : old_range[1]], new[new_range[0] : new_range[1]], autojunk=False)
    return [
        Hunk((old_range[0] + a, old_range[0] + b), (new_range[0] + c, new_range[0] + d))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


MAX_PAIRED_CELLS = 10_000  # old blocks times new blocks; more are paired in order


def pair_by_size(old_sizes: list[int], new_sizes: list[int]) -> list[tuple[int, int]]:
    """Pair blocks in order so that their sizes fit best: an insertion does not shift the following pairs."""
    if (
        len(old_sizes) == len(new_sizes)
        or min(len(old_sizes), len(new_sizes)) == 0
        or len(old_sizes) * len(new_sizes) > MAX_PAIRED_CELLS
    ):
        return list(zip(range(len(old_sizes)), range(len(new_sizes)), strict=False))
    if len(old_sizes) > len(new_sizes):
        return [(old_number, new_number) for new_number, old_number in pair_by_size(new_sizes, old_sizes)]
    spare = len(new_sizes) - len(old_sizes)
    costs = [[0.0] * (spare + 1)]  # by old block and number of new blocks left out so far
    for number, size in enumerate(old_sizes):
        previous_costs, least = costs[-1], float("inf")
        costs.append([])
        for left_out in range(spare + 1):
            least = min(least, previous_costs[left_out] + _compute_size_difference(size, new_sizes[number + left_out]))
            costs[-1].append(least)
    return _trace_pairs(old_sizes, new_sizes, costs)


def _trace_pairs(old_sizes: list[int], new_sizes: list[int], costs: list[list[float]]) -> list[tuple[int, int]]:
    pairs, left_out = [], len(new_sizes) - len(old_sizes)
    for row in range(len(old_sizes) - 1, -1, -1):
        while left_out and costs[row + 1][left_out] == costs[row + 1][left_out - 1]:
            left_out -= 1
        pairs.append((row, row + left_out))
    return pairs[::-1]


def _compute_size_difference(a: int, b: int) -> float:
    return abs(a - b) / max(a, b, 1)

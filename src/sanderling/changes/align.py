"""Blocks of two versions laid side by side, so that an inserted paragraph is one insertion, not all later ones changed.

Blocks that occur once in both versions anchor the alignment (patience diff); between anchors the longest common runs
are looked for, as long as that stays cheap. What left one place and came to another was moved.
"""

from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from sanderling.fingerprint.fast.common_affix import count_common_ends

MAX_CELLS = 60_000  # old blocks times new blocks of a gap that are still compared run by run


class Hunk(Struct, frozen=True):
    """Old blocks start..end replaced by new blocks start..end; one of the two may be empty."""

    old: tuple[int, int]
    new: tuple[int, int]


def align_blocks(old: Sequence[int], new: Sequence[int]) -> list[Hunk]:
    """Find the places where two sequences of block hashes differ."""
    start, tail = count_common_ends(old, new)
    return _align_gap(old, new, (start, len(old) - tail), (start, len(new) - tail))


def _align_gap(
    old: Sequence[int], new: Sequence[int], old_range: tuple[int, int], new_range: tuple[int, int]
) -> list[Hunk]:
    """Align what lies between two anchors."""
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
    one, two = old_range[0], new_range[0]
    for mine, yours in (*anchors, (old_range[1], new_range[1])):
        hunks += _align_gap(old, new, (one, mine), (two, yours)) if (mine, yours) != (one, two) else []
        one, two = mine + 1, yours + 1
    return hunks


def _find_anchors(
    old: Sequence[int], new: Sequence[int], old_range: tuple[int, int], new_range: tuple[int, int]
) -> list[tuple[int, int]]:
    """Find the longest series of blocks that are unique in both gaps and keep their order."""
    single = _find_unique_blocks(old, old_range)
    there = _find_unique_blocks(new, new_range)
    pairs = [(place, there[key]) for key, place in single.items() if key in there]
    return _find_longest_rising(sorted(pairs))


def _find_unique_blocks(blocks: Sequence[int], gap: tuple[int, int]) -> dict[int, int]:
    """Number the blocks of a gap that occur once in it."""
    part = blocks[gap[0] : gap[1]]
    last = dict(zip(part, range(*gap), strict=True))
    if len(last) == len(part):
        return last
    first = dict(zip(part[::-1], range(gap[1] - 1, gap[0] - 1, -1), strict=True))
    return {key: place for key, place in last.items() if first[key] == place}


def _find_longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Take the longest subsequence whose second parts rise; mostly all do."""
    places = [yours for _, yours in pairs]
    if places == sorted(places):
        return pairs
    tops: list[int] = []
    at: list[int] = []
    below: list[int] = []
    for index, yours in enumerate(places):
        pile = bisect_left(tops, yours)
        below.append(at[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(yours)
            at.append(index)
        else:
            tops[pile], at[pile] = yours, index
    chain, index = [], at[-1] if at else -1
    while index >= 0:
        chain.append(pairs[index])
        index = below[index]
    return chain[::-1]


def _align_runs(
    old: Sequence[int], new: Sequence[int], old_range: tuple[int, int], new_range: tuple[int, int]
) -> list[Hunk]:
    """Align a gap without anchors by its longest common runs, if it is small."""
    if (old_range[1] - old_range[0]) * (new_range[1] - new_range[0]) > MAX_CELLS:
        return [Hunk(old_range, new_range)]
    matcher = SequenceMatcher(None, old[old_range[0] : old_range[1]], new[new_range[0] : new_range[1]], autojunk=False)
    return [
        Hunk((old_range[0] + a, old_range[0] + b), (new_range[0] + c, new_range[0] + d))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]

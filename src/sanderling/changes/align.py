"""Blocks of two versions laid side by side, so that an inserted paragraph is one insertion, not all later ones changed.

Blocks that occur once in both versions anchor the alignment (patience diff); between anchors the longest common runs
are looked for, as long as that stays cheap. What left one place and came to another was moved.
"""

from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from sanderling.fingerprint.fast.common_affix import ends

MAX_CELLS = 60_000  # old blocks times new blocks of a gap that are still compared run by run


class Hunk(Struct, frozen=True):
    """Old blocks start..end replaced by new blocks start..end; one of the two may be empty."""

    old: tuple[int, int]
    new: tuple[int, int]


def align(old: Sequence[int], new: Sequence[int]) -> list[Hunk]:
    """Find the places where two sequences of block hashes differ."""
    start, tail = ends(old, new)
    return _between(old, new, (start, len(old) - tail), (start, len(new) - tail))


def _between(old: Sequence[int], new: Sequence[int], left: tuple[int, int], right: tuple[int, int]) -> list[Hunk]:
    """Align what lies between two anchors."""
    if left[0] == left[1] and right[0] == right[1]:
        return []
    if left[0] == left[1] or right[0] == right[1] or (left[1] - left[0] == right[1] - right[0] == 1):
        return [Hunk(left, right)] if old[left[0] : left[1]] != new[right[0] : right[1]] else []
    anchors = _anchors(old, new, left, right)
    if not anchors:
        return _runs(old, new, left, right)
    hunks: list[Hunk] = []
    one, two = left[0], right[0]
    for mine, yours in (*anchors, (left[1], right[1])):
        hunks += _between(old, new, (one, mine), (two, yours)) if (mine, yours) != (one, two) else []
        one, two = mine + 1, yours + 1
    return hunks


def _anchors(
    old: Sequence[int], new: Sequence[int], left: tuple[int, int], right: tuple[int, int]
) -> list[tuple[int, int]]:
    """Find the longest series of blocks that are unique in both gaps and keep their order."""
    single = _single(old, left)
    there = _single(new, right)
    pairs = [(place, there[key]) for key, place in single.items() if key in there]
    return _rising(sorted(pairs))


def _single(blocks: Sequence[int], gap: tuple[int, int]) -> dict[int, int]:
    """Number the blocks of a gap that occur once in it."""
    part = blocks[gap[0] : gap[1]]
    last = dict(zip(part, range(*gap), strict=True))
    if len(last) == len(part):
        return last
    first = dict(zip(part[::-1], range(gap[1] - 1, gap[0] - 1, -1), strict=True))
    return {key: place for key, place in last.items() if first[key] == place}


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
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


def _runs(old: Sequence[int], new: Sequence[int], left: tuple[int, int], right: tuple[int, int]) -> list[Hunk]:
    """Align a gap without anchors by its longest common runs, if it is small."""
    if (left[1] - left[0]) * (right[1] - right[0]) > MAX_CELLS:
        return [Hunk(left, right)]
    matcher = SequenceMatcher(None, old[left[0] : left[1]], new[right[0] : right[1]], autojunk=False)
    return [
        Hunk((left[0] + a, left[0] + b), (right[0] + c, right[0] + d))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]

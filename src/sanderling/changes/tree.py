"""The document tree method (IPC-9, SPEC 7.1): which nodes came and went on which level, and how much that matters."""

from collections import Counter
from enum import StrEnum
from itertools import pairwise

from msgspec import Struct

from sanderling.changes.align import common
from sanderling.pages.fingerprint import COSMETIC, UNSEEN, Outline


class Verdict(StrEnum):
    """How the tree changed (IPC Table 6)."""

    NONE = "none"  # no sibling added or deleted on any level
    MINOR = "minor"  # leaf siblings only
    MAJOR = "major"  # siblings that have children


class Level(Struct, frozen=True, omit_defaults=True):
    """What happened on one level of the tree."""

    level: int
    old: int  # nodes before
    new: int  # nodes now
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class Structure(Struct, frozen=True):
    """The difference of two trees."""

    verdict: Verdict = Verdict.NONE
    levels: tuple[Level, ...] = ()  # those that differ
    cosmetic: bool = False  # tags that only change looks came or went
    reordered: bool = False  # the same nodes on every level, in another order


class Nodes(Struct, frozen=True):
    """The table of a tree, level by level: IPC Table 5."""

    names: tuple[tuple[str, ...], ...]
    children: tuple[tuple[int, ...], ...]

    @property
    def siblings(self) -> list[int]:
        """Count the nodes of each level: IPC Table 4."""
        return [len(level) for level in self.names]


def table(outline: Outline) -> Nodes:
    """Lay a skeleton out level by level."""
    height = max(outline.depths, default=0)
    names: list[list[str]] = [[] for _ in range(height)]
    children: list[list[int]] = [[] for _ in range(height)]
    for tag, depth in zip(outline.tags, outline.depths, strict=True):
        names[depth - 1].append(tag)
        children[depth - 1].append(0)
        if depth > 1 and children[depth - 2]:
            children[depth - 2][-1] += 1
    return Nodes(tuple(map(tuple, names)), tuple(map(tuple, children)))


def structure(old: Outline, new: Outline, skipped: frozenset[str] = COSMETIC | UNSEEN) -> Structure:
    """Compare two skeletons level by level; a node is its tag and whether it has children.

    Tags that only change looks, or are never seen, do not count; the papers' trees skip none.
    """
    if old == new:
        return Structure()
    cosmetic = _counts(old, COSMETIC) != _counts(new, COSMETIC)
    return compare(prune(old, skipped), prune(new, skipped), cosmetic=cosmetic)


def compare(old: Outline, new: Outline, *, cosmetic: bool) -> Structure:
    """Compare two pruned skeletons: only the tags between the first that differs and the last are looked at."""
    if old == new:
        return Structure(cosmetic=cosmetic)
    start, end = _same(old, new)
    before, after = _kinds(old, start, end), _kinds(new, start, end)
    levels = _levels(after - before, before - after, Counter(old.depths), Counter(new.depths))
    is_major = any(inner for _, _, inner in (*(after - before), *(before - after)))
    return Structure(Verdict.MAJOR if is_major else Verdict.MINOR, levels, cosmetic, reordered=not levels)


def _same(old: Outline, new: Outline) -> tuple[int, int]:
    """Count the tags that are the same at the start and at the end; the last at the start may have other children."""
    start = min(common(old.depths, new.depths), common(old.tags, new.tags))
    end = min(common(old.depths[::-1], new.depths[::-1]), common(old.tags[::-1], new.tags[::-1]))
    return max(0, start - 1), min(end, min(len(old.tags), len(new.tags)) - start)


def prune(outline: Outline, skipped: frozenset[str]) -> Outline:
    """Leave out some tags, moving up what is inside them."""
    tags, depths = [], []
    levels = [0] * 257  # of each depth: how many ancestors count, the last element there included
    for tag, depth in zip(outline.tags, outline.depths, strict=True):
        level = levels[depth - 1]
        if tag not in skipped:
            level += 1
            tags.append(tag)
            depths.append(level)
        levels[depth] = level
    return Outline(tags, bytes(depths))


def _counts(outline: Outline, wanted: frozenset[str]) -> Counter[str]:
    return Counter(tag for tag in outline.tags if tag in wanted)


def _kinds(outline: Outline, start: int, end: int) -> Counter[tuple[int, str, bool]]:
    """Count the nodes of a stretch by level, tag and whether they have children."""
    stop = len(outline.tags) - end
    depths = outline.depths[start : stop + 1] + b"\0"
    inner = [following > depth for depth, following in pairwise(depths)]
    return Counter(zip(depths, outline.tags[start:stop], inner, strict=False))


def _levels(
    added: Counter[tuple[int, str, bool]], removed: Counter[tuple[int, str, bool]], old: Counter[int], new: Counter[int]
) -> tuple[Level, ...]:
    places = sorted({level for level, _, _ in (*added, *removed)})
    return tuple(Level(place, old[place], new[place], _names(added, place), _names(removed, place)) for place in places)


def _names(kinds: Counter[tuple[int, str, bool]], level: int) -> tuple[str, ...]:
    return tuple(sorted(name for place, name, _ in kinds.elements() if place == level))

"""The document tree method (IPC-9, SPEC 7.1): which nodes came and went on which level, and how much that matters."""

from collections import Counter
from enum import StrEnum
from operator import gt

from msgspec import Struct

from sanderling.fingerprint.fast.common_affix import common
from sanderling.fingerprint.tag_outline import COSMETIC, KNOWN, UNSEEN, Outline, named, unfold


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
    """Compare two pruned skeletons."""
    return _compare(old.tags, old.depths, new.tags, new.depths, cosmetic)


def compare_packed(old: bytes, new: bytes, *, cosmetic: bool) -> Structure:
    """Compare two pruned skeletons as they are stored; tags that HTML does not know are compared by name."""
    one, other = unfold(old), unfold(new)
    if one.others or other.others:
        return compare(named(one), named(other), cosmetic=cosmetic)
    return _compare(one.codes, one.depths, other.codes, other.depths, cosmetic)


Tags = list[str] | bytes
"""Tags by name, or by their codes."""


def _compare(old: Tags, old_depths: bytes, new: Tags, new_depths: bytes, cosmetic: bool) -> Structure:
    """Look at the tags between the first that differs and the last, no others."""
    if old == new and old_depths == new_depths:
        return Structure(cosmetic=cosmetic)
    start = min(common(old_depths, new_depths), common(old, new))
    end = min(
        common(old_depths[::-1], new_depths[::-1]), common(old[::-1], new[::-1]), len(old) - start, len(new) - start
    )
    start = max(0, start - 1)  # the last tag that is the same may have other children
    before, after = _kinds(old, old_depths, start, end), _kinds(new, new_depths, start, end)
    added, removed = after - before, before - after
    came, went = _names(added), _names(removed)
    levels = tuple(
        Level(level, old_depths.count(level), new_depths.count(level), came.get(level, ()), went.get(level, ()))
        for level in sorted({*came, *went})
    )
    is_major = any(inner for _, _, inner in (*added, *removed))
    return Structure(Verdict.MAJOR if is_major else Verdict.MINOR, levels, cosmetic, reordered=not levels)


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


Kinds = Counter[tuple[int, str | int, bool]]
"""Nodes by level, tag and whether they have children."""


def _kinds(tags: Tags, depths: bytes, start: int, end: int) -> Kinds:
    stop = len(tags) - end
    stretch = depths[start : stop + 1] + b"\0"
    inner = map(gt, stretch[1:], stretch)
    return Counter(zip(stretch, tags[start:stop], inner, strict=False))


def _names(kinds: Kinds) -> dict[int, tuple[str, ...]]:
    """The tags of some nodes by their level."""
    found: dict[int, list[str]] = {}
    for level, tag, _ in kinds.elements():
        found.setdefault(level, []).append(tag if isinstance(tag, str) else KNOWN[tag])
    return {level: tuple(sorted(tags)) for level, tags in found.items()}

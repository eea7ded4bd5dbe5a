"""The document tree method (IPC-9, SPEC 7.1): which nodes came and went on which level, and how much that matters."""

from collections import Counter
from enum import StrEnum
from operator import gt

from msgspec import Struct

from sanderling.fingerprint.fast.common_affix import count_common_prefix
from sanderling.fingerprint.tag_outline import (
    COSMETIC_TAGS,
    INVISIBLE_TAGS,
    KNOWN_TAGS,
    TagOutline,
    decode_outline,
    resolve_tag_names,
)


class StructureSeverity(StrEnum):
    """How the tree changed (IPC Table 6)."""

    NONE = "none"  # no sibling added or deleted on any level
    MINOR = "minor"  # leaf siblings only
    MAJOR = "major"  # siblings that have children


class TreeLevelDiff(Struct, frozen=True, omit_defaults=True):
    """What happened on one level of the tree."""

    level: int
    old: int  # nodes before
    new: int  # nodes now
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class StructureDiff(Struct, frozen=True):
    """The difference of two trees."""

    severity: StructureSeverity = StructureSeverity.NONE
    levels: tuple[TreeLevelDiff, ...] = ()  # those that differ
    cosmetic: bool = False  # tags that only change looks came or went
    reordered: bool = False  # the same nodes on every level, in another order


class TreeLevels(Struct, frozen=True):
    """The table of a tree, level by level: IPC Table 5."""

    names: tuple[tuple[str, ...], ...]
    children: tuple[tuple[int, ...], ...]

    @property
    def sibling_counts(self) -> list[int]:
        """Count the nodes of each level: IPC Table 4."""
        return [len(level) for level in self.names]


def build_tree_levels(outline: TagOutline) -> TreeLevels:
    """Lay a skeleton out level by level."""
    height = max(outline.depths, default=0)
    names: list[list[str]] = [[] for _ in range(height)]
    children: list[list[int]] = [[] for _ in range(height)]
    for tag, depth in zip(outline.tags, outline.depths, strict=True):
        names[depth - 1].append(tag)
        children[depth - 1].append(0)
        if depth > 1 and children[depth - 2]:
            children[depth - 2][-1] += 1
    return TreeLevels(tuple(map(tuple, names)), tuple(map(tuple, children)))


def compare_outlines(
    old: TagOutline, new: TagOutline, skipped_tags: frozenset[str] = COSMETIC_TAGS | INVISIBLE_TAGS
) -> StructureDiff:
    """Compare two skeletons level by level; a node is its tag and whether it has children.

    Tags that only change looks, or are never seen, do not count; the papers' trees skip none.
    """
    if old == new:
        return StructureDiff()
    cosmetic = _count_tags(old, COSMETIC_TAGS) != _count_tags(new, COSMETIC_TAGS)
    return compare_pruned_outlines(
        prune_outline(old, skipped_tags), prune_outline(new, skipped_tags), cosmetic=cosmetic
    )


def compare_pruned_outlines(old: TagOutline, new: TagOutline, *, cosmetic: bool) -> StructureDiff:
    """Compare two pruned skeletons."""
    return _compare_tags(old.tags, old.depths, new.tags, new.depths, cosmetic)


def compare_packed_outlines(old: bytes, new: bytes, *, cosmetic: bool) -> StructureDiff:
    """Compare two pruned skeletons as they are stored; tags that HTML does not know are compared by name."""
    one, other = decode_outline(old), decode_outline(new)
    if one.unknown_tags or other.unknown_tags:
        return compare_pruned_outlines(resolve_tag_names(one), resolve_tag_names(other), cosmetic=cosmetic)
    return _compare_tags(one.tag_codes, one.depths, other.tag_codes, other.depths, cosmetic)


TagSequence = list[str] | bytes
"""Tags by name, or by their codes."""


def _compare_tags(
    old: TagSequence, old_depths: bytes, new: TagSequence, new_depths: bytes, cosmetic: bool
) -> StructureDiff:
    """Look at the tags between the first that differs and the last, no others."""
    if old == new and old_depths == new_depths:
        return StructureDiff(cosmetic=cosmetic)
    start = min(count_common_prefix(old_depths, new_depths), count_common_prefix(old, new))
    end = min(
        count_common_prefix(old_depths[::-1], new_depths[::-1]),
        count_common_prefix(old[::-1], new[::-1]),
        len(old) - start,
        len(new) - start,
    )
    start = max(0, start - 1)  # the last tag that is the same may have other children
    before, after = _count_nodes(old, old_depths, start, end), _count_nodes(new, new_depths, start, end)
    added, removed = after - before, before - after
    came, went = _group_tags_by_level(added), _group_tags_by_level(removed)
    levels = tuple(
        TreeLevelDiff(level, old_depths.count(level), new_depths.count(level), came.get(level, ()), went.get(level, ()))
        for level in sorted({*came, *went})
    )
    is_major = any(inner for _, _, inner in (*added, *removed))
    return StructureDiff(
        StructureSeverity.MAJOR if is_major else StructureSeverity.MINOR, levels, cosmetic, reordered=not levels
    )


def prune_outline(outline: TagOutline, skipped_tags: frozenset[str]) -> TagOutline:
    """Leave out some tags, moving up what is inside them."""
    tags, depths = [], []
    levels = [0] * 257  # of each depth: how many ancestors count, the last element there included
    for tag, depth in zip(outline.tags, outline.depths, strict=True):
        level = levels[depth - 1]
        if tag not in skipped_tags:
            level += 1
            tags.append(tag)
            depths.append(level)
        levels[depth] = level
    return TagOutline(tags, bytes(depths))


def _count_tags(outline: TagOutline, tags: frozenset[str]) -> Counter[str]:
    return Counter(tag for tag in outline.tags if tag in tags)


NodeCounts = Counter[tuple[int, str | int, bool]]
"""Nodes by level, tag and whether they have children."""


def _count_nodes(tags: TagSequence, depths: bytes, start: int, end: int) -> NodeCounts:
    stop = len(tags) - end
    stretch = depths[start : stop + 1] + b"\0"
    inner = map(gt, stretch[1:], stretch)
    return Counter(zip(stretch, tags[start:stop], inner, strict=False))


def _group_tags_by_level(node_counts: NodeCounts) -> dict[int, tuple[str, ...]]:
    """The tags of some nodes by their level."""
    found: dict[int, list[str]] = {}
    for level, tag, _ in node_counts.elements():
        found.setdefault(level, []).append(tag if isinstance(tag, str) else KNOWN_TAGS[tag])
    return {level: tuple(sorted(tags)) for level, tags in found.items()}

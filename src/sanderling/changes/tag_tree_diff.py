"""The document tree method (IPC): nodes added and removed on each level."""

from collections import Counter
from enum import StrEnum
from operator import gt

from msgspec import Struct

from sanderling.fingerprint.fast.common_affix import count_common_prefix
from sanderling.fingerprint.tag_outline import KNOWN_TAGS, TagOutline, decode_outline, resolve_tag_names


class StructureSeverity(StrEnum):
    """Severity of a change of the tree (IPC Table 6)."""

    NONE = "none"  # no sibling added or deleted on any level
    MINOR = "minor"  # leaf siblings only
    MAJOR = "major"  # siblings that have children


class TreeLevelDiff(Struct, frozen=True, omit_defaults=True):
    level: int
    old: int  # nodes before
    new: int  # nodes now
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class StructureDiff(Struct, frozen=True):
    """Difference of two trees. Stored: `name` keeps the key of existing collections."""

    severity: StructureSeverity = StructureSeverity.NONE
    levels: tuple[TreeLevelDiff, ...] = ()  # those that differ
    cosmetic: bool = False  # cosmetic tags were added or removed
    reordered: bool = False  # same nodes on every level in another order


def compare_pruned_outlines(old: TagOutline, new: TagOutline, *, cosmetic: bool) -> StructureDiff:
    return _compare_tags(old.tags, old.depths, new.tags, new.depths, cosmetic)


def compare_packed_outlines(old: bytes, new: bytes, *, cosmetic: bool) -> StructureDiff:
    """Compare two stored outlines; unknown tags are compared by name."""
    old_coded, new_coded = decode_outline(old), decode_outline(new)
    if old_coded.unknown_tags or new_coded.unknown_tags:
        return compare_pruned_outlines(resolve_tag_names(old_coded), resolve_tag_names(new_coded), cosmetic=cosmetic)
    return _compare_tags(old_coded.tag_codes, old_coded.depths, new_coded.tag_codes, new_coded.depths, cosmetic)


TagSequence = list[str] | bytes
"""Tags by name or by code."""


def _compare_tags(
    old: TagSequence, old_depths: bytes, new: TagSequence, new_depths: bytes, cosmetic: bool
) -> StructureDiff:
    if old == new and old_depths == new_depths:
        return StructureDiff(cosmetic=cosmetic)
    start = min(count_common_prefix(old_depths, new_depths), count_common_prefix(old, new))
    end = min(
        count_common_prefix(old_depths[::-1], new_depths[::-1]),
        count_common_prefix(old[::-1], new[::-1]),
        len(old) - start,
        len(new) - start,
    )
    start = max(0, start - 1)  # the last equal tag may have other children
    before, after = _count_nodes(old, old_depths, start, end), _count_nodes(new, new_depths, start, end)
    added, removed = after - before, before - after
    added_tags, removed_tags = _group_tags_by_level(added), _group_tags_by_level(removed)
    levels = tuple(
        TreeLevelDiff(
            level,
            old_depths.count(level),
            new_depths.count(level),
            added_tags.get(level, ()),
            removed_tags.get(level, ()),
        )
        for level in sorted({*added_tags, *removed_tags})
    )
    is_major = any(inner for _, _, inner in (*added, *removed))
    return StructureDiff(
        StructureSeverity.MAJOR if is_major else StructureSeverity.MINOR, levels, cosmetic, reordered=not levels
    )


NodeCounts = Counter[tuple[int, str | int, bool]]
"""Nodes by level, tag, and whether they have children."""


def _count_nodes(tags: TagSequence, depths: bytes, start: int, end: int) -> NodeCounts:
    stop = len(tags) - end
    depth_range = depths[start : stop + 1] + b"\0"
    has_children = map(gt, depth_range[1:], depth_range)
    return Counter(zip(depth_range, tags[start:stop], has_children, strict=False))


def _group_tags_by_level(node_counts: NodeCounts) -> dict[int, tuple[str, ...]]:
    tags_by_level: dict[int, list[str]] = {}
    for level, tag, _ in node_counts.elements():
        tags_by_level.setdefault(level, []).append(tag if isinstance(tag, str) else KNOWN_TAGS[tag])
    return {level: tuple(sorted(tags)) for level, tags in tags_by_level.items()}

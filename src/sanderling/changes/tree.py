"""The document tree method (IPC-9, SPEC 7.1): which nodes came and went on which level, and how much that matters."""

from collections import Counter
from enum import StrEnum

from msgspec import Struct

from sanderling.pages.fingerprint import Outline

COSMETIC = frozenset(
    (
        *(
            "abbr",
            "acronym",
            "b",
            "basefont",
            "big",
            "blink",
            "br",
            "center",
            "cite",
            "code",
            "dfn",
            "em",
            "font",
            "hr",
        ),
        *("i", "kbd", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u"),
        *("var", "wbr"),
    )
)
UNSEEN = frozenset(("link", "meta", "noscript", "script", "style", "template", "title", "base"))


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
    before, after = prune(old, skipped), prune(new, skipped)
    if before == after:
        return Structure(cosmetic=cosmetic)
    levels, verdict = _levels(table(before), table(after))
    return Structure(verdict, tuple(levels), cosmetic, reordered=not levels)


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


def _levels(old: Nodes, new: Nodes) -> tuple[list[Level], Verdict]:
    found, verdict = [], Verdict.NONE if old == new else Verdict.MINOR
    for level in range(max(len(old.names), len(new.names))):
        if _row(old, level) == _row(new, level):
            continue
        before, after = _kinds(old, level), _kinds(new, level)
        added, removed = after - before, before - after
        if not added and not removed:
            continue
        if any(inner for _, inner in (*added, *removed)):
            verdict = Verdict.MAJOR
        found.append(Level(level + 1, before.total(), after.total(), _names(added), _names(removed)))
    return found, verdict


def _row(nodes: Nodes, level: int) -> tuple[object, ...]:
    return (nodes.names[level], nodes.children[level]) if level < len(nodes.names) else ()


def _kinds(nodes: Nodes, level: int) -> Counter[tuple[str, bool]]:
    if level >= len(nodes.names):
        return Counter()
    return Counter((name, count > 0) for name, count in zip(nodes.names[level], nodes.children[level], strict=True))


def _names(kinds: Counter[tuple[str, bool]]) -> tuple[str, ...]:
    return tuple(sorted(name for name, _ in kinds.elements()))

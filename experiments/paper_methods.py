"""Methods that the papers describe and the crawler does not use."""

import hashlib
import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from operator import mul
from typing import TypeVar

from msgspec import Struct
from xxhash import xxh3_64_intdigest

from sanderling.changes.tag_tree_diff import StructureDiff, compare_pruned_outlines
from sanderling.fingerprint.tag_outline import COSMETIC_TAGS, INVISIBLE_TAGS, TagOutline
from sanderling.frontier.ordering.pvalue import LIST_SHARES
from sanderling.workers.assignment.ahp import RANDOM_INDEX, Matrix, Vector

T = TypeVar("T")
DIGEST_ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha512")


def combine_paragraph_rms(paragraphs: Sequence[tuple[int, float]], distinct: int) -> float:
    """Combine (distinct symbols, RMS) of the paragraphs of a page to its RMS."""
    return math.sqrt(sum(count * value * value for count, value in paragraphs) / distinct)


def compute_digests(text: str) -> dict[str, str]:
    """Return the digests that the papers compare with."""
    return {name: hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest() for name in DIGEST_ALGORITHMS}


class TreeLevels(Struct, frozen=True):
    """Tags and numbers of children by level: IPC Table 5."""

    names: tuple[tuple[str, ...], ...]
    children: tuple[tuple[int, ...], ...]

    @property
    def sibling_counts(self) -> list[int]:
        """Number of nodes by level: IPC Table 4."""
        return [len(level) for level in self.names]


def build_tree_levels(outline: TagOutline) -> TreeLevels:
    height = max(outline.depths, default=0)
    names: list[list[str]] = [[] for _ in range(height)]
    children: list[list[int]] = [[] for _ in range(height)]
    for tag, depth in zip(outline.tags, outline.depths, strict=True):
        names[depth - 1].append(tag)
        children[depth - 1].append(0)
        if depth > 1 and children[depth - 2]:
            children[depth - 2][-1] += 1
    return TreeLevels(tuple(map(tuple, names)), tuple(map(tuple, children)))


class TagFingerprint(Struct, frozen=True, array_like=True):
    """First letters, last letters, and, because `title` and `table` share both, a hash."""

    first_letters: str
    last_letters: str
    tags_hash: int


def fingerprint_tags(tags: list[str]) -> TagFingerprint:
    """Reduce a sequence of tags to its letters."""
    return TagFingerprint(
        "".join(tag[0] for tag in tags),
        "".join(tag[-1] for tag in tags),
        xxh3_64_intdigest(" ".join(tags).encode("utf-8", "replace")),
    )


def interleave_lists(lists: Sequence[Iterable[T]], shares: Sequence[int] = LIST_SHARES) -> Iterator[T]:
    """Yield 4, 2 and 1 items from the three lists in turn until all are empty."""
    queues = [deque(items) for items in lists]
    while any(queues):
        for queue, share in zip(queues, shares, strict=True):
            for _ in range(min(share, len(queue))):
                yield queue.popleft()


def compute_row_averages(matrix: Matrix) -> Vector:
    """Compute weights as row means of the column-normalized matrix, as the thesis describes."""
    totals = compute_column_sums(matrix)
    return tuple(sum(cell / total for cell, total in zip(row, totals, strict=True)) / len(matrix) for row in matrix)


def compute_thesis_ratio(matrix: Matrix, weights: Vector) -> float:
    """Compute the ratio from column sums, which rejects some valid matrices."""
    order = len(matrix)
    largest: float = sum(map(mul, compute_column_sums(matrix), weights))
    return (largest - order) / (order - 1) / RANDOM_INDEX[order]


def compare_outlines(
    old: TagOutline, new: TagOutline, skipped_tags: frozenset[str] = COSMETIC_TAGS | INVISIBLE_TAGS
) -> StructureDiff:
    """Compare two outlines by level; a node is its tag and whether it has children.

    Cosmetic and invisible tags are skipped; the trees of the papers skip none.
    """
    if old == new:
        return StructureDiff()
    cosmetic = _count_tags(old, COSMETIC_TAGS) != _count_tags(new, COSMETIC_TAGS)
    return compare_pruned_outlines(
        prune_outline(old, skipped_tags), prune_outline(new, skipped_tags), cosmetic=cosmetic
    )


def prune_outline(outline: TagOutline, skipped_tags: frozenset[str]) -> TagOutline:
    """Drop tags and move up their children."""
    tags, depths = [], []
    levels = [0] * 257  # by depth: number of kept ancestors, including the last element there
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


def compute_column_sums(matrix: Matrix) -> Vector:
    return tuple(sum(column) for column in zip(*matrix, strict=True))

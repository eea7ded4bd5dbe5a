"""Similarity of two tag trees: Simple Tree Matching.

The recurrence printed in the thesis counts too many nodes; this is the corrected version. Equal subtrees are recognized
by digest, and equal siblings at both ends are matched directly; both are exact.
"""

from collections.abc import Sequence

from sanderling.html.tag_tree import TagNode

SIMILAR_THRESHOLD = 0.4  # lower bound of trees of one template


def compute_similarity(a: TagNode, b: TagNode) -> float:
    """Return matching nodes divided by the mean size, in [0, 1]."""
    return count_matching_nodes(a, b) / ((a.size + b.size) / 2)


def count_matching_nodes(a: TagNode, b: TagNode) -> int:
    return _count_matching_nodes(a, b, {})


def _count_matching_nodes(a: TagNode, b: TagNode, cache: dict[tuple[int, int], int]) -> int:
    if a.tag != b.tag:
        return 0
    if a.digest == b.digest:
        return a.size
    if not a.children or not b.children:
        return 1
    pair = (a.digest, b.digest)
    count = cache.get(pair)
    if count is None:
        count = cache[pair] = 1 + _align(a.children, b.children, cache)
    return count


def _align(first: Sequence[TagNode], second: Sequence[TagNode], cache: dict[tuple[int, int], int]) -> int:
    """Return the best weight of an order-preserving alignment."""
    start, total = 0, 0
    while start < min(len(first), len(second)) and first[start].digest == second[start].digest:
        total += first[start].size
        start += 1
    end = 0
    while end < min(len(first), len(second)) - start and first[-1 - end].digest == second[-1 - end].digest:
        total += first[-1 - end].size
        end += 1
    rows, columns = first[start : len(first) - end], second[start : len(second) - end]
    row = [0] * (len(columns) + 1)
    for a in rows:
        diagonal = 0
        for j, b in enumerate(columns):
            above = row[j + 1]
            weight = diagonal + _count_matching_nodes(a, b, cache) if a.tag == b.tag else 0
            diagonal = above
            row[j + 1] = max(above, row[j], weight)
    return total + row[-1]
